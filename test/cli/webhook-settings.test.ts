import { describe, expect, it } from 'vitest';
import { someHealth } from '../support/builders.ts';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

const endpoint = 'https://receiver.example/hook';

async function withWebhook(headers: Readonly<Record<string, string>> = {}) {
  const installation = anInstallation();
  const stack = await installation.addStack();
  const { id } = await installation.webhooks.create(stack.key, {
    endpoint,
    secret: 'correct horse',
    headers,
  });
  return {
    installation,
    stack,
    id,
    ...aCommandLine(installation),
    stored: () => installation.webhooks.find(id),
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}

describe('slipway webhook add', () => {
  it('takes a filter, headers and a secret that the server makes', async () => {
    await using world = await withWebhook();
    const flags = '--state FINISHED --state FAILED --run-type TRACKED --generate-secret --header -';

    const added = await world.run(`webhook add network-prod ${endpoint}/2 ${flags}`, {
      input: 'Authorization: Bearer a:b\n\nX-Team:  network \r\n',
    });

    const [, id = ''] = added.out.match(/^Added webhook (\w+)\.$/m) ?? [];
    const stored = await world.installation.webhooks.find(id);
    expect(stored).toMatchObject({
      filter: { states: ['FINISHED', 'FAILED'], runTypes: ['TRACKED'] },
      headers: { authorization: 'Bearer a:b', 'x-team': 'network' },
    });
    expect(added.out).toContain(`Its secret: ${stored?.secret}`);
    expect(added.err).toBe('');
  });

  it('warns of a header on the command line', async () => {
    await using world = await withWebhook();
    const argv = ['webhook', 'add', 'network-prod', `${endpoint}/2`, '--header', 'X-Key: hidden'];
    const added = await world.run(argv);
    expect(added.exitCode).toBe(0);
    expect(added.err).toContain('a header stood on the command line');
    expect(added.err).not.toContain('hidden');
  });
});

describe('slipway webhook update', () => {
  it('changes the filter as a whole, and back to all', async () => {
    await using world = await withWebhook();
    const some = await world.run(`webhook update ${world.id} --state FINISHED`);
    expect(some.out).toMatch(/^states +FINISHED\nrun types +all$/m);
    await world.run(`webhook update ${world.id} --run-type TASK`);
    expect((await world.stored())?.filter).toEqual({ states: null, runTypes: ['TASK'] });
    await world.run(`webhook update ${world.id} --all-events`);
    expect((await world.stored())?.filter).toEqual({ states: null, runTypes: null });
  });

  it('adds and removes headers, and shows none of their values', async () => {
    await using world = await withWebhook({ 'x-old': 'hidden-old', 'x-kept': 'hidden-kept' });
    const flags = '--header - --remove-header X-Old';
    const changed = await world.run(`webhook update ${world.id} ${flags}`, { input: 'X-New: hidden-new' });
    expect(changed.out).toMatch(/^headers +x-kept, x-new$/m);
    expect(changed.out + changed.err).not.toContain('hidden');
    expect((await world.stored())?.headers).toEqual({ 'x-kept': 'hidden-kept', 'x-new': 'hidden-new' });
  });

  it('ends the old secret at once, or later', async () => {
    await using world = await withWebhook();
    const input = 'battery staple';
    const later = await world.run(`webhook update ${world.id} --secret - --overlap-hours 2`, { input });
    expect(later.out).toMatch(/^old secret +key:\w{8}, until 20\d\d-/m);
    expect(later.out).not.toContain('correct horse');
    await world.run(`webhook update ${world.id} --secret -`, { input: 'next' });
    expect(await world.stored()).toMatchObject({ secret: 'next', oldSecrets: [] });
  });

  it('says what was missed when a webhook is enabled', async () => {
    await using world = await withWebhook();
    await world.run(`webhook update ${world.id} --disable`);
    await world.installation.addRun(world.stack);
    const shown = await world.run(`webhook show ${world.id}`);
    expect(shown.out).toMatch(/^missed +2 state changes$/m);
    const enabled = await world.run(`webhook update ${world.id} --enable`);
    expect(enabled.err).toContain('It missed 2 state changes.');
    expect(enabled.out).not.toContain('missed');
  });
});

describe('slipway webhook show', () => {
  it('says what fails', async () => {
    await using world = await withWebhook();
    const health = someHealth({ pausedUntilMs: 1_795_000_060_000 });
    const { database, deliveryStore } = world.installation;
    await database.write((tx) => deliveryStore.saveHealth(tx, world.id, health));

    const shown = await world.run(`webhook show ${world.id}`);
    const list = await world.run('webhook list network-prod');

    expect(shown.out).toMatch(
      /^failed +12 attempts since 2026-11-18 11:06:40Z\ngiven up +1 of its deliveries$/m,
    );
    expect(shown.out).toMatch(/^last error +status 500\npaused +until 2026-11-18 11:07:40Z$/m);
    expect(list.out).toContain('enabled, but failing');
  });
});

describe('slipway webhook regenerate-secret and end-overlap', () => {
  it('let the old secret live for a day, until somebody ends it', async () => {
    await using world = await withWebhook();

    const made = await world.run(`webhook regenerate-secret ${world.id}`);
    expect((await world.stored())?.oldSecrets).toMatchObject([{ secret: 'correct horse' }]);
    const ended = await world.run(`webhook end-overlap ${world.id}`);

    expect(made.out).toMatch(/^[\w-]{43}\n$/);
    expect(made.err).toContain(`slipway webhook end-overlap ${world.id}`);
    expect(ended.exitCode).toBe(0);
    expect(await world.stored()).toMatchObject({ secret: made.out.trim(), oldSecrets: [] });
  });

  it('end it at once when there shall be no overlap', async () => {
    await using world = await withWebhook();
    const made = await world.run(`webhook regenerate-secret ${world.id} --overlap-hours 0 --json`);
    expect(made.json()).toMatchObject({ secret: expect.any(String), oldSecrets: [] });
    expect(made.err).toBe('');
  });
});

describe('what contradicts itself or cannot be', () => {
  it.each([
    [`add network-prod ${endpoint}/2 --generate-secret --secret x`, 2],
    [`add network-prod ${endpoint}/2 --secret - --header -`, 2],
    [`add network-prod ${endpoint}/2 --header nothing`, 2],
    [`add network-prod ${endpoint}/2 --header X-A:1 --header X-A:2`, 2],
    [`add network-prod ${endpoint}/2 --header X-A:1 --header x-a:2`, 6],
    [`add network-prod ${endpoint}/2 --header Host:a.example`, 6],
    [`add network-prod ${endpoint}/2 --state FINISHD`, 6],
    ['update ID --all-events --state FAILED', 2],
    ['update ID --overlap-hours 2', 6],
    ['update ID --secret x --overlap-hours two', 2],
    ['regenerate-secret ID --overlap-hours -1', 2],
    ['regenerate-secret ID --overlap-hours 169', 6],
    ['end-overlap 01JRUN0000000000000000000A', 3],
  ])('webhook %s ends with %i and changes nothing', async (line, exitCode) => {
    await using world = await withWebhook();
    const before = await world.stored();

    const ended = await world.run(`webhook ${line.replace('ID', world.id)}`);

    expect(ended).toMatchObject({ exitCode, out: '' });
    expect(await world.stored()).toEqual(before);
    expect(await world.installation.webhooks.list(world.stack.key, { after: null, limit: 9 })).toHaveLength(
      1,
    );
  });

  it('says what was meant', async () => {
    await using world = await withWebhook();
    const { err } = await world.run(`webhook update ${world.id} --state finishd`);
    expect(err).toContain('did you mean FINISHED?');
  });
});
