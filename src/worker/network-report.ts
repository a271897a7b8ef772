/** What the log of a run says of its network. Every line begins with `[network: `; they are outside of the output cap. */
import type { ConnectionDecision, ConnectionEnd } from '../sandbox/sandbox.ts';

export interface NetworkReport {
  readonly onConnection: (connection: ConnectionDecision) => void;
  readonly onConnectionEnd: (end: ConnectionEnd) => void;
  /** A command begins: what goes wrong from now on is said as it happens. */
  tellTo(line: (text: string) => void): void;
  /** Resolves when no connection is open, or after so many milliseconds: a destination may keep its side open. */
  settled(withinMs: number): Promise<void>;
  /** Says what was reached, by connections that ended since it was said last. */
  summarize(): void;
}

/** Of one command; so many targets, each told once. */
const maxRefusals = 50;
const maxReached = 50;

interface Reached {
  connections: number;
  sentBytes: number;
  receivedBytes: number;
}

export function createNetworkReport(): NetworkReport {
  let line: (text: string) => void = () => undefined;
  const told = new Set<string>();
  let reached = new Map<string, Reached>();
  let open = 0;
  let whenNoneIsOpen: (() => void)[] = [];

  function tellTrouble(target: string, text: string): void {
    if (told.size >= maxRefusals || told.has(target)) return;
    told.add(target);
    line(`[network: ${target} ${text}]`);
    if (told.size === maxRefusals) line('[network: further refusals are not shown]');
  }

  return {
    onConnection({ host, port, decision, isAllowed }) {
      if (isAllowed) open += 1;
      else tellTrouble(`${host}:${port}`, `was refused: ${decision}`);
    },
    onConnectionEnd({ host, port, sentBytes, receivedBytes, failure }) {
      const target = `${host}:${port}`;
      if (failure === null) {
        // Beyond what is shown one sum is kept, so that no command makes us remember without end.
        const key = reached.has(target) || reached.size < maxReached ? target : others;
        const sum = reached.get(key) ?? { connections: 0, sentBytes: 0, receivedBytes: 0 };
        sum.connections += 1;
        sum.sentBytes += sentBytes;
        sum.receivedBytes += receivedBytes;
        reached.set(key, sum);
      } else {
        tellTrouble(target, `was not reached: ${failure}`);
      }
      open -= 1;
      if (open > 0) return;
      for (const resolve of whenNoneIsOpen) resolve();
      whenNoneIsOpen = [];
    },
    tellTo(to) {
      line = to;
      told.clear();
    },
    async settled(withinMs) {
      if (open === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, withinMs);
      whenNoneIsOpen.push(resolve);
      await promise;
      clearTimeout(timer);
    },
    summarize() {
      for (const [target, { connections, sentBytes, receivedBytes }] of reached) {
        const count = `${connections} connection${connections === 1 ? '' : 's'}`;
        line(`[network: ${target}, ${count}, ${bytes(sentBytes)} out, ${bytes(receivedBytes)} in]`);
      }
      reached = new Map();
    },
  };
}

const others = 'other hosts';

/** As people say it, in steps of a thousand: `512 B`, `4.1 kB`, `1.2 MB`. */
function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = count;
  let unit = 'B';
  while (units[0] !== undefined && Number(value.toFixed(1)) >= 1000) {
    value /= 1000;
    unit = units.shift() ?? unit;
  }
  return `${value.toFixed(1)} ${unit}`;
}
