/** `npm run bench`: measures this checkout on this machine, everything with real processes. */
import { parseArgs } from 'node:util';
import { affected } from './affected.ts';
import { burst } from './burst.ts';
import { commentCommands } from './comments.ts';
import type { Benchmark, Figure } from './figure.ts';
import { firstWebhook } from './first-webhook.ts';
import { intake } from './intake.ts';
import { lists } from './lists.ts';
import { logTail } from './log-tail.ts';
import { memory } from './memory.ts';
import { parallel } from './parallel.ts';
import { policies } from './policies.ts';
import { pressure } from './pressure.ts';
import { redaction } from './redaction.ts';
import { run } from './run.ts';
import { sandbox } from './sandbox.ts';
import { scheduling } from './scheduling.ts';
import { webhookSending } from './webhooks.ts';

const benchmarks: readonly Benchmark[] = [
  affected,
  sandbox,
  pressure,
  redaction,
  run,
  parallel,
  memory,
  intake,
  burst,
  firstWebhook,
  scheduling,
  commentCommands,
  lists,
  webhookSending,
  logTail,
  policies,
];

const help = `Usage: npm run bench [-- --only <name>]... [--json]

${benchmarks.map(({ name, about }) => `  ${name.padEnd(14)} ${about}`).join('\n')}

  --only <name>  this one only; can be repeated
  --json         print the figures as one JSON value on stdout
  --help         this text

Ratios are between two things measured in turns in the same run; milliseconds are of this machine.`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const unknown = values.only.find((name) => !benchmarks.some((each) => each.name === name));
  if (unknown !== undefined) {
    console.error(`bench: no benchmark is called ${unknown}\n\n${help}`);
    return 2;
  }
  const chosen = benchmarks.filter(({ name }) => values.only.length === 0 || values.only.includes(name));
  const results: { name: string; figures: readonly Figure[]; problem?: string }[] = [];
  for (const { name, measure } of chosen) {
    const say = (line: string) => console.error(`${name}: ${line}`);
    try {
      results.push({ name, figures: await measure(say) });
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      console.error(`${name}: failed: ${problem}`);
      results.push({ name, figures: [], problem });
    }
  }
  console.log(
    values.json ? JSON.stringify(results, null, 2) : table(results.flatMap(({ figures }) => figures)),
  );
  return results.some(({ problem }) => problem !== undefined) ? 1 : 0;
}

function table(figures: readonly Figure[]): string {
  const widest = Math.max(0, ...figures.map(({ what }) => what.length));
  const lines = figures.map(({ what, value, unit, detail }) => {
    const number = `${value.toFixed(unit === 'ms' ? 1 : 2)}${unit ? ` ${unit}` : ''}`;
    return `${what.padEnd(widest)}  ${number.padStart(9)}  ${detail}`;
  });
  return lines.join('\n');
}

process.exitCode = await main();
