import { buffer } from 'node:stream/consumers';
import { environmentOfProcess } from '../config/environment.ts';
import { runCli } from './program.ts';
import { createTerminalText } from './terminal-text.ts';

/** The command line of this process. bin/slipway.js has looked at the version of Node by now. */
export async function main(): Promise<void> {
  // A reader that went away (`slipway ... | head`) is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  process.exitCode = await runCli(process.argv.slice(2), {
    out: writerOf(process.stdout),
    err: writerOf(process.stderr),
    readInput: () => buffer(process.stdin),
    inputIsTerminal: process.stdin.isTTY === true,
    outputIsTerminal: process.stdout.isTTY === true,
    environment: environmentOfProcess,
    directory: process.cwd(),
    interrupted,
    // Loaded when needed: `--help` and remote commands need neither database nor sandbox.
    openApp: async (config, logger) => (await import('../app.ts')).openApp(config, logger),
    serve: async () => process.exit(await (await import('../main.ts')).serve()),
    fetch,
    checkFile: async (content) => (await import('../without-server.ts')).checkRepositoryFile(content),
    findProject: async (config, question) =>
      (await import('../project-import.ts')).findProject(config, question),
    simulate: async (config, event) => (await import('../without-server.ts')).simulateEvent(config, event),
    checkPolicy: async (config, kind, source) =>
      (await import('../local-policies.ts')).checkPolicy(config, kind, source),
    testSandbox: async (config) => (await import('../installed-sandbox.ts')).testSandboxHere(config),
    testPolicies: async (config, request) =>
      (await import('../local-policies.ts')).testPolicyFolder(config, request),
  });
}

/** Files and pipes get what there is. */
function writerOf(stream: NodeJS.WriteStream): (text: string) => void {
  const shown = stream.isTTY === true ? createTerminalText() : (text: string) => text;
  return (text) => void stream.write(shown(text));
}

/** The second signal ends the process at once. */
function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  return controller.signal;
}
