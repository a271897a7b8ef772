/** What a log of 100 MB costs a server in memory while several readers follow it, one of them far too slowly. */
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Installation, startInstallation } from '../demo/installation.ts';
import { type Benchmark, inSeconds } from './figure.ts';

const logMegabytes = 100;
const readers = 5;
const line =
  '\u001b[32m+\u001b[0m aws:s3/bucket:Bucket  one-of-many-resources  create  with a hundred characters in all\n';
const megabyte = 1024 * 1024;
const withinMs = 180_000;

const runSchema = z.looseObject({ id: z.string(), state: z.string() });
const logEvent = z.object({ text: z.string() });

export const logTail: Benchmark = {
  name: 'log-tail',
  about: `growth of the server while ${readers} readers follow a log of ${logMegabytes} MB`,
  async measure(say) {
    await using installation = await startInstallation({ settings: { LOG_LEVEL: 'warn' } });
    const { server, token } = installation;
    const runId = await waitingRun(installation);
    const path = join(installation.dataDir, 'logs', runId);
    await mkdir(path, { recursive: true, mode: 0o700 });
    await using file = await open(join(path, 'planning.log'), 'a', 0o600);
    const stream = `${server.url}/api/v1/runs/${runId}/logs/stream`;
    const piece = Buffer.from(line.repeat(Math.ceil(megabyte / line.length)));
    const total = piece.byteLength * logMegabytes;

    // Code that was never run is no part of what a log costs.
    await file.write(piece);
    await follow(stream, token, piece.byteLength);
    await delay(1000);
    const before = await residentBytes(server.pid);

    const ended = new AbortController();
    const peak = highest(server.pid, ended.signal);
    const startedAt = performance.now();
    const slow = await openSlowly(stream, token, ended.signal);
    const following = Array.from({ length: readers - 1 }, () => follow(stream, token, total));
    for (let written = 1; written < logMegabytes; written += 1) await file.write(piece);
    const received = await Promise.all(following);
    const tookMs = performance.now() - startedAt;
    const held = await slow.readOnce();
    ended.abort();
    const growth = ((await peak) - before) / megabyte;
    say(
      `${received.length} readers had all ${logMegabytes} MB after ${inSeconds(tookMs)}, one had ${held} bytes`,
    );
    return [
      {
        what: 'log-tail: growth of the server',
        value: growth,
        unit: 'MB',
        detail: `highest resident size while ${readers} readers followed ${logMegabytes} MB, one of them hardly reading; ${(before / megabyte).toFixed(0)} MB before`,
      },
      {
        what: `log-tail: ${logMegabytes} MB to ${readers - 1} readers`,
        value: tookMs / 1000,
        unit: 's',
        detail: 'server-sent events, from the beginning of the log',
      },
    ];
  },
};

/** A run that does not begin, as its stack is locked by somebody else: its log is ours to write. */
async function waitingRun({ api, server, addRepository, createToken }: Installation): Promise<string> {
  const repository = await addRepository('log-tail', { 'README.md': 'hello\n' });
  const stack = await api.createStack({
    name: 'log-tail',
    repository: repository.fullName,
    vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
  });
  const path = `/api/v1/stacks/${stack.account}/${stack.id}`;
  await api.expectSuccess('PUT', `${path}/lock`, {});
  const other = await createToken('other', 'writer');
  const answer = await fetch(`${server.url}${path}/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${other}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'TRACKED' }),
  });
  const run = runSchema.parse(await answer.json());
  if (run.state !== 'QUEUED') throw new Error(`the run is ${run.state}`);
  return run.id;
}

const request = (url: string, token: string, signal: AbortSignal) =>
  fetch(url, { headers: { authorization: `Bearer ${token}` }, signal });

/** Reads until it has had so many bytes of output. */
async function follow(url: string, token: string, bytes: number): Promise<number> {
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(withinMs)]);
  const { body } = await request(url, token, signal);
  if (!body) throw new Error('the stream has no body');
  let rest = '';
  let received = 0;
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + chunk).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) received += Buffer.byteLength(logEvent.parse(JSON.parse(data)).text);
    }
    if (received < bytes) continue;
    ending.abort();
    return received;
  }
  throw new Error(`the stream ended after ${received} bytes`);
}

/** A connection that nobody reads until the others are done. */
async function openSlowly(url: string, token: string, signal: AbortSignal) {
  const { body } = await request(url, token, signal);
  const reader = body?.getReader();
  return {
    async readOnce(): Promise<number> {
      return (await reader?.read())?.value?.byteLength ?? 0;
    },
  };
}

async function highest(pid: number, signal: AbortSignal): Promise<number> {
  let most = 0;
  while (!signal.aborted) {
    most = Math.max(most, await residentBytes(pid));
    await delay(50);
  }
  return most;
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
