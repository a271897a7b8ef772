import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { systemClock, toUnixSeconds } from '../clock.ts';
import { createIds } from '../ids.ts';
import type { Expectation, Fixture } from '../webhooks/receiving/fixture.ts';
import { exampleSecret, makeFixtures } from '../webhooks/receiving/fixtures.ts';
import { type FixtureAnswer, sendFixtures } from '../webhooks/receiving/send-fixtures.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure, usageFailure } from './failure.ts';
import { outputOf, table } from './output.ts';
import { secretInput } from './secret-input.ts';

interface FixtureFlags {
  readonly secret?: string;
  readonly to?: string;
  readonly send?: string;
}

/** `slipway webhook fixtures`: what receivers are tested with. Needs no server. */
export function addFixturesCommand(webhook: Command, context: CliContext): void {
  webhook
    .command('fixtures')
    .description('genuine and forged deliveries to test a receiver with; needs no server')
    .option('--secret <secret>', `of the receiver; - reads standard input; "${exampleSecret}" unless given`)
    .option('--to <directory>', 'write them as files')
    .option('--send <url>', 'send them, and compare the answers with what is expected')
    .action(async (flags: FixtureFlags, command: Command) => {
      if (flags.to !== undefined && flags.send !== undefined)
        throw usageFailure('--to and --send exclude each other');
      const url = flags.send === undefined ? null : urlOf(flags.send);
      const output = outputOf(context, command);
      const secret =
        flags.secret === undefined
          ? exampleSecret
          : await secretInput(context, output, flags.secret, 'the secret');
      if (secret === '')
        throw usageFailure('--secret: must not be empty, or every receiver believes everybody');
      const nowMs = systemClock.nowMs();
      const fixtures = makeFixtures({ secret, nowMs, newId: createIds(systemClock) });

      if (url !== null) {
        const answers = await sendFixtures(fixtures, url, context.fetch);
        const ok = answers.every(({ isRight }) => isRight);
        output.result({ ok, answers: answers.map(answerJson) }, () => answersTable(answers));
        output.next(
          "see in your receiver's log whether it did what `slipway webhook fixtures` lists under THEN",
        );
        if (!ok) throw new CliFailure(exitCodes.failed, '');
        return;
      }
      const index = {
        // Only the one that everybody knows.
        ...(secret === exampleSecret && { secret }),
        signedAt: toUnixSeconds(nowMs),
        fixtures: fixtures.map(describedJson),
      };
      if (flags.to === undefined) {
        const inline = fixtures.map((fixture, position) => ({
          ...describedJson(fixture, position),
          ...contentJson(fixture),
        }));
        output.result({ ...index, fixtures: inline }, () => fixturesTable(fixtures));
        return;
      }
      const files = await written(flags.to, fixtures, index);
      output.result({ directory: flags.to, files }, () => `Wrote ${files.length} files to ${flags.to}.`);
      output.next('within five minutes for receivers that check the time; or send them with --send');
    });
}

/** Nothing of it is told: paths and queries of receivers may be secret. */
function urlOf(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url.href;
  throw usageFailure('--send: must be an http or https URL without user name and password');
}

const nameOf = ({ name }: Fixture, position: number): string =>
  `${String(position + 1).padStart(2, '0')}-${name}`;

function describedJson(fixture: Fixture, position: number) {
  const name = nameOf(fixture, position);
  const { about, expected } = fixture;
  return { name: fixture.name, about, body: `${name}.body`, headers: `${name}.headers.json`, expected };
}

const contentJson = ({ headers, body }: Fixture) => ({ headers, bodyBase64: body.toString('base64') });

async function written(
  directory: string,
  fixtures: readonly Fixture[],
  index: object,
): Promise<readonly string[]> {
  const asJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
  const files: readonly (readonly [string, string | Buffer])[] = [
    ['index.json', asJson(index)],
    ...fixtures.flatMap((fixture, position) => {
      const name = nameOf(fixture, position);
      return [
        [`${name}.headers.json`, asJson(fixture.headers)],
        [`${name}.body`, fixture.body],
      ] as const;
    }),
  ];
  try {
    await mkdir(directory, { recursive: true });
    for (const [name, content] of files) await writeFile(join(directory, name), content);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliFailure(exitCodes.failed, `${directory}: it cannot be written (${code})`);
  }
  return files.map(([name]) => name);
}

function expectedText({ answer, acceptedWithoutTime }: Expectation): string {
  if (answer === 'accept') return '2xx';
  return acceptedWithoutTime ? '401, or 2xx if no time is checked' : '401';
}

function fixturesTable(fixtures: readonly Fixture[]): string {
  const rows = fixtures.map(({ name, about, expected }) => [
    name,
    expectedText(expected),
    expected.effect,
    about,
  ]);
  return table(['FIXTURE', 'ANSWER', 'THEN', 'WHAT IT IS'], rows);
}

function answerJson({ fixture, status, error, isRight }: FixtureAnswer) {
  return {
    name: fixture.name,
    expected: fixture.expected,
    status,
    ...(error !== null && { error }),
    isRight,
  };
}

function answersTable(answers: readonly FixtureAnswer[]): string {
  const rows = answers.map(({ fixture, status, error, isRight }) => [
    fixture.name,
    expectedText(fixture.expected),
    String(status ?? error),
    isRight ? 'right' : 'WRONG',
  ]);
  return table(['FIXTURE', 'EXPECTED', 'ANSWERED', ''], rows);
}
