import { expect } from 'vitest';
import type { CheckRun } from '../../demo/github/check-run.ts';
import { createAuditLog } from '../../src/access/audit-log.ts';
import { createAccess } from '../../src/access/roles.ts';
import { createOffers } from '../../src/github/feedback/offers.ts';
import { createOutbox } from '../../src/github/feedback/outbox.ts';
import { createFeedbackReactor } from '../../src/github/feedback/reactor.ts';
import { createPermissions } from '../../src/github/permissions.ts';
import { createIds } from '../../src/ids.ts';
import { type Buttons, createButtons } from '../../src/runs/buttons.ts';
import { type CreateRun, createRunCommands } from '../../src/runs/commands.ts';
import { createOfferButton } from '../../src/runs/offer-button.ts';
import { createReruns, type Reruns } from '../../src/runs/reruns.ts';
import type { Run, RunCommand, RunType } from '../../src/runs/run.ts';
import { createTransitions } from '../../src/runs/transition.ts';
import type { StackSettings } from '../../src/stacks/stack.ts';
import { createAuditStore } from '../../src/storage/audit-store.ts';
import { createOutboxStore } from '../../src/storage/outbox-store.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { approvalParts } from '../support/approvals.ts';
import { aCommit, person, stackSettings } from '../support/builders.ts';
import { runsOfStack } from '../support/runs-of-stack.ts';
import { sendersOn } from './outbox-support.ts';
import { startReceiving } from './receiving.ts';
import { eventually, silent } from './support.ts';

const planned: RunCommand = {
  kind: 'planned',
  hasChanges: true,
  hasWarnings: false,
  hasApprovalPolicies: false,
  autodeploy: false,
  stackLocked: false,
};
const toUnconfirmed: readonly RunCommand[] = [
  { kind: 'make-ready' },
  { kind: 'claim' },
  { kind: 'prepared' },
  { kind: 'initialized' },
  planned,
];
/** How a run gets there that nobody but a test drives. */
const ways = {
  QUEUED: [],
  PREPARING: toUnconfirmed.slice(0, 2),
  UNCONFIRMED: toUnconfirmed,
  DISCARDED: [...toUnconfirmed, { kind: 'discard' }],
  /** Of a TRACKED run. */
  FINISHED: [...toUnconfirmed.slice(0, 4), { ...planned, hasChanges: false }],
  /** Of a PROPOSED one. */
  PREVIEWED: toUnconfirmed,
} satisfies Record<string, readonly RunCommand[]>;

interface NewPreview extends Partial<Pick<CreateRun, 'pullRequest' | 'isUntrusted'>> {
  readonly branch?: string;
  readonly from?: string;
}

