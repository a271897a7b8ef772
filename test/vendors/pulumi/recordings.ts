import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { CommandOutputs } from '../../../src/worker/vendor.ts';

/** What the real pulumi left, as `npm run record` recorded it. */
export interface Recording {
  readonly name: string;
  readonly argv: readonly string[];
  readonly exitCode: number;
  readonly hasPlan: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** Null when the engine never began. */
  readonly events: string | null;
}

const folder = fileURLToPath(new URL('../../fixtures/pulumi/', import.meta.url));
const command = z.object({ argv: z.array(z.string()), exitCode: z.number() });
const aboutSchema = z.object({ commands: z.tuple([command]), hasPlan: z.boolean() });

export const recordingNames: readonly string[] = readdirSync(folder).sort();

export function recording(name: string): Recording {
  const text = (file: string) => readFileSync(`${folder}${name}/${file}`, 'utf8');
  const { commands, hasPlan } = aboutSchema.parse(JSON.parse(text('command.json')));
  const events = existsSync(`${folder}${name}/events.jsonl`) ? text('events.jsonl') : null;
  return { name, ...commands[0], hasPlan, stdout: text('stdout.txt'), stderr: text('stderr.txt'), events };
}

/** As the worker hands it to the vendor; `change` replaces what a test wants otherwise. */
export function outputsOf(
  { name, exitCode, stdout, stderr, hasPlan }: Recording,
  change: { exitCode?: number; events?: string | Uint8Array | null; hasPlan?: boolean; plan?: string } = {},
): CommandOutputs {
  const events = change.events;
  return {
    exitCode: change.exitCode ?? exitCode,
    stdoutTail: stdout,
    stderrTail: stderr,
    captured: null,
    read: async (file) => {
      if (file === 'plan.json') {
        if (!(change.hasPlan ?? hasPlan)) return null;
        const path = `${folder}${name}/${file}`;
        return change.plan === undefined && existsSync(path)
          ? createReadStream(path)
          : bytesOf(change.plan ?? '{}');
      }
      if (events === undefined) {
        const path = `${folder}${name}/${file}`;
        return existsSync(path) ? createReadStream(path) : null;
      }
      return events === null ? null : bytesOf(events);
    },
  };
}

export async function* bytesOf(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}
