import type { Command } from 'commander';
import { z } from 'zod';
import { settingsOfDotEnv } from '../config/environment.ts';
import { credentialNames, withoutCredentials } from '../config/github.ts';
import { isOrigin, readConfig, withoutPath } from '../config.ts';
import { readAppDefinition } from '../github/app-definition.ts';
import { createCredentialsFile } from '../github/setup/credentials-file.ts';
import type { RegisteredApp } from '../github/setup/flow.ts';
import { registerApp } from '../github/setup/setup.ts';
import type { CliContext } from './context.ts';
import { usageFailure } from './failure.ts';
import { fields, outputOf } from './output.ts';

const timeoutMs = 30 * 60_000;

interface SetupFlags {
  readonly url?: string;
  readonly name?: string;
  readonly organisation?: string;
  readonly port: string;
  readonly force?: boolean;
}

const help = `
Opens nothing by itself: it prints a link to 127.0.0.1 for your browser, and ends when the App is registered, after
30 minutes or with Ctrl-C. From another machine, forward the port first: ssh -L PORT:127.0.0.1:PORT this-host.
Writes APP_ID, WEBHOOK_SECRET, PRIVATE_KEY_PATH and PUBLIC_URL into .env here, and the private key beside it, readable
for you alone. GHE_HOST and GHE_PROTOCOL choose a GitHub Enterprise Server.`;

/** `slipway setup`: registers the GitHub App by its manifest and writes its credentials. */
export function addSetupCommand(program: Command, context: CliContext): void {
  program
    .command('setup')
    .description('register the GitHub App and write its credentials into .env; needs no server')
    .option('--url <url>', 'where GitHub reaches the server; PUBLIC_URL by default')
    .option('--name <name>', 'of the App, unique on GitHub; can still be changed there')
    .option('--org, --organisation <login>', 'that the App will belong to; you by default')
    .option('--port <port>', 'of the page on 127.0.0.1; 0 is any free one', '0')
    .option('--force', 'replace the credentials of another App in .env')
    .addHelpText('after', help)
    .action(async (flags: SetupFlags, command: Command) => {
      const output = outputOf(context, command);
      const environment = context.environment();
      refuseShadowed(environment, context.directory);
      const config = readConfig(withoutCredentials(environment));
      const publicUrl = publicUrlOf(flags.url ?? config.publicUrl);
      const definition = readAppDefinition();
      const registered = await registerApp({
        definition,
        name: nameOf(flags.name ?? definition.name),
        organisation: organisationOf(flags.organisation),
        publicUrl,
        github: config.githubAddress,
        port: portOf(flags.port),
        timeoutMs,
        signal: context.interrupted(),
        credentials: createCredentialsFile({
          directory: context.directory,
          settings: { PUBLIC_URL: publicUrl, ...enterpriseOf(environment) },
          credentialNames,
          isForced: flags.force === true,
        }),
        onListening: (link, port) => {
          output.note(`Open this in your browser; who has the link can register the App:\n\n  ${link}\n`);
          output.note(
            `From another machine: ssh -L ${port}:127.0.0.1:${port} and this host. Ctrl-C ends it.`,
          );
        },
      });
      output.result(registered, () => described(registered));
      output.next(`install the App on your repositories: ${registered.installUrl}`);
      output.next('npm start, then slipway doctor --github');
    });
}

function described({ appId, name, url, envPath, privateKeyPath }: RegisteredApp): string {
  return fields([
    ['app', `${name} (${appId})`],
    ['page', url],
    ['written', envPath],
    ['key', privateKeyPath],
  ]);
}

/** Of the real environment, which wins: what is about to be written would not count. */
function refuseShadowed(environment: ReturnType<CliContext['environment']>, directory: string): void {
  const written = settingsOfDotEnv(directory);
  const shadowed = credentialNames.find((name) => environment[name] && environment[name] !== written[name]);
  if (shadowed === undefined) return;
  throw usageFailure(
    `${shadowed} is set in the environment, which wins over .env`,
    'Unset it, or go on without this command: it writes .env.',
  );
}

const httpUrl = z.url({ protocol: /^https?$/ });

function publicUrlOf(given: string | null): string {
  const problem = 'must be an address such as https://slipway.example.com';
  if (given === null) throw usageFailure(`--url: ${problem}`, 'GitHub sends its webhooks there.');
  if (!httpUrl.safeParse(given).success) throw usageFailure(`--url: ${problem}`);
  if (!isOrigin(given)) throw usageFailure(`--url: ${withoutPath}`);
  return new URL(given).origin;
}

function nameOf(name: string): string {
  if (/^[^\p{Cc}]{1,34}$/u.test(name) && name.trim() !== '') return name;
  throw usageFailure('--name: must have 1 to 34 characters', 'So says GitHub.');
}

function organisationOf(login: string | undefined): string | null {
  if (login === undefined) return null;
  if (/^[A-Za-z\d][A-Za-z\d_-]{0,99}$/.test(login)) return login;
  throw usageFailure('--organisation: must be the login of an organisation');
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw usageFailure('--port: must be a number from 0 to 65535');
}

/** Named, so that the server asks the same GitHub as this command did. */
function enterpriseOf(environment: ReturnType<CliContext['environment']>): Record<string, string> {
  const { GHE_HOST: host, GHE_PROTOCOL: protocol } = environment;
  if (!host) return {};
  return { GHE_HOST: host, ...(protocol ? { GHE_PROTOCOL: protocol } : {}) };
}
