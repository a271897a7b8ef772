import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { tempDirectory } from '../../support/temp-database.ts';
import { closeServer, listen } from '../receiver.ts';

export const receiversFolder = join(import.meta.dirname, '../../../docs/receivers');

/** One of the programs of docs/receivers, at work. */
export interface ReceiverProgram extends AsyncDisposable {
  readonly url: string;
  /** What it printed since it listens, line by line. */
  readonly said: readonly string[];
}

/** Starts a receiver with this secret. Rejects with what it said when it will not work. */
export type StartProgram = (secret: string) => Promise<ReceiverProgram>;

const environment = (more: Readonly<Record<string, string>>) => ({
  // The rest of ours is none of its business; HOME is where Go and pyenv keep what they need.
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  ...more,
});

/** A program that listens by itself. */
export async function startListening(argv: readonly string[], secret: string): Promise<ReceiverProgram> {
  const [command = '', ...args] = argv;
  const env = environment({ WEBHOOK_SECRET: secret, PORT: '0' });
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const errors = text(child.stderr);
  const closed = Promise.race([once(child, 'close'), once(child, 'error')]);
  const said: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, address] = /^listening on (http:\S+)$/.exec(line) ?? [];
      if (address === undefined) said.push(line);
      else resolve(address);
    });
    void closed.then(async ([problem]) => reject(new Error(`${command} ended: ${problem} ${await errors}`)));
  });
  return { url, said, [Symbol.asyncDispose]: () => stop(child, closed) };
}

async function stop(child: ChildProcess, closed: Promise<unknown>): Promise<void> {
  child.kill();
  await closed;
}

/** A CGI program, and as much of a web server as RFC 3875 asks of one. */
export async function startCgi(
  path: string,
  given: Readonly<Record<string, string>>,
): Promise<ReceiverProgram> {
  const said: string[] = [];
  const state = tempDirectory();
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const env = environment({ STATE_DIR: state.path, ...given, ...metaVariables(request) });
    const child = spawn('bash', [path], { env, stdio: ['pipe', 'pipe', 'pipe'] });
    // What refuses a body need not read it.
    child.stdin.on('error', () => undefined).end(body);
    collectLines(child.stderr, said);
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
    const [, status = '500'] = /^Status: (\d{3}) /.exec(output) ?? [];
    response.writeHead(Number(status)).end();
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    said,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await closeServer(server, []);
      state[Symbol.dispose]();
    },
  };
}

function collectLines(stream: Readable, into: string[]): void {
  createInterface({ input: stream }).on('line', (line) => into.push(line));
}

function metaVariables({ method = '', headers }: IncomingMessage): Record<string, string> {
  const protocol = Object.entries(headers).map(([name, value]) => [
    `HTTP_${name.toUpperCase().replaceAll('-', '_')}`,
    String(value),
  ]);
  const length = headers['content-length'];
  return {
    ...Object.fromEntries(protocol),
    REQUEST_METHOD: method,
    ...(length !== undefined && { CONTENT_LENGTH: length }),
  };
}
