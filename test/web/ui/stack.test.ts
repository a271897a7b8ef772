import { expect, test } from 'vitest';
import type { Role } from '../../../src/access/actor.ts';
import { branchHead, untilUnconfirmed } from '../installation.ts';
import { openBrowser } from './browser.ts';

const path = '/stacks/acme/network-prod';

/** Somebody with that role is logged in, and there is a stack. */
async function opened(role: Role) {
  const all = openBrowser();
  const { installation } = all;
  const stack = await installation.addStack('Network Prod');
  installation.roles.set('ada', role);
  await all.logIn();
  const submit = async (to: string, fields: Record<string, string> = {}) =>
    all.post(`${path}${to}`, { form_token: await all.formToken(), ...fields });
  const runs = () => installation.runs.unfinished(stack.key);
  return { ...all, stack, submit, runs, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

test.each<[Role, readonly string[]]>([
  ['reader', []],
  ['writer', ['Trigger run', 'Lock stack']],
  ['admin', ['Trigger run', 'Run a task', 'Destroy resources', 'Lock stack']],
])('a %s is shown what they may start', async (role, forms) => {
  await using all = await opened(role);

  const { text } = await all.visit(path);

  expect([...text.matchAll(/<summary>([^<]*)</g)].map(([, words]) => words)).toEqual(forms);
});

test('a run is triggered, and its page follows', async () => {
  await using all = await opened('writer');

  const { answer, location } = await all.submit('/runs', {
    type: 'TRACKED',
    branch: '',
    sha: branchHead.hash,
  });

  const [run] = await all.runs();
  expect([answer.status, location]).toEqual([303, `/runs/${run?.id}`]);
  expect(run).toMatchObject({ type: 'TRACKED', branch: 'main', commit: { hash: branchHead.hash } });
});

test.each([
  ['TASK', { command: 'pulumi refresh --yes' }, { command: 'pulumi refresh --yes' }],
  ['DESTROY', {}, {}],
])('an administrator starts a %s', async (type, fields, wanted) => {
  await using all = await opened('admin');

  const { answer } = await all.submit('/runs', { type, ...fields });

  expect(answer.status).toBe(303);
  expect(await all.runs()).toMatchObject([{ type, ...wanted }]);
});

test('what was typed is there again when it is refused', async () => {
  await using all = await opened('admin');

  const badCommit = await all.submit('/runs', { type: 'PROPOSED', branch: 'main', sha: '<b>nonsense' });
  const noCommand = await all.submit('/runs', { type: 'TASK', command: ' ' });

  expect([badCommit.answer.status, noCommand.answer.status]).toEqual([422, 422]);
  expect(badCommit.text).toMatch(
    /value="&lt;b&gt;nonsense"[^>]* aria-invalid="true" aria-describedby="sha-wrong sha-help"/,
  );
  expect(badCommit.text).toContain('value="PROPOSED" checked');
  expect(badCommit.text).toContain('<details open><summary>Trigger run');
  expect(noCommand.text).toContain('<details open><summary>Run a task');
  expect(await all.runs()).toEqual([]);
});

test.each(['/runs', '/lock', '/unlock'])('a reader posts to %s in vain', async (to) => {
  await using all = await opened('reader');

  const { answer } = await all.submit(to, { type: 'TRACKED' });

  expect(answer.status).toBe(403);
  expect(await all.runs()).toEqual([]);
});

test('a lock says by whom and why, and is taken away by its holder', async () => {
  await using all = await opened('writer');
  const lock = async () => (await all.installation.stackStore.findByKey(all.stack.key))?.lock ?? null;

  await all.submit('/lock', { note: 'moving <b>house</b>' });
  const locked = await all.visit(path);
  await all.submit('/unlock');

  expect(locked.text).toMatch(/Locked by ada <time[^>]*>[^<]*<\/time>: moving &lt;b&gt;house&lt;\/b&gt;/);
  expect(locked.text).toContain('Unlock stack');
  expect(locked.text).not.toContain('<summary>Lock stack');
  expect(await lock()).toBeNull();
});

test.each<[Role, 'person' | 'system', boolean]>([
  ['writer', 'person', false],
  ['writer', 'system', true],
  ['admin', 'person', true],
  ['reader', 'system', false],
])('a %s and the lock of a %s: the button is shown when it works', async (role, kind, works) => {
  await using all = await opened(role);
  const { database, stackStore } = all.installation;
  const run = kind === 'system' ? (await all.installation.addRun(all.stack)).id : null;
  const by = { holder: kind === 'system' ? 'slipway' : 'bob', holderKey: 'person:bob', reason: '' };
  await database.write((tx) => stackStore.setLock(tx, all.stack.key, { ...by, kind, run, sinceMs: 0 }));

  const { text } = await all.visit(path);
  const { answer } = await all.submit('/unlock');

  expect(text.includes('Unlock stack')).toBe(works);
  expect(answer.status).toBe(works ? 303 : 403);
});

test('it says what is deployed, what waits for what, and shows runs by type', async () => {
  await using all = await opened('reader');
  const { addRun, move } = all.installation;
  const none = await all.visit(path);
  const confirmed = [
    { kind: 'confirm' },
    { kind: 'claim' },
    { kind: 'prepared' },
    { kind: 'finish' },
  ] as const;
  await move(await addRun(all.stack), ...untilUnconfirmed, ...confirmed);
  const active = await move(await addRun(all.stack), ...untilUnconfirmed);
  await addRun(all.stack);
  await addRun(all.stack, 'PROPOSED');

  const { text } = await all.visit(path);
  const previews = await all.visit(`${path}?type=PROPOSED`);
  const tasks = await all.visit(`${path}?type=TASK`);

  expect(none.text).toContain('nothing yet');
  expect(none.text).toContain('It never ran.');
  expect(text).toContain('<span class="mono">1f0c2b3</span> <bdi>Widen the network</bdi>');
  expect(text).toContain(
    `One run waits for <a href="/runs/${active.id}">the TRACKED run</a>, which is UNCONFIRMED.`,
  );
  const typesOf = (page: string) =>
    [...page.matchAll(/<td><a href="\/runs\/[^"]+">(\w+)</g)].map(([, type]) => type);
  expect(typesOf(text)).toEqual(['PROPOSED', 'TRACKED', 'TRACKED', 'TRACKED']);
  expect(typesOf(previews.text)).toEqual(['PROPOSED']);
  expect(tasks.text).toContain('There is no TASK run here.');
});
