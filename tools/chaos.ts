/** Runs the chaos test (test/full/chaos.test.ts) for as long as asked: `npm run chaos`. */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const help = `Usage: npm run chaos -- [--kills <count>] [--seed <number>]

Kills a server at random moments while pushes keep coming and people act, starts it again each time, and then looks for
what was lost, done twice or told to nobody. Prints its seed and how far it is; ends with 0 when nothing was found.

  --kills <count>   how often; 1000 when left out, which takes some two hours
  --seed <number>   makes the choices of that run again (what the machine does in between is not the same)
  --help            this text`;

function numberOf(name: string, text: string | undefined, least: number): string | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return text;
  process.stderr.write(`chaos: --${name} takes a whole number from ${least} on\n`);
  process.exit(2);
}

const { values } = parseArgs({
  options: { kills: { type: 'string' }, seed: { type: 'string' }, help: { type: 'boolean' } },
});
if (values.help) {
  process.stdout.write(`${help}\n`);
  process.exit(0);
}
const kills = numberOf('kills', values.kills, 1) ?? '1000';
const seed = numberOf('seed', values.seed, 0);
const vitest = ['vitest', 'run', '--config', 'vitest.full.config.ts', 'test/full/chaos.test.ts'];
const [command = '', ...args] = vitest;
const { status } = spawnSync(command, args, {
  stdio: 'inherit',
  env: { ...process.env, KILLS: kills, ...(seed === undefined ? {} : { SEED: seed }) },
});
process.exit(status ?? 1);
