import { expect, test } from 'vitest';
import { auditRows } from '../../support/audit-rows.ts';
import { openCommentWorld } from './comment-world.ts';

test('a command in a comment is written down, once for each stack', async () => {
  await using world = await openCommentWorld();
  await world.addNamed('dns');
  const key = await world.addNamed('network');
  await world.tell('/slipway preview', { id: 77 });

  const [network, dns, ...others] = await auditRows(world.audit);
  const [run] = await world.runsOf(key);
  expect(others).toEqual([]);
  expect(dns?.subject.stack).toBe('dns');
  expect(network).toMatchObject({
    ...{ operation: 'comment preview', params: { comment: '77', pullRequest: '7' } },
    ...{ outcome: 'done', status: null, note: null },
    actor: { key: 'person:bob' },
    origin: { via: 'comment', address: null },
    subject: { repositoryId: 21, account: 'acme', stack: 'network', run: run?.id },
  });
});

test('so is what was refused, and why', async () => {
  await using world = await openCommentWorld();
  await world.addNamed('network');
  await world.tell('/slipway lock', { by: 'rita' });
  await world.tell('/slipway confirm');
  await world.tell('/slipway lock nothing-like-this');

  const rows = await auditRows(world.audit);
  expect(rows.map(({ operation, outcome }) => [operation, outcome])).toEqual([
    ['comment lock', 'refused'],
    ['comment confirm', 'refused'],
    ['comment lock', 'refused'],
  ]);
  const [noSuch, nothingWaits, forbidden] = rows;
  expect(noSuch).toMatchObject({ note: expect.any(String), subject: { account: 'acme', stack: null } });
  expect(nothingWaits).toMatchObject({ note: expect.any(String), subject: { stack: 'network' } });
  expect(forbidden).toMatchObject({ note: 'needs the role writer', actor: { key: 'person:rita' } });
});

test.each(['/slipway status', '/slipway help', '/slipway explain', '/slipway status none', '/slipway lokc'])(
  '%s only tells something: there is nothing to write down',
  async (body) => {
    await using world = await openCommentWorld();
    await world.addNamed('network');
    await world.tell(body);
    expect(await auditRows(world.audit)).toEqual([]);
  },
);

test('a command whose answer could not be written is not written down', async () => {
  await using world = await openCommentWorld();
  await world.addNamed('network');
  world.conversation.answer = () => Promise.reject(new Error('the disk is full'));
  await expect(world.tell('/slipway lock')).rejects.toThrow('the disk is full');
  expect(await auditRows(world.audit)).toEqual([]);
});
