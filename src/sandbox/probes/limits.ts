/** Limits are not only set: who goes beyond them gets no further. */
import { homeBytes, sharedMemoryBytes, temporaryBytes } from '../limits.ts';
import type { Sandbox } from '../sandbox.ts';
import { ask, troubleOf } from './ask.ts';
import { failed, passed, type SelfTestItem } from './item.ts';

const processes = 40;
const attempts = 60;

/** A shell that says how many it has started; some give up at once, some wait and try again, and say so. */
const forks = `i=0; while [ $i -lt ${attempts} ]; do sleep 20 & i=$((i + 1)); echo "$i"; done`;

export async function probeProcessLimit(sandbox: Sandbox): Promise<SelfTestItem> {
  const name = 'number of processes';
  const refused = new AbortController();
  let said = '';
  const answer = await ask(sandbox, {
    argv: ['sh', '-c', forks],
    // Who tries again is not waited for: what has been started is known by then.
    limits: { processes, wallMs: 5000, graceMs: 0 },
    signal: refused.signal,
    onText(stream, text) {
      if (stream === 'stderr') refused.abort();
      else said += text;
    },
  });
  if (answer.result.kind === 'unavailable') return failed(name, answer.result.message, null);
  const started = Number(said.trim().split('\n').at(-1));
  if (started > 0 && started < processes) {
    return passed(name, `a limit of ${processes} let ${started} be started`);
  }
  return failed(
    name,
    `With a limit of ${processes} processes a command started ${started || 'none'}.`,
    'Start the server as an unprivileged user: the kernel counts no processes of root.',
  );
}

const mebibyte = 1024 * 1024;
/** Sizes of what is memory of this machine, and whether the smallest of it takes more than it has. */
const sizes = [
  'for place in /tmp /dev/shm /home/runner; do echo "$place $(stat -f -c "%T %b %S" "$place")"; done',
  `head -c ${sharedMemoryBytes + mebibyte} /dev/zero 2>/dev/null > /dev/shm/large; echo "held $(stat -c %s /dev/shm/large)"; rm -f /dev/shm/large`,
].join('\n');
const bounds: Readonly<Record<string, number>> = {
  '/tmp': temporaryBytes,
  '/dev/shm': sharedMemoryBytes,
  '/home/runner': homeBytes,
};

export async function probeTemporaryFiles(sandbox: Sandbox): Promise<SelfTestItem> {
  const name = 'temporary files';
  const answer = await ask(sandbox, { argv: ['bash', '-c', sizes] });
  const trouble = troubleOf(answer);
  if (trouble !== null) return failed(name, trouble, null);
  const sizeOf = (place: string) => {
    const found = new RegExp(`^${place} tmpfs (\\d+) (\\d+)$`, 'm').exec(answer.output);
    return found === null ? Number.POSITIVE_INFINITY : Number(found[1]) * Number(found[2]);
  };
  const open = Object.entries(bounds).filter(([place, bytes]) => sizeOf(place) > bytes);
  const held = Number(/^held (\d+)$/m.exec(answer.output)?.[1] ?? Number.NaN);
  if (open.length > 0) {
    return failed(name, `${open.map(([place]) => place).join(', ')} can take more than is allowed.`, null);
  }
  return held <= sharedMemoryBytes
    ? passed(name, `/tmp holds at most ${temporaryBytes / mebibyte} MiB of memory`)
    : failed(name, `/dev/shm took ${held} bytes instead of ${sharedMemoryBytes}.`, null);
}

/** Whether the memory of commands is bounded: the first look is the end of one that may hold nothing. */
export async function seesMemory(sandbox: Sandbox): Promise<boolean> {
  const { result } = await ask(sandbox, { argv: ['sleep', '5'], limits: { memoryBytes: 0 } });
  return result.kind === 'memory_limit';
}

/** Of a tier in which the kernel limits all processes of a command together. */
export async function probeMemoryLimit(sandbox: Sandbox): Promise<SelfTestItem> {
  const name = 'memory';
  const memoryBytes = 64 * mebibyte;
  // Files in memory: no process holds them, so nothing but the limit of all that the command holds can end it.
  const fill = 'for i in 1 2 3; do head -c 50M /dev/zero >/tmp/$i; done';
  const answer = await ask(sandbox, { argv: ['bash', '-c', fill], limits: { memoryBytes } });
  const { result } = answer;
  if (result.kind === 'unavailable') return failed(name, result.message, null);
  // The server looks, too, and then has seen more than there may be: the kernel has to be earlier.
  const peak = result.usage.peakMemoryBytes ?? Number.POSITIVE_INFINITY;
  if (result.kind === 'memory_limit' && peak < memoryBytes + mebibyte) {
    return passed(name, 'all that a command holds is bounded together, by the kernel');
  }
  return failed(
    name,
    `A command that wanted more than twice the memory it may ended by ${result.kind}.`,
    null,
  );
}
