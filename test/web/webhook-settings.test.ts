import { describe, expect, it } from 'vitest';
import { someHealth } from '../support/builders.ts';
import { endpoint, path, withStack } from './webhook-world.ts';

async function withWebhook(input: Readonly<Record<string, unknown>> = {}) {
  const fixture = await withStack();
  const made = await fixture.admin('POST', path, { endpoint, ...input });
  const one = `/api/v1/webhooks/${made.body.id}`;
  return {
    ...fixture,
    made,
    one,
    patch: (change: unknown) => fixture.admin('PATCH', one, change),
    shown: async () => (await fixture.reader('GET', one)).body,
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

type Fixture = Awaited<ReturnType<typeof withWebhook>>;

describe('the filter of a webhook', () => {
  it.each([
    [undefined, null],
    [null, null],
    [{}, null],
    [{ states: null, runTypes: null }, null],
    [{ states: ['FINISHED', 'FAILED', 'FINISHED'] }, { states: ['FINISHED', 'FAILED'] }],
    [{ runTypes: ['TRACKED'], states: null }, { runTypes: ['TRACKED'] }],
  ])('%j is shown as %j', async (filter, shown) => {
    await using fixture = await withWebhook({ filter });
    const list = await fixture.reader('GET', path);
    expect([fixture.made.body.filter, (await fixture.shown()).filter]).toEqual([shown, shown]);
    expect(list.body.items[0].filter).toEqual(shown);
  });

  it('is replaced as a whole, and kept when it is not named', async () => {
    await using fixture = await withWebhook({ filter: { states: ['FINISHED'] } });
    const other = await fixture.patch({ filter: { runTypes: ['TASK'] } });
    const kept = await fixture.patch({ enabled: false });
    const all = await fixture.patch({ filter: null });
    expect([other, kept, all].map(({ body }) => body.filter)).toEqual([
      { runTypes: ['TASK'] },
      { runTypes: ['TASK'] },
      null,
    ]);
  });

  it.each([
    [{ states: [] }, 'filter.states', 'name at least one state, or leave the list out for all'],
    [{ runTypes: [] }, 'filter.runTypes', 'name at least one run type, or leave the list out for all'],
    [{ states: ['FINISHD'] }, 'filter.states.0', 'not a state; did you mean FINISHED?'],
    [{ states: ['FAILED', 'failed'] }, 'filter.states.1', 'not a state; did you mean FAILED?'],
    [
      { runTypes: ['PLANET'] },
      'filter.runTypes.0',
      'not a run type; there are PROPOSED, TRACKED, TASK, DESTROY',
    ],
    [{ runTypes: [7] }, 'filter.runTypes.0', 'not a run type; there are PROPOSED, TRACKED, TASK, DESTROY'],
    [{ events: ['FINISHED'] }, 'filter.events', 'no such field'],
  ])('is refused when it is %j, new and changed', async (filter, at, message) => {
    await using fixture = await withWebhook();
    const errors = [{ path: at, message }];
    const refused = { status: 422, code: 'invalid-input', errors };
    expect((await fixture.admin('POST', path, { endpoint: `${endpoint}/2`, filter })).body).toMatchObject(
      refused,
    );
    expect((await fixture.patch({ filter })).body).toMatchObject(refused);
  });

  it('decides what is sent', async () => {
    await using fixture = await withWebhook({ filter: { states: ['READY'] } });
    await fixture.installation.addRun(fixture.stack);
    const list = await fixture.reader('GET', `${fixture.one}/deliveries`);
    expect(list.body.items).toMatchObject([{ stateVersion: 2 }]);
  });
});

describe('the headers of a webhook', () => {
  const headers = { Authorization: 'Bearer s3cret-value', 'X-Team': 'network' };

  it('are shown by name, to nobody by value', async () => {
    await using fixture = await withWebhook({ headers });
    const hidden = { authorization: '***', 'x-team': '***' };
    const list = await fixture.admin('GET', path);
    const one = await fixture.admin('GET', fixture.one);
    expect([fixture.made.body.headers, one.body.headers, list.body.items[0].headers]).toEqual([
      hidden,
      hidden,
      hidden,
    ]);
    expect((await fixture.installation.webhooks.find(fixture.made.body.id))?.headers).toEqual({
      authorization: 'Bearer s3cret-value',
      'x-team': 'network',
    });
  });

  it('are merged, and removed by null', async () => {
    await using fixture = await withWebhook({ headers });
    const changed = await fixture.patch({ headers: { 'X-TEAM': null, 'x-new': 'v' } });
    expect(changed.body.headers).toEqual({ authorization: '***', 'x-new': '***' });
  });

  it.each([
    [{ Host: 'a.example' }, 'headers.host'],
    [{ 'x-key': 'a\r\nx-signature: forged' }, 'headers.x-key'],
    [{ 'x-key': '***' }, 'headers.x-key'],
    [{ 'x-key': 7 }, 'headers.x-key'],
    [{ 'X-Key': 'a', 'x-key': 'b' }, 'headers.x-key'],
    [{ 'not a name': 'v' }, 'headers'],
  ])('are refused when they are %j, new and changed', async (wrong, at) => {
    await using fixture = await withWebhook();
    const refused = { status: 422, code: 'invalid-input', errors: [{ path: at }] };
    const made = await fixture.admin('POST', path, { endpoint: `${endpoint}/2`, headers: wrong });
    expect(made.body).toMatchObject(refused);
    expect((await fixture.patch({ headers: wrong })).body).toMatchObject(refused);
  });
});

describe('how a webhook fares', () => {
  const health = someHealth({ lastError: 'refused', pausedUntilMs: 1_795_000_060_000 });
  const setHealth = ({ installation, made }: Fixture, change: Partial<typeof health> = {}) =>
    installation.database.write((tx) =>
      installation.deliveryStore.saveHealth(tx, made.body.id, { ...health, ...change }),
    );

  it('is shown while something is wrong, the error to administrators only', async () => {
    await using fixture = await withWebhook();
    await setHealth(fixture);
    const shown = {
      failingSince: 1_795_000_000,
      failedAttempts: 12,
      exhausted: 1,
      pausedUntil: 1_795_000_060,
    };

    const admin = await fixture.admin('GET', fixture.one);
    const [ofAdmin, ofReader] = [await fixture.admin('GET', path), await fixture.reader('GET', path)];

    const lastError = 'refused';
    expect(admin.body).toMatchObject({ health: { ...shown, lastError }, missed: 0 });
    expect(ofAdmin.body.items[0].health).toEqual({ ...shown, lastError });
    expect((await fixture.shown()).health).toEqual(shown);
    expect(ofReader.body.items[0].health).toEqual(shown);
  });

  it('is only paused once an attempt succeeded before the pause was over', async () => {
    await using fixture = await withWebhook();
    await setHealth(fixture, { failedAttempts: 0, exhausted: 0 });
    const shown = (await fixture.admin('GET', fixture.one)).body;
    expect(shown.health).toEqual({ failedAttempts: 0, exhausted: 0, pausedUntil: 1_795_000_060 });
    expect(shown).not.toHaveProperty('missed');
  });

  it('says what was missed, until it is enabled', async () => {
    await using fixture = await withWebhook({ filter: { states: ['QUEUED'] } });
    expect(await fixture.shown()).not.toHaveProperty('missed');
    const off = await fixture.patch({ enabled: false });
    await fixture.installation.addRun(fixture.stack, 'PROPOSED');
    await fixture.installation.addRun(fixture.stack, 'TRACKED');
    await setHealth(fixture);

    expect(off.body).toMatchObject({ disabledAt: expect.any(Number), missed: 0 });
    expect(await fixture.shown()).toMatchObject({ missed: 2 });
    const on = await fixture.patch({ enabled: true });
    for (const gone of ['missed', 'health', 'disabledAt']) expect(on.body).not.toHaveProperty(gone);
  });
});