/** Buttons from GitHub to the run and back: the way in, real runs without a worker, check runs on the stand-in. */
export async function openButtons() {
  // A press can only follow from what is made below.
  let buttons: Buttons;
  let offerButton: ReturnType<typeof createOfferButton>;
  let reruns: Reruns;
  const all = await startReceiving({
    onButton: (press) => buttons.press(press),
    onOffer: (press) => offerButton(press),
    onRerun: (request) => reruns.again(request),
  });
  const { app, budget, github, database, clock, inboxStore } = all;
  for (const login of ['bob', 'rita', 'mallory', 'root']) {
    github.addUser({ login, name: login, email: `${login}@example.com` });
  }
  const infra = await github.addRepository({ owner: 'acme', name: 'infra', files: { a: '1' } });
  const hash = await github.commit(infra, { branch: 'main', message: 'Two', files: { a: '2' } });
  github.setPermission(infra, 'ada', 'maintain');
  github.setPermission(infra, 'bob', 'write');
  github.setPermission(infra, 'rita', 'triage');

  const transactions = database;
  const box = createSecretBox(Buffer.alloc(32, 7));
  const stacks = createStackStore(database, box);
  const runs = createRunStore(database, box);
  const store = createOutboxStore(database);
  const newId = createIds(clock);
  const guards: string[] = [];
  const { gates, reviewing, reviews, approvalJobs } = approvalParts({
    ...{ database, clock, newId, runs, guardsOf: () => guards },
  });
  const outbox = createOutbox({
    ...{ app, budget, store, repositories: all.store, transactions, clock, logger: silent },
    senders: sendersOn(database, clock, gates),
  });
  const offers = createOffers({ store, clock, onWanted: () => outbox.wake() });
  const feedback = createFeedbackReactor({
    calmMs: 0,
    store,
    clock,
    publicUrl: () => 'https://slipway.example.com',
    isSandboxed: true,
    onWanted: () => outbox.wake(),
  });
  const reactors = [feedback, approvalJobs.reactor, offers.reactor];
  const transitions = createTransitions({ runs, stacks, reactors, clock });
  const commands = createRunCommands({ runs, stacks, transitions, gates, transactions, clock, newId });
  const access = createAccess({ admins: ['root'], permissions: createPermissions({ app, clock }) });
  const audit = createAuditLog({ store: createAuditStore(database), transactions, clock });
  const pressing = { runs, stacks, access, commands, reviewing, source: all.source, transactions, audit };
  buttons = createButtons(pressing);
  reruns = createReruns(pressing);
  offerButton = createOfferButton(pressing);
  outbox.start();

  await eventually(async () => expect(await all.store.find(infra.id)).not.toBeNull());
  const stack = { id: 'network-prod', accountId: infra.owner.id, repositoryId: infra.id };
  await database.write((tx) =>
    stacks.insert(tx, { key: 'stack-1', ...stack, settings: stackSettings(), createdAtMs: clock.nowMs() }),
  );

  async function shown(runId: string): Promise<CheckRun> {
    await eventually(async () => expect(await store.find(runId)).toMatchObject({ isSettled: true }));
    const checkRun = github.checkRuns.find(({ externalId }) => externalId === runId);
    if (!checkRun) throw new Error(`no check run for ${runId}`);
    // As a person has it on the screen, while GitHub's own goes on.
    return { ...checkRun };
  }

  async function drive(state: keyof typeof ways, change: Partial<CreateRun> & Pick<CreateRun, 'type'>) {
    const created = await commands.create({
      ...{ stackKey: 'stack-1', branch: 'main', commit: aCommit({ hash }) },
      ...{ by: person('ada'), dedupeKey: null, ...change },
    });
    if (created === 'duplicate') throw new Error('a duplicate without a key');
    let run: Run = created;
    for (const command of ways[state]) {
      const by = { actor: 'worker', note: null };
      const moved = await transactions.write((tx) => transitions.move(tx, run, command, by));
      if (moved.kind !== 'moved') throw new Error(`${run.state} does not take ${command.kind}`);
      run = moved.run;
    }
    return { run, checkRun: await shown(run.id) };
  }

  return {
    ...all,
    infra,
    /** Head of main, of which the runs are. */
    hash,
    runs,
    /** A run in that state, and its check run as it looks then. */
    aRunThatIs: (
      state: keyof typeof ways,
      type: RunType = 'TRACKED',
      change: Partial<Pick<CreateRun, 'branch' | 'commit'>> = {},
    ) => drive(state, { type, ...change }),
    /** Of a new branch with a commit of its own. */
    async aPreview({ branch = 'topic', from = 'main', ...change }: NewPreview = {}) {
      const commit = { branch, from, message: branch, files: { a: branch } };
      const head = aCommit({ hash: await github.commit(infra, commit) });
      return drive('PREVIEWED', { type: 'PROPOSED', branch, commit: head, ...change });
    },
    setStack: (change: Partial<StackSettings>) =>
      database.write((tx) => stacks.updateSettings(tx, 'stack-1', stackSettings(change))),
    shown,
    stacks,
    audit,
    /** "id version" of the approval policies of the stack. */
    guards,
    reviews,
    /** The check run of an offer of a commit to the stack. */
    async offered(commitHash: string, reason = 'a is below the project root') {
      const found = await stacks.findByKey('stack-1');
      if (!found) throw new Error('no stack');
      const commit = aCommit({ hash: commitHash });
      await database.write((tx) => offers.offer(tx, { stack: found, commit, reason }));
      return shown(`offer:stack-1:${commitHash}`);
    },
    stateOf: async (run: Run) => (await runs.find(run.id))?.state,
    allRuns: () => runsOfStack(database, 'stack-1'),
    /** What the inbox keeps of a delivery, once it is settled. */
    settled: ({ deliveryId }: { deliveryId: string }) =>
      eventually(async () => {
        const record = await inboxStore.find(deliveryId);
        expect(record?.state).toMatch(/^(done|ignored|failed)$/);
        return { state: record?.state, note: record?.note };
      }),
    async [Symbol.asyncDispose](): Promise<void> {
      await outbox[Symbol.asyncDispose]();
      await all[Symbol.asyncDispose]();
    },
  };
}
