import type { CliApp, CliContext } from '../../src/cli/context.ts';
import { runCli } from '../../src/cli/program.ts';
import type { Config } from '../../src/config.ts';
import { testSandboxHere } from '../../src/installed-sandbox.ts';
import { checkPolicy, testPolicyFolder } from '../../src/local-policies.ts';
import { findProject } from '../../src/project-import.ts';
import type { DoctorReport } from '../../src/web/health.ts';
import { checkRepositoryFile, simulateEvent } from '../../src/without-server.ts';
import type { Installation } from '../web/installation.ts';

export const wellReport: DoctorReport = {
  ok: true,
  items: [
    { name: 'node', status: 'ok', detail: '24.21.0' },
    { name: 'github', status: 'warning', detail: 'no settings', hint: 'See .env.example.' },
  ],
};

const unwellGithub = { name: 'github app', status: 'problem', detail: 'unknown' } as const;

/** Runs command lines against an installation, as on its own machine or from afar. */
export function aCommandLine(installation: Installation, report: DoctorReport = wellReport) {
  const { web } = installation;
  const opened: Config[] = [];
  let open = 0;
  const app: CliApp = {
    fetchAs: web.fetchAs,
    doctor: async ({ withGithub }) =>
      withGithub ? { ok: false, items: [...report.items, unwellGithub] } : report,
    [Symbol.asyncDispose]: async () => {
      open -= 1;
    },
  };

  function context(change: RunChange = {}, heard: Heard = { out: '', err: '' }): CliContext {
    return {
      out: (text) => {
        heard.out += text;
      },
      err: (text) => {
        heard.err += text;
        change.onErr?.(text);
      },
      readInput: async () => Buffer.from(change.input ?? ''),
      inputIsTerminal: change.input === undefined,
      outputIsTerminal: change.outputIsTerminal ?? false,
      environment: () => change.environment ?? {},
      directory: change.directory ?? '/nowhere',
      interrupted: () => change.signal ?? new AbortController().signal,
      openApp: async (config) => {
        opened.push(config);
        open += 1;
        return app;
      },
      serve: async () => 0,
      fetch: (input, init) => fetch(input, init),
      checkFile: async (content) => checkRepositoryFile(content),
      findProject,
      simulate: (config, event) => simulateEvent(config, event),
      checkPolicy,
      testSandbox: change.testSandbox ?? testSandboxHere,
      testPolicies: testPolicyFolder,
    };
  }

  async function run(line: string | readonly string[], change: RunChange = {}) {
    const heard: Heard = { out: '', err: '' };
    const argv = typeof line === 'string' ? line.split(' ') : line;
    const exitCode = await runCli(argv, context(change, heard));
    if (open !== 0) throw new Error('the app was left open');
    return { exitCode, ...heard, json: () => JSON.parse(heard.out) };
  }

  return { run, context, opened };
}

interface Heard {
  out: string;
  err: string;
}

interface RunChange {
  readonly input?: string | Uint8Array;
  readonly outputIsTerminal?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  readonly signal?: AbortSignal;
  /** Left out: the real one. */
  readonly testSandbox?: CliContext['testSandbox'];
  /** What is said beside the result, as it is said. */
  readonly onErr?: (text: string) => void;
}
