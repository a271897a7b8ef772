import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Flavour, opentofu, terraform } from '../../../src/vendors/terraform/flavour.ts';
import type { CommandOutputs } from '../../../src/worker/vendor.ts';

/** What the real program left, as `npm run record` recorded it. */
export interface Recording {
  readonly flavour: Flavour;
  readonly name: string;
  /** In their order; the last one only may have failed. */
  readonly commands: readonly { readonly argv: readonly string[]; readonly exitCode: number }[];
  readonly stdout: string;
  readonly stderr: string;
  /** The plan as `show -json` gives it; null when there is none. */
  readonly plan: string | null;
}

const folder = fileURLToPath(new URL('../../fixtures/', import.meta.url));
const aboutSchema = z.object({
  commands: z.array(z.object({ argv: z.array(z.string()), exitCode: z.number() })),
});

export const recordings: readonly Recording[] = [terraform, opentofu].flatMap((flavour) =>
  readdirSync(`${folder}${flavour.name}`)
    .sort()
    .map((name) => read(flavour, name)),
);

export function recording(flavour: Flavour, name: string): Recording {
  const found = recordings.find((each) => each.flavour === flavour && each.name === name);
  if (!found) throw new Error(`no recording of ${flavour.name} is called ${name}`);
  return found;
}

function read(flavour: Flavour, name: string): Recording {
  const path = (file: string) => `${folder}${flavour.name}/${name}/${file}`;
  const text = (file: string) => readFileSync(path(file), 'utf8');
  const { commands } = aboutSchema.parse(JSON.parse(text('command.json')));
  const plan = existsSync(path('plan.json')) ? text('plan.json') : null;
  return { flavour, name, commands, stdout: text('stdout.txt'), stderr: text('stderr.txt'), plan };
}

/** As the worker hands them to the vendor; `plan` in place of the recorded one. */
export function outputsOf(
  { commands, stdout, stderr, plan: recorded }: Recording,
  plan: string | Uint8Array | null = recorded,
): readonly [CommandOutputs, ...CommandOutputs[]] {
  const [first, ...rest] = commands.map(
    ({ argv, exitCode }): CommandOutputs => ({
      exitCode,
      stdoutTail: stdout,
      stderrTail: stderr,
      captured: argv[1] === 'show' && plan !== null ? Buffer.from(plan) : null,
      read: async () => null,
    }),
  );
  if (!first) throw new Error('a recording without commands');
  return [first, ...rest];
}
