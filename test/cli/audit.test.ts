import { expect, test } from 'vitest';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

test('slipway audit says who changed what', async () => {
  await using installation = anInstallation();
  await installation.addStack();
  const { run } = aCommandLine(installation);
  await run('stack lock acme/network-prod');
  await run('stack lock acme/none');

  const all = await run('audit');
  const ofStack = await run('audit --stack acme/network-prod --actor operator --since 3650d --json');

  const [head = '', refused = '', done = ''] = all.out.split('\n');
  expect(head.split(/ {2,}/)).toEqual(['AT', 'WHO', 'VIA', 'FROM', 'WHAT', 'STACK', 'RESULT']);
  expect(refused).toMatch(/operator {2}cli .*PUT \/stacks\/acme\/none\/lock .*refused 404$/);
  expect(done).toMatch(/PUT \/stacks\/acme\/network-prod\/lock {2,}acme\/network-prod {2}done 204$/);
  expect(JSON.parse(ofStack.out)).toMatchObject({ items: [{ stack: 'network-prod', via: 'cli' }] });
});

test.each([
  ['audit --limit 0', '--limit: must be a number above 0'],
  ['audit --since yesterday', '--since: not a time'],
])('%s is refused', async (line, message) => {
  await using installation = anInstallation();
  const { run } = aCommandLine(installation);
  const { exitCode, err } = await run(line);
  expect(exitCode).toBe(2);
  expect(err).toContain(message);
});
