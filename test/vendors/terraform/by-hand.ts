import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Flavour, opentofu, terraform } from '../../../src/vendors/terraform/flavour.ts';
import type { CommandOutputs } from '../../../src/worker/vendor.ts';

/** What a real program left of one case: of the command that failed, or of `plan` and `show -json`. */
export interface Recording {
  readonly flavour: Flavour;
  readonly name: string;
  readonly argv: readonly string[];
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What `show -json` printed, laid out anew. Null when nothing was planned. */
  readonly plan: string | null;
}

const aboutSchema = z.object({ argv: z.array(z.string()), exitCode: z.number() });

export const recordings: readonly Recording[] = [terraform, opentofu].flatMap((flavour) => {
  const folder = fileURLToPath(new URL(`../../fixtures/by-hand/${flavour.name}/`, import.meta.url));
  return readdirSync(folder)
    .sort()
    .map((name): Recording => {
      const text = (file: string) => readFileSync(`${folder}${name}/${file}`, 'utf8');
      const about = aboutSchema.parse(JSON.parse(text('command.json')));
      const plan = existsSync(`${folder}${name}/plan.json`) ? text('plan.json') : null;
      return { flavour, name, ...about, stdout: text('stdout.txt'), stderr: text('stderr.txt'), plan };
    });
});

/** Of both programs. */
export function recordingsOf(name: string): readonly Recording[] {
  const found = recordings.filter((recording) => recording.name === name);
  if (found.length === 0) throw new Error(`no recording ${name}`);
  return found;
}

/** As the worker hands them to the vendor: of `plan`, and of `show` when there was a plan. */
export function outputsOf(
  { exitCode, stdout, stderr, plan }: Recording,
  change: { exitCode?: number; plan?: string | null } = {},
): [CommandOutputs, ...CommandOutputs[]] {
  const planned = outputs(change.exitCode ?? exitCode, stdout, stderr, null);
  const shown = change.plan === undefined ? plan : change.plan;
  return shown === null ? [planned] : [planned, outputs(0, '', '', Buffer.from(shown))];
}

function outputs(
  exitCode: number,
  stdoutTail: string,
  stderrTail: string,
  captured: Buffer | null,
): CommandOutputs {
  return { exitCode, stdoutTail, stderrTail, captured, read: async () => null };
}
