import { expect, test } from 'vitest';
import { auditRows } from '../support/audit-rows.ts';
import { openButtons } from './buttons-support.ts';

test('buttons that are pressed on GitHub are written down, refused ones with the reason', async () => {
  await using all = await openButtons();
  const { run, checkRun } = await all.aRunThatIs('UNCONFIRMED');
  await all.settled(await all.github.pressButton(checkRun, 'confirm', 'rita'));
  await all.settled(await all.github.pressButton(checkRun, 'confirm', 'bob'));
  await all.settled(await all.github.pressButton(checkRun, 'confirm', 'ada'));

  const [tooLate, confirmed, forbidden] = await auditRows(all.audit);
  const subject = { repositoryId: all.infra.id, account: 'acme', stack: 'network-prod' };
  expect(confirmed).toMatchObject({
    ...{ operation: 'check confirm', params: { checkRun: String(checkRun.id) } },
    ...{ outcome: 'done', status: null, note: null },
    actor: { kind: 'person', key: 'person:bob' },
    origin: { via: 'check', address: null },
    subject: { ...subject, run: run.id },
  });
  expect(tooLate).toMatchObject({ outcome: 'refused', note: 'the run is CONFIRMED', subject });
  expect(forbidden).toMatchObject({ outcome: 'refused', actor: { key: 'person:rita' }, subject });
});
