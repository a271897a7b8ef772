import { describe, expect, test } from 'vitest';
import { openButtons } from './buttons-support.ts';
import { eventually } from './support.ts';

type All = Awaited<ReturnType<typeof openButtons>>;

const ignored = (note: string) => ({ state: 'ignored', note });

/** What GitHub sent for a press that is settled, to be handled again as it was or with something changed. */
async function settledPress(all: All, sent: { deliveryId: string }) {
  const outcome = await all.settled(sent);
  const payload = all.github.deliveries.find(({ guid }) => guid === sent.deliveryId)?.payload ?? {};
  const tell = (change: object = {}, id = sent.deliveryId) => {
    const body = Buffer.from(JSON.stringify({ ...payload, ...change }));
    return all.handle({ id, event: 'check_run', body, attempt: 1, lane: 'x', receivedAtMs: all.clock.ms });
  };
  return { outcome, payload, tell };
}

describe('a button of a check run', () => {
  test('confirms for somebody who may write, in their name', async () => {
    await using all = await openButtons();
    const { run, checkRun } = await all.aRunThatIs('UNCONFIRMED');

    const sent = await all.github.pressButton(checkRun, 'confirm', 'bob');

    expect(sent.status).toBe(202);
    expect(await all.settled(sent)).toEqual({
      state: 'done',
      note: `confirm by bob: run ${run.id} is CONFIRMED`,
    });
    expect((await all.runs.events(run.id)).at(-1)).toMatchObject({ state: 'CONFIRMED', actor: 'bob' });
    expect((await all.shown(run.id)).actions).toEqual([]);
  });

  test.each([
    ['discard', 'UNCONFIRMED', 'DISCARDED'],
    ['cancel', 'QUEUED', 'CANCELED'],
    ['stop', 'PREPARING', 'STOPPED'],
  ] as const)('%s moves a run that is %s to %s', async (button, before, after) => {
    await using all = await openButtons();
    const { run, checkRun } = await all.aRunThatIs(before);

    const sent = await all.github.pressButton(checkRun, button, 'ada');

    expect(await all.settled(sent)).toEqual({
      state: 'done',
      note: `${button} by ada: run ${run.id} is ${after}`,
    });
    expect(await all.stateOf(run)).toBe(after);
  });

  test.each([
    ['somebody who may only read', 'rita'],
    ['somebody from outside', 'mallory'],
  ])('is refused to %s', async (_who, login) => {
    await using all = await openButtons();
    const { run, checkRun } = await all.aRunThatIs('UNCONFIRMED');

    const sent = await all.github.pressButton(checkRun, 'confirm', login);

    expect(await all.settled(sent)).toEqual(ignored(`${login} may not confirm: needs the role writer`));
    expect(await all.stateOf(run)).toBe('UNCONFIRMED');
  });

  test('asks for the right anew with every press', async () => {
    await using all = await openButtons();
    const { run, checkRun } = await all.aRunThatIs('PREPARING');
    const refused = await all.github.pressButton(checkRun, 'stop', 'rita');
    await all.settled(refused);

    all.github.setPermission(all.infra, 'rita', 'write');
    await all.settled(await all.github.pressButton(checkRun, 'stop', 'rita'));

    expect(await all.stateOf(run)).toBe('STOPPED');
  });

  test('works for an administrator of the instance whom GitHub gives no role', async () => {
    await using all = await openButtons();
    const { run, checkRun } = await all.aRunThatIs('UNCONFIRMED');

    await all.settled(await all.github.pressButton(checkRun, 'discard', 'root'));

    expect(await all.stateOf(run)).toBe('DISCARDED');
  });

  test('tells the second who presses what the first made of the run', async () => {
    await using all = await openButtons();
    const { run, checkRun } = await all.aRunThatIs('UNCONFIRMED');

    const first = await all.github.pressButton(checkRun, 'discard', 'ada');
    const second = await all.github.pressButton(checkRun, 'confirm', 'bob');

    expect(await all.settled(first)).toMatchObject({ state: 'done' });
    expect(await all.settled(second)).toEqual(ignored('the run is DISCARDED'));
    expect(await all.stateOf(run)).toBe('DISCARDED');
  });

  test('changes nothing twice when its delivery is handled again', async () => {
    await using all = await openButtons();
    const { run, checkRun } = await all.aRunThatIs('UNCONFIRMED');
    const { tell } = await settledPress(all, await all.github.pressButton(checkRun, 'confirm', 'bob'));
    const { stateVersion } = (await all.runs.find(run.id)) ?? {};

    expect(await tell()).toEqual(ignored('the run is CONFIRMED'));

    expect(await all.runs.find(run.id)).toMatchObject({ state: 'CONFIRMED', stateVersion });
  });

  test('is tried again later when GitHub does not say who may do what', async () => {
    await using all = await openButtons();
    const { run, checkRun } = await all.aRunThatIs('UNCONFIRMED');
    all.github.failNext({ pathPattern: /\/collaborators\/bob\/permission$/, status: 502 });

    const { deliveryId } = await all.github.pressButton(checkRun, 'confirm', 'bob');

    await eventually(async () =>
      expect(await all.inboxStore.find(deliveryId)).toMatchObject({
        state: 'pending',
        attempts: 1,
        note: 'github-unavailable: GitHub could not be asked what bob may do in acme/infra.',
      }),
    );
    expect(await all.stateOf(run)).toBe('UNCONFIRMED');
    all.clock.ms += 2000;
    all.worker.wake();
    expect(await all.settled({ deliveryId })).toMatchObject({ state: 'done' });
    expect(await all.stateOf(run)).toBe('CONFIRMED');
  });

  test('cannot confirm a tear-down, which wants the name of its stack', async () => {
    await using all = await openButtons();
    const { run, checkRun } = await all.aRunThatIs('UNCONFIRMED', 'DESTROY');
    const shown = { label: 'Confirm and apply', description: '', identifier: 'confirm' };

    // Not shown for this run: one that some other version of ours had left there.
    const sent = await all.github.pressButton({ ...checkRun, actions: [shown] }, 'confirm', 'ada');
    const outcome = await all.settled(sent);

    expect(outcome).toEqual(ignored('A tear-down is confirmed with the name of its stack.'));
    expect(await all.stateOf(run)).toBe('UNCONFIRMED');
  });
});

