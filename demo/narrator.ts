/** Says what happens, as it happens: one line each, with the time since the chapter began. */
import type { CommandRecord } from './api-objects.ts';
import type { Received } from './receiver.ts';

export interface Narrator {
  title(text: string): void;
  /** Begins a chapter and its clock. */
  chapter(text: string): void;
  /** Name and value, aligned, outside the chapters. */
  fact(name: string, value: string): void;
  plain(text: string): void;
  event(stack: string, kind: string, text: string, atMs?: number): void;
  webhook(received: Received): void;
  command(stack: string, record: CommandRecord): void;
}

export function createNarrator(write: (line: string) => void): Narrator {
  let startedAtMs = Date.now();

  function event(stack: string, kind: string, text: string, atMs = Date.now()): void {
    const seconds = ((atMs - startedAtMs) / 1000).toFixed(2).padStart(7);
    write(`${seconds} s  ${stack.padEnd(11)} ${kind.padEnd(8)} ${text}`);
  }

  return {
    title: (text) => write(text),
    chapter(text) {
      startedAtMs = Date.now();
      write(`\n${text}`);
    },
    fact: (name, value) => write(`  ${name.padEnd(12)} ${value}`),
    plain: (text) => write(text),
    event,
    webhook({ stack, state, stateVersion, verified, verified256, attempt, receivedAtMs }) {
      const signatures = verified && verified256 ? 'both signatures verified' : 'SIGNATURE WRONG';
      const again = attempt === 1 ? '' : `, attempt ${attempt}`;
      const what = `${String(stateVersion).padStart(2)} ${(state ?? '?').padEnd(15)} ${signatures}${again}`;
      event(stack ?? '?', 'webhook', what, receivedAtMs);
    },
    command(stack, { label, argv, startedAtMs: beganAtMs, durationMs, exitCode }) {
      const shown = argv[0] === 'bash' ? `hook: ${label}` : argv.join(' ');
      const end = exitCode === null ? 'killed' : `exit ${exitCode}`;
      event(stack, 'command', `${shown}  (${end}, ${seconds(durationMs)})`, beganAtMs + durationMs);
    },
  };
}

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
