import { describe, expect, test } from 'vitest';
import type { RunState, RunType } from '../../src/runs/run.ts';
import type { Frozen, NewRun, RunStore } from '../../src/runs/run-store.ts';
import type { Transactions } from '../../src/tx.ts';
import { aCommit, aPullRequest, stackSettings } from '../support/builders.ts';

export interface OpenedRunStore extends AsyncDisposable {
  readonly runs: RunStore;
  readonly transactions: Transactions;
  /** Makes a stack of the repository (of the same one, unless given), gives its key. */
  addStack(repositoryId?: number): Promise<string>;
  /** Everything the database keeps on disk. */
  atRest(): Buffer | Promise<Buffer>;
}

/** What every store of runs must do. */
export function runStoreContract(name: string, open: () => Promise<OpenedRunStore>): void {
  async function opened() {
    const world = await open();
    const { runs, transactions } = world;
    const stackKey = await world.addStack();
    let made = 0;
    const insert = (change: Partial<NewRun> = {}) => {
      made += 1;
      const id = `run-${String(made).padStart(4, '0')}`;
      return transactions.write((tx) => runs.insert(tx, aNewRun({ id, stackKey, dedupeKey: id, ...change })));
    };
    const add = (type: RunType, ...states: RunState[]) => addAs({ type }, ...states);
    const addAs = async (change: Partial<NewRun>, ...states: RunState[]) => {
      const run = await insert(change);
      if (run === 'duplicate') throw new Error('cannot be');
      let version = 1;
      for (const state of states) {
        const changed = await transactions.write((tx) =>
          runs.change(tx, run.id, version, { state, note: null }),
        );
        if (changed === null || changed === 'blocked') throw new Error(`${state} was refused`);
        version = changed.stateVersion;
      }
      return run.id;
    };
    const change = (id: string, version: number, state: RunState) =>
      transactions.write((tx) => runs.change(tx, id, version, { state, note: null }));
    const write = transactions.write.bind(transactions);
    const savePlan = async (id: string, plan: Parameters<RunStore['sealPlan']>[1]) => {
      const sealed = await runs.sealPlan(id, plan);
      await write((tx) => runs.savePlan(tx, sealed));
    };
    const close = () => world[Symbol.asyncDispose]();
    return { ...world, stackKey, insert, add, addAs, change, write, savePlan, [Symbol.asyncDispose]: close };
  }
  type World = Awaited<ReturnType<typeof opened>>;

  describe(`the run store on ${name}`, () => {
    test('keeps a run as it was made', async () => {
      await using world = await opened();
      const made = await world.insert({ type: 'TASK', command: 'pulumi refresh', priority: 3 });

      expect(made).toMatchObject({
        type: 'TASK',
        state: 'QUEUED',
        stateVersion: 1,
        command: 'pulumi refresh',
        priority: 3,
        restarts: 0,
        hadWorker: false,
        commit: aCommit(),
      });
      expect(await world.runs.find('run-0001')).toEqual(made);
      expect(await world.runs.find('run-none')).toBeNull();
    });

    test('makes one run of a stack for what started it, however often that is told', async () => {
      await using world = await opened();
      const otherStack = await world.addStack();

      expect(await world.insert({ dedupeKey: 'push:1' })).toMatchObject({ id: 'run-0001' });
      expect(await world.insert({ dedupeKey: 'push:1' })).toBe('duplicate');
      expect(await world.insert({ dedupeKey: 'push:1', stackKey: otherStack })).toMatchObject({
        state: 'QUEUED',
      });
    });

    test('changes a run for whoever knows its version, with everything that goes with the state', async () => {
      await using world = await opened();
      const id = await world.add('TRACKED', 'READY', 'PREPARING');

      const changed = await world.write((tx) =>
        world.runs.change(tx, id, 3, {
          state: 'UNCONFIRMED',
          note: 'please look',
          outcome: 'timeout',
          delta: { added: 1, changed: 2, deleted: 3, resources: 4 },
          planDigest: 'ab'.repeat(32),
          planLikeness: 'cd'.repeat(32),
          changesDigest: 'ef'.repeat(32),
          restarts: 1,
          hadWorker: true,
        }),
      );

      expect(changed).toMatchObject({
        state: 'UNCONFIRMED',
        stateVersion: 4,
        note: 'please look',
        outcome: 'timeout',
        delta: { added: 1, changed: 2, deleted: 3, resources: 4 },
        planDigest: 'ab'.repeat(32),
        planLikeness: 'cd'.repeat(32),
        changesDigest: 'ef'.repeat(32),
        restarts: 1,
        hadWorker: true,
      });
      expect(await world.runs.find(id)).toEqual(changed);
    });

    test('keeps what a later change does not name, but for the note', async () => {
      await using world = await opened();
      const id = await world.add('TRACKED', 'READY');
      const delta = { added: 1, changed: 0, deleted: 0, resources: 1 };
      await world.write((tx) =>
        world.runs.change(tx, id, 2, { state: 'PREPARING', note: 'n', delta, hadWorker: true }),
      );

      const later = await world.change(id, 3, 'INITIALIZING');

      expect(later).toMatchObject({ delta, hadWorker: true });
      expect(later).not.toHaveProperty('note');
    });

    test('changes nothing for whoever is late', async () => {
      await using world = await opened();
      const id = await world.add('TRACKED', 'READY');

      expect(await world.change(id, 1, 'CANCELED')).toBeNull();
      expect(await world.change('run-none', 1, 'CANCELED')).toBeNull();

      expect(await world.runs.find(id)).toMatchObject({ state: 'READY', stateVersion: 2 });
    });

    test('lets one of two win who change the same run at once', async () => {
      await using world = await opened();
      const id = await world.add('TRACKED', 'READY', 'PREPARING', 'UNCONFIRMED');

      const answers = await Promise.all([world.change(id, 4, 'CONFIRMED'), world.change(id, 4, 'DISCARDED')]);

      expect(answers.filter((answer) => answer === null)).toHaveLength(1);
    });

    test('shows a transaction its own changes, and others only what is committed', async () => {
      await using world = await opened();
      const id = await world.add('TRACKED');

      await world.write(async (tx) => {
        await world.runs.change(tx, id, 1, { state: 'READY', note: null });
        expect(await world.runs.find(id, tx)).toMatchObject({ state: 'READY' });
      });

      expect(await world.runs.find(id)).toMatchObject({ state: 'READY' });
    });

    mutex(opened);
    lists(opened);
    details(opened);
    secrets(opened);
  });

  function mutex(open: () => Promise<World>): void {
    const active: readonly RunState[] = [
      'READY',
      'PREPARING',
      'INITIALIZING',
      'PLANNING',
      'PENDING_REVIEW',
      'UNCONFIRMED',
      'CONFIRMED',
      'PREPARING_APPLY',
      'APPLYING',
      'DESTROYING',
      'PERFORMING',
    ];

    test('blocks a second blocking run of a stack in every state that a worker or a person holds', async () => {
      await using world = await open();
      const first = await world.add('TRACKED', 'READY');
      const others = await Promise.all([world.add('TASK'), world.add('DESTROY'), world.add('TRACKED')]);
      let version = 2;

      for (const state of active) {
        const moved = await world.change(first, version, state);
        expect(moved).toMatchObject({ state });
        version += 1;
        for (const id of others) {
          expect([state, await world.change(id, 1, 'READY')]).toEqual([state, 'blocked']);
        }
      }
    });

    test.each<RunState>(['FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED'])(
      'lets the next run go once the one before is %s',
      async (state) => {
        await using world = await open();
        await world.add('TRACKED', 'READY', 'PREPARING', state);
        const next = await world.add('DESTROY');

        expect(await world.change(next, 1, 'READY')).toMatchObject({ state: 'READY' });
      },
    );

    test('blocks neither previews nor runs of another stack', async () => {
      await using world = await open();
      await world.add('TRACKED', 'READY', 'PREPARING');
      const stackKey = await world.addStack();
      const elsewhere = await world.insert({ stackKey, type: 'TRACKED' });
      if (elsewhere === 'duplicate') throw new Error('cannot be');

      const preview = await world.add('PROPOSED', 'READY', 'PREPARING');
      await world.add('PROPOSED', 'READY', 'PREPARING');

      expect(await world.runs.find(preview)).toMatchObject({ state: 'PREPARING' });
      expect(await world.change(elsewhere.id, 1, 'READY')).toMatchObject({ state: 'READY' });
    });

    test('leaves the transaction usable after it blocked', async () => {
      await using world = await open();
      await world.add('TRACKED', 'READY');
      const waiting = await world.add('TRACKED');

      await world.write(async (tx) => {
        expect(await world.runs.change(tx, waiting, 1, { state: 'READY', note: null })).toBe('blocked');
        await world.runs.setPriority(tx, waiting, 7);
      });

      expect(await world.runs.find(waiting)).toMatchObject({ state: 'QUEUED', priority: 7 });
    });
  }

  function lists(open: () => Promise<World>): void {
    test('names all runs of a stack, over or not', async () => {
      await using world = await open();
      const otherStack = await world.addStack();
      await world.insert({ stackKey: otherStack });
      const over = await world.add('TRACKED', 'CANCELED');
      const waiting = await world.add('PROPOSED');

      const ids = await world.write((tx) => world.runs.idsOfStack(tx, world.stackKey));

      expect([...ids].sort()).toEqual([over, waiting].sort());
      expect(await world.write((tx) => world.runs.idsOfStack(tx, 'no-stack'))).toEqual([]);
    });

    test('finds the newest run of a type, over or not', async () => {
      await using world = await open();
      await world.add('TRACKED');
      const newest = await world.add('TRACKED', 'CANCELED');
      await world.add('PROPOSED');

      expect((await world.runs.newestOfType(world.stackKey, 'TRACKED'))?.id).toBe(newest);
      expect(await world.runs.newestOfType(world.stackKey, 'DESTROY')).toBeNull();
    });

    test('finds the newest run of a type that finished', async () => {
      await using world = await open();
      await world.add('TRACKED', 'READY', 'FINISHED');
      const newest = await world.add('TRACKED', 'READY', 'FINISHED');
      await world.add('TRACKED', 'READY', 'FAILED');
      await world.add('PROPOSED', 'READY', 'FINISHED');

      expect((await world.runs.newestFinished(world.stackKey, 'TRACKED'))?.id).toBe(newest);
      expect(await world.runs.newestFinished(world.stackKey, 'DESTROY')).toBeNull();
      expect(await world.runs.newestFinished('no-stack', 'TRACKED')).toBeNull();
    });

    test('finds what is not over, oldest first', async () => {
      await using world = await open();
      const first = await world.add('TRACKED', 'READY');
      await world.add('TRACKED', 'CANCELED');
      const second = await world.add('PROPOSED');

      expect((await world.runs.unfinished(world.stackKey)).map(({ id }) => id)).toEqual([first, second]);
    });

    test('tells runs that get secrets from those that do not', async () => {
      await using world = await open();
      const { runs, stackKey } = world;
      const commit = aCommit({ hash: 'a1' });
      const trusted = await world.addAs({ type: 'PROPOSED', commit });
      const untrusted = await world.addAs({ type: 'PROPOSED', commit, isUntrusted: true });
      await world.addAs({ type: 'PROPOSED', commit: aCommit({ hash: 'b2' }), isUntrusted: true });

      expect(await runs.newestOfCommit(stackKey, 'PROPOSED', 'a1', 'any')).toMatchObject({
        ...{ id: untrusted, isUntrusted: true },
      });
      const other = await runs.newestOfCommit(stackKey, 'PROPOSED', 'a1', 'trusted');
      expect(other?.id).toBe(trusted);
      expect(other).not.toHaveProperty('isUntrusted');
      expect(await runs.newestOfCommit(stackKey, 'PROPOSED', 'b2', 'trusted')).toBeNull();
    });

    test('keeps the pull request of a run, from the beginning or from later on', async () => {
      await using world = await open();
      const pullRequest = aPullRequest({ title: 'Ünïcode "quoted"\n' });
      const made = await world.insert({ pullRequest });
      const later = await world.add('PROPOSED', 'READY');
      const other = await world.add('PROPOSED');

      await world.write((tx) => world.runs.setPullRequest(tx, later, aPullRequest({ number: 1 })));
      await world.write((tx) => world.runs.setPullRequest(tx, later, pullRequest));

      expect(made).toMatchObject({ pullRequest });
      expect(await world.runs.find(later)).toMatchObject({ pullRequest, state: 'READY', stateVersion: 2 });
      expect(await world.runs.find(other)).not.toHaveProperty('pullRequest');
    });

    test('finds the runs of a pull request over all stacks of its repository, newest first', async () => {
      await using world = await open();
      const { runs } = world;
      const stackKey = await world.addStack();
      const pullRequest = aPullRequest({ number: 4 });
      const first = await world.addAs({ type: 'PROPOSED', pullRequest }, 'CANCELED');
      const second = await world.addAs({ type: 'TRACKED', pullRequest, stackKey });
      await world.addAs({ type: 'PROPOSED', pullRequest: aPullRequest({ number: 5 }) });
      await world.addAs({ type: 'PROPOSED', pullRequest, stackKey: await world.addStack(22) });
      const later = await world.add('PROPOSED');
      await world.write((tx) => runs.setPullRequest(tx, later, pullRequest));

      const ids = async (repositoryId: number, number: number) =>
        (await runs.ofPullRequest(repositoryId, number)).map(({ id }) => id);

      expect(await ids(21, 4)).toEqual([later, second, first]);
      expect(await ids(22, 4)).toHaveLength(1);
      expect(await ids(21, 6)).toEqual([]);
      await world.write((tx) => runs.setPullRequest(tx, later, aPullRequest({ number: 6 })));
      expect(await ids(21, 6)).toEqual([later]);
      expect(await ids(21, 4)).toEqual([second, first]);
    });

    test('gives no more of a pull request than can be shown', async () => {
      await using world = await open();
      const pullRequest = aPullRequest({ number: 4 });
      for (let made = 0; made < 501; made += 1) await world.addAs({ type: 'PROPOSED', pullRequest });

      const all = await world.runs.ofPullRequest(21, 4);

      expect(all).toHaveLength(500);
      expect(all[0]?.id).toBe('run-0501');
    });

    test('finds the newest run of a pull request by its type, its time and whether it is over', async () => {
      await using world = await open();
      const { runs, stackKey } = world;
      const pullRequest = aPullRequest({ number: 4 });
      const made = (type: RunType, createdAtMs: number, ...states: RunState[]) =>
        world.addAs({ type, pullRequest, createdAtMs }, ...states);
      const old = await made('PROPOSED', 1000, 'CANCELED');
      const middle = await made('PROPOSED', 2000, 'READY');
      const tracked = await made('TRACKED', 3000);
      await world.addAs({ type: 'PROPOSED', pullRequest: aPullRequest({ number: 5 }), createdAtMs: 1 });

      const newest = async (which: Parameters<RunStore['newestOfPullRequest']>[2], number = 4) =>
        (await runs.newestOfPullRequest(stackKey, number, which))?.id ?? null;

      expect(await newest({})).toBe(tracked);
      expect(await newest({ type: 'PROPOSED' })).toBe(middle);
      expect(await newest({ createdBeforeMs: 3000 })).toBe(middle);
      expect(await newest({ createdBeforeMs: 2000 })).toBe(old);
      expect(await newest({ createdBeforeMs: 1000 })).toBeNull();
      expect(await newest({ isOver: true })).toBe(old);
      expect(await newest({ type: 'TRACKED', isOver: true })).toBeNull();
      expect(await newest({}, 6)).toBeNull();
      expect(await runs.newestOfPullRequest('no-stack', 4, {})).toBeNull();
    });

    test('finds the newest run of a commit and of a branch, of one type', async () => {
      await using world = await open();
      const old = await world.addAs({ type: 'PROPOSED', commit: aCommit({ hash: 'a1' }) }, 'CANCELED');
      const other = await world.addAs({ type: 'PROPOSED', branch: 'topic' });
      await world.addAs({ type: 'TRACKED', commit: aCommit({ hash: 'a1' }), branch: 'topic' }, 'CANCELED');
      const { runs, stackKey } = world;

      expect((await runs.newestOfCommit(stackKey, 'PROPOSED', 'a1', 'any'))?.id).toBe(old);
      expect(await runs.newestOfCommit(stackKey, 'PROPOSED', 'b2', 'any')).toBeNull();
      expect(await runs.newestOfCommit('another', 'PROPOSED', 'a1', 'any')).toBeNull();
      expect((await runs.newestOfBranch(stackKey, 'PROPOSED', 'topic'))?.id).toBe(other);
      expect(await runs.newestOfBranch(stackKey, 'TRACKED', 'main')).toBeNull();
    });

    test('knows who blocks a stack, who is next, and which previews wait', async () => {
      await using world = await open();
      const { runs, stackKey } = world;
      expect(await runs.activeRun(stackKey)).toBeNull();
      expect(await runs.firstQueued(stackKey, null)).toBeNull();
      await world.add('TRACKED', 'FINISHED');
      const active = await world.add('TASK', 'UNCONFIRMED');
      const preview = await world.add('PROPOSED');
      const first = await world.add('TRACKED');
      const bobs = await world.addAs({ type: 'DESTROY', startedBy: 'person:bob' });
      const busy = await world.addAs({ type: 'PROPOSED', branch: 'topic' }, 'PLANNING');

      expect((await runs.activeRun(stackKey))?.id).toBe(active);
      expect((await runs.firstQueued(stackKey, null))?.id).toBe(first);
      expect((await runs.firstQueued(stackKey, 'person:bob'))?.id).toBe(bobs);
      expect(await runs.firstQueued(stackKey, 'person:eve')).toBeNull();
      await world.write((tx) => runs.setPriority(tx, bobs, 1));
      expect((await runs.firstQueued(stackKey, null))?.id).toBe(bobs);
      expect((await runs.queuedPreviews(stackKey)).map(({ id }) => id)).toEqual([preview]);
      expect((await runs.unfinishedPreviews(stackKey, 'topic')).map(({ id }) => id)).toEqual([busy]);
      expect(await runs.stacksWithQueued()).toEqual([stackKey]);
      expect([await runs.countQueued(stackKey), await runs.countQueued('another')]).toEqual([2, 0]);
    });

    test('finds runs of all stacks by their state', async () => {
      await using world = await open();
      const waiting = await world.add('TRACKED');
      const ready = await world.add('PROPOSED', 'READY');
      await world.add('PROPOSED', 'CANCELED');

      expect((await world.runs.inState(['QUEUED', 'READY'])).map(({ id }) => id)).toEqual([waiting, ready]);
      expect(await world.runs.inState(['APPLYING'])).toEqual([]);
    });
  }

  function details(open: () => Promise<World>): void {
    test('keeps the events of a run in order, one for each version', async () => {
      await using world = await open();
      const id = await world.add('TRACKED');
      const event = (stateVersion: number, state: RunState, actor: string) => ({
        ...{ state, stateVersion, actor },
        timestampMs: 1000 + stateVersion,
        note: stateVersion === 2 ? 'a note' : null,
      });
      await world.write((tx) => world.runs.insertEvent(tx, id, event(1, 'QUEUED', 'ada')));
      await world.write((tx) => world.runs.insertEvent(tx, id, event(2, 'READY', 'server')));

      const again = world.write((tx) => world.runs.insertEvent(tx, id, event(2, 'READY', 'server')));

      await expect(again).rejects.toThrow();
      expect(await world.runs.events(id)).toEqual([event(1, 'QUEUED', 'ada'), event(2, 'READY', 'server')]);
      expect(await world.runs.eventsAfter(id, 1)).toEqual([event(2, 'READY', 'server')]);
      expect(await world.runs.eventsAfter(id, 2)).toEqual([]);
    });

    test('knows the newest of the runs that are serialised, of all types together', async () => {
      await using world = await opened();
      const { runs, stackKey } = world;
      const oldest = await world.add('TRACKED', 'FINISHED');
      const task = await world.add('TASK', 'FAILED');
      await world.add('PROPOSED', 'FINISHED');
      const tearDown = await world.add('DESTROY', 'CANCELED');
      await world.addAs({ type: 'TRACKED', stackKey: await world.addStack() });
      const newest = await world.add('TRACKED');
      const ids = async (limit: number) => (await runs.newestBlocking(stackKey, limit)).map(({ id }) => id);

      expect(await ids(9)).toEqual([newest, tearDown, task, oldest]);
      expect(await ids(2)).toEqual([newest, tearDown]);
      expect(await world.write((tx) => runs.newestBlocking(stackKey, 1, tx))).toMatchObject([{ id: newest }]);
    });

    test.each([
      { kind: 'state-locked', lockId: null, holder: 'é@host, process 1', sinceMs: 5 },
      { kind: 'pending-operations', operations: [{ op: 'creating', urn: 'urn:é' }] },
    ] as const)('keeps what a run found the state to be in: $kind', async (trouble) => {
      await using world = await opened();
      const id = await world.add('TRACKED');
      expect((await world.runs.find(id))?.trouble).toBeUndefined();

      await world.write((tx) => world.runs.change(tx, id, 1, { state: 'FAILED', note: null, trouble }));

      expect((await world.runs.find(id))?.trouble).toEqual(trouble);
    });

    test('keeps the commands of a run in the order in which they ran', async () => {
      await using world = await open();
      const id = await world.add('TRACKED');
      const command = (label: string, exitCode: number | null) => ({
        ...{ phase: 'planning', label, exitCode },
        argv: ['bash', '-c', label],
        startedAtMs: 5,
        durationMs: 7,
      });
      const records = [command('npm ci', 0), command('pulumi preview', null)] as const;
      for (const record of records) {
        await world.write((tx) => world.runs.addCommand(tx, id, { ...record, phase: 'planning' }));
      }

      expect(await world.runs.commands(id)).toEqual(records);
    });

    test('keeps the latest plan of a run, its steps as they were given', async () => {
      await using world = await open();
      const id = await world.add('TRACKED');
      const steps = [{ op: 'create', urn: 'urn:é', new: { inputs: { text: 'x'.repeat(5000) } }, old: null }];
      expect(await world.runs.plan(id)).toBeNull();
      expect(await world.runs.planFile(id)).toBeNull();

      await world.savePlan(id, { hasChanges: false, steps: [], file: Buffer.of(9) });
      await world.savePlan(id, { hasChanges: true, steps, file: null });

      expect(await world.runs.plan(id)).toEqual({ hasChanges: true, steps });
      expect(await world.runs.planFile(id)).toBeNull();

      const marks = [{ urn: 'urn:é', replacedFor: ['text'], isProtected: true }];
      await world.savePlan(id, { hasChanges: true, steps, marks, file: null });
      expect(await world.runs.plan(id)).toEqual({ hasChanges: true, steps, marks });
    });

    test('keeps the document of a plan apart from it', async () => {
      await using world = await open();
      const id = await world.add('TRACKED');
      const document = { name: 'tool', content: { changes: [{ name: 'é', value: null }] } };
      expect(await world.runs.planDocument(id)).toBeNull();

      await world.savePlan(id, { hasChanges: true, steps: [], document, file: null });
      expect(await world.runs.planDocument(id)).toEqual(document);
      expect(await world.runs.plan(id)).toEqual({ hasChanges: true, steps: [] });

      await world.savePlan(id, { hasChanges: true, steps: [], file: null });
      expect(await world.runs.planDocument(id)).toBeNull();
    });

    test('knows one plan of a run from the next', async () => {
      await using world = await open();
      const id = await world.add('TRACKED');
      expect(await world.runs.planVersion(id)).toBeNull();
      const plan = { hasChanges: true, steps: [{ op: 'create' }], file: null };

      await world.savePlan(id, plan);
      const first = await world.runs.planVersion(id);
      expect(await world.runs.planVersion(id)).toBe(first);
      expect(await world.runs.plan(id)).toEqual({ hasChanges: true, steps: plan.steps });
      await world.savePlan(id, plan);

      expect(await world.runs.planVersion(id)).not.toBe(first);
    });

    test('reads a plan once for all that ask for it at one time', async () => {
      await using world = await open();
      const id = await world.add('TRACKED');
      await world.savePlan(id, { hasChanges: true, steps: [{ op: 'create' }], file: null });

      const [one, other] = await Promise.all([world.runs.plan(id), world.runs.plan(id)]);
      expect(one?.steps).toBe(other?.steps);
    });
  }

  function secrets(open: () => Promise<World>): void {
    const secret = 'correct-horse-battery-staple';
    const frozen: Frozen = {
      settings: stackSettings(),
      variables: [{ name: 'TOKEN', value: secret, secret: true, access: 'all' }],
      exports: { SESSION: `${secret}-session` },
    };

    test('gives back what a run was frozen with, to reads and inside a transaction', async () => {
      await using world = await open();
      const id = await world.add('TRACKED');
      expect(await world.runs.frozen(id)).toBeNull();

      await world.write((tx) => world.runs.saveFrozen(tx, id, { ...frozen, exports: {} }));
      await world.write(async (tx) => {
        await world.runs.saveFrozen(tx, id, frozen);
        expect(await world.runs.frozen(id, tx)).toEqual(frozen);
      });

      expect(await world.runs.frozen(id)).toEqual(frozen);
    });

    test('keeps neither environment nor plan file on disk in plain text', async () => {
      await using world = await open();
      const id = await world.add('TRACKED');
      const file = Buffer.from(`{"plan":"${secret}"}`);
      await world.write((tx) => world.runs.saveFrozen(tx, id, frozen));
      await world.savePlan(id, { hasChanges: true, steps: [], file });

      expect(await world.runs.planFile(id)).toEqual(file);
      const disk = await world.atRest();
      expect(disk.includes(id)).toBe(true);
      expect(disk.includes(secret)).toBe(false);
    });

    test('forgets the secrets of a run that is over, and keeps what people look at', async () => {
      await using world = await open();
      const id = await world.add('TRACKED');
      await world.write((tx) => world.runs.saveFrozen(tx, id, frozen));
      await world.savePlan(id, { hasChanges: true, steps: [{ op: 'same' }], file: Buffer.of(1) });

      await world.write((tx) => world.runs.forgetSecrets(tx, id));

      expect(await world.runs.frozen(id)).toBeNull();
      expect(await world.runs.planFile(id)).toBeNull();
      expect(await world.runs.plan(id)).toEqual({ hasChanges: true, steps: [{ op: 'same' }] });
    });

    test('keeps nothing of a transaction that failed', async () => {
      await using world = await open();
      const id = await world.add('TRACKED');
      const failing = world.write(async (tx) => {
        await world.runs.change(tx, id, 1, { state: 'READY', note: null });
        await world.runs.saveFrozen(tx, id, frozen);
        throw new Error('a reactor failed');
      });
      await expect(failing).rejects.toThrow('a reactor failed');

      expect(await world.runs.find(id)).toMatchObject({ state: 'QUEUED', stateVersion: 1 });
      expect(await world.runs.frozen(id)).toBeNull();
    });
  }
}

function aNewRun(change: Partial<NewRun>): NewRun {
  return {
    id: 'run-0001',
    stackKey: 'stack',
    type: 'TRACKED',
    branch: 'main',
    commit: aCommit(),
    createdAtMs: 1_795_000_000_000,
    triggeredBy: 'ada@example.com',
    startedBy: 'person:ada',
    priority: 0,
    dedupeKey: 'push:1',
    ...change,
  };
}