describe('retrying by a check run', () => {
  test('makes one run of the same commit, however often the delivery comes', async () => {
    await using all = await openButtons();
    const { run, checkRun } = await all.aRunThatIs('DISCARDED');

    const sent = await all.github.pressButton(checkRun, 'retry', 'bob');
    const { outcome, payload, tell } = await settledPress(all, sent);
    expect(await all.github.redeliver(sent.deliveryId)).toMatchObject({ status: 202 });
    // As after a crash between the run and the outcome of its delivery.
    const again = await tell();

    const [retried, ...others] = await all.allRuns();
    expect(others.map(({ id }) => id)).toEqual([run.id]);
    const { id } = payload['sender'] as { id: number };
    const { type, branch, commit } = run;
    expect(retried).toMatchObject({
      ...{ state: 'QUEUED', type, branch, commit },
      triggeredBy: `${id}+bob@users.noreply.github.com`,
    });
    expect(outcome).toEqual({ state: 'done', note: `bob retried run ${run.id}: run ${retried?.id}` });
    expect(again).toEqual({ state: 'done', note: `bob retried run ${run.id}: its run was made before` });
    expect((await all.runs.events(retried?.id ?? '')).map(({ actor }) => actor)).toEqual(['bob']);
  });

  test('makes another run with another press', async () => {
    await using all = await openButtons();
    const { checkRun } = await all.aRunThatIs('DISCARDED');

    await all.settled(await all.github.pressButton(checkRun, 'retry', 'bob'));
    await all.settled(await all.github.pressButton(checkRun, 'retry', 'bob'));

    expect(await all.allRuns()).toHaveLength(3);
  });

  test('is what "Re-run" means, for a run that is over', async () => {
    await using all = await openButtons();
    const { checkRun } = await all.aRunThatIs('DISCARDED');

    const sent = await all.github.rerequest(checkRun, 'bob');

    expect(await all.settled(sent)).toMatchObject({ state: 'done' });
    expect(await all.allRuns()).toHaveLength(2);
  });

  test('is refused while the run is not over, and to those who may not write', async () => {
    await using all = await openButtons();
    const { checkRun } = await all.aRunThatIs('UNCONFIRMED');

    const early = await all.github.rerequest(checkRun, 'bob');
    const reader = await all.github.rerequest(checkRun, 'rita');

    expect(await all.settled(early)).toEqual(
      ignored('The run is UNCONFIRMED; only a run that is over can be retried.'),
    );
    expect(await all.settled(reader)).toEqual(ignored('rita may not retry: needs the role writer'));
    expect(await all.allRuns()).toHaveLength(1);
  });
});

