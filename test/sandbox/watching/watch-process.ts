/**
 * A server of its own for a test: watches a directory for some looks while it has no descriptor left. Arguments: the
 * directory, how many looks may fail. Prints what the watch said as JSON.
 */
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defaultLimits } from '../../../src/sandbox/limits.ts';
import { watchDisk } from '../../../src/sandbox/watching/disk-watch.ts';

const [directory = '', failedLooks = ''] = process.argv.slice(2);
const ended: string[] = [];
const kept: number[] = [];
const watch = watchDisk({
  directories: [directory],
  limits: { ...defaultLimits, failedLooks: failedLooks === 'none' ? null : Number(failedLooks) },
  environment: { PATH: '/usr/bin:/bin' },
  onOver: (reason) => ended.push(reason),
});
try {
  for (;;) kept.push(openSync('/dev/null', 'r'));
} catch {
  // None is left.
}
// Three looks, when nothing is to come of them.
const deadline = performance.now() + (failedLooks === 'none' ? 3500 : 10_000);
while (ended.length === 0 && performance.now() < deadline) await delay(50);
for (const descriptor of kept) closeSync(descriptor);
watch[Symbol.dispose]();
process.stdout.write(JSON.stringify(ended));