describe('a check run event is ignored', () => {
  async function pressed(all: All) {
    const { run, checkRun } = await all.aRunThatIs('UNCONFIRMED');
    // Refused, so that the run still waits for whoever comes.
    const press = await settledPress(all, await all.github.pressButton(checkRun, 'confirm', 'rita'));
    const bob = { id: 5, login: 'bob', type: 'User' };
    return {
      run,
      checkRun: press.payload['check_run'] as object,
      tell: (change: object) => press.tell({ sender: bob, ...change }, 'changed'),
    };
  }

  test('when the check run is of another App, or of no run that is known', async () => {
    await using all = await openButtons();
    const { run, checkRun, tell } = await pressed(all);
    const questions = () => all.github.requests.filter(({ path }) => path.endsWith('/permission')).length;
    const asked = questions();

    for (const app of [{ id: 8 }, null]) {
      const outcome = await tell({ check_run: { ...checkRun, app } });
      expect(outcome).toEqual(ignored('the check run is not of this App'));
    }
    for (const external_id of ['somebody-elses', '', null]) {
      const outcome = await tell({ check_run: { ...checkRun, external_id } });
      expect(outcome).toEqual(ignored('the repository has no such run'));
    }

    expect(await all.stateOf(run)).toBe('UNCONFIRMED');
    expect(questions()).toBe(asked);
  });

  test('when the run is of another repository', async () => {
    await using all = await openButtons();
    const shop = await all.github.addRepository({ owner: 'acme', name: 'shop' });
    all.github.setPermission(shop, 'bob', 'admin');
    const { run, tell } = await pressed(all);
    const owner = { id: shop.owner.id, login: 'acme' };
    const { id, fullName: full_name } = shop;

    const outcome = await tell({
      repository: { id, full_name, private: true, default_branch: 'main', owner },
    });

    expect(outcome).toEqual(ignored('the repository has no such run'));
    expect(await all.stateOf(run)).toBe('UNCONFIRMED');
  });

  test('when a bot sent it', async () => {
    await using all = await openButtons();
    const { run, tell } = await pressed(all);

    const outcome = await tell({ sender: { id: 5, login: 'robot[bot]', type: 'Bot' } });

    expect(outcome).toEqual(ignored('robot[bot] is not a person'));
    expect(await all.stateOf(run)).toBe('UNCONFIRMED');
  });

  test.each([
    ['apply', 'nothing is done for the button apply'],
    ['constructor', 'nothing is done for the button constructor'],
    [null, 'the payload names no button'],
  ])('when its button is %s', async (identifier, note) => {
    await using all = await openButtons();
    const { tell } = await pressed(all);

    expect(await tell({ requested_action: { identifier } })).toEqual(ignored(note));
  });

  test('when it only tells what we did ourselves', async () => {
    await using all = await openButtons();
    await all.aRunThatIs('QUEUED');

    await all.github.settled();
    const told = all.github.deliveries.find(({ event }) => event === 'check_run');

    expect(await all.settled({ deliveryId: told?.guid ?? '' })).toEqual(
      ignored('nothing is done for the action created'),
    );
  });
});

test('a press in a shape that GitHub does not document waits for a person', async () => {
  await using all = await openButtons();
  const body = Buffer.from('{"action":"requested_action","check_run":{"id":1}}');

  const outcome = await all.handle({
    id: 'odd',
    event: 'check_run',
    body,
    attempt: 1,
    lane: 'x',
    receivedAtMs: all.clock.ms,
  });

  expect(outcome.state).toBe('failed');
  expect(outcome.note).toMatch(/^payload not understood: sender: /);
});
