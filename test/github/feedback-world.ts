import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { createCommentWishes } from '../../src/github/feedback/comment/comment-wishes.ts';
import { createConversation } from '../../src/github/feedback/conversation.ts';
import { createDeploymentReactor } from '../../src/github/feedback/deployment.ts';
import { createIds } from '../../src/ids.ts';
import { createRunCommands } from '../../src/runs/commands.ts';
import type { CommandAnswer } from '../../src/runs/conversation.ts';
import type { Run, RunCommand, RunType } from '../../src/runs/run.ts';
import type { RunChange } from '../../src/runs/run-store.ts';
import { createTransitions } from '../../src/runs/transition.ts';
import type { StackSettings } from '../../src/stacks/stack.ts';
import { createRunStore } from '../../src/storage/run-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { createStackStore } from '../../src/storage/stack-store.ts';
import { approvalParts } from '../support/approvals.ts';
import { aCommit, aPullRequest, person, stackSettings } from '../support/builders.ts';
import { openOutbox } from './outbox-support.ts';
import { eventually } from './support.ts';

const planned = (autodeploy: boolean, hasChanges = true): RunCommand => ({
  ...{ kind: 'planned', hasChanges, autodeploy },
  ...{ hasWarnings: false, hasApprovalPolicies: false, stackLocked: false },
});
const toPlanning: readonly RunCommand[] = [
  ...([{ kind: 'make-ready' }, { kind: 'claim' }, { kind: 'prepared' }, { kind: 'initialized' }] as const),
];
/** How a run gets there that nobody but a test drives. */
const ways = {
  PLANNING: toPlanning,
  planned: [...toPlanning, planned(false)],
  'nothing-to-change': [...toPlanning, planned(false, false)],
  APPLYING: [...toPlanning, planned(true)],
} satisfies Record<string, readonly RunCommand[]>;

/** Real runs without a worker, the rows that follow from their states, and a pull request on the stand-in. */
export async function openFeedback() {
  const all = await openOutbox();
  const { database, store, clock, github, infra, repository, repositories } = all;
  github.addUser({ login: 'bob', name: 'Bob', email: 'bob@example.com' });
  github.setPermission(infra, 'bob', 'write');
  const push = (message: string) =>
    github.commitAndPush(infra, { branch: 'topic', message, files: { b: message }, pusher: 'bob' });
  const { sha: hash } = await push('One');
  const { number } = await github.openPullRequest(infra, { head: 'topic', author: 'bob' });

  const box = createSecretBox(randomBytes(32));
  const [stacks, runs] = [createStackStore(database, box), createRunStore(database, box)];
  const parts = { store, clock, onWanted: () => all.outbox().wake() };
  const comments = createCommentWishes({ ...parts, runs, transactions: database });
  const wordsOf = (answer: CommandAnswer) => (answer.kind === 'misunderstood' ? answer.reason : answer.kind);
  const conversation = createConversation({
    ...{ ...parts, comments, answerText: wordsOf },
    isPatient: (answer) => wordsOf(answer).startsWith('Soon'),
  });
  const reactors = [comments.reactor, createDeploymentReactor(parts)];
  const transitions = createTransitions({ runs, stacks, reactors, clock });
  const newId = createIds(clock);
  const { gates } = approvalParts({ database, clock, newId, runs });
  const of = { transactions: database, gates, clock, newId };
  const commands = createRunCommands({ runs, stacks, transitions, ...of });
  await database.write(async (tx) => {
    const account = { id: infra.owner.id, login: 'acme', installationId: repository.installationId };
    await repositories.saveAccount(tx, { ...account, suspended: false });
    await repositories.saveRepository(tx, repository);
  });

  const place = { repositoryId: repository.id, number };
  return {
    ...all,
    ...{ runs, number, place, hash, push, comments, conversation },
    commentItem: `pull-request:${repository.id}:${number}`,
    async addStack(id: string, change: Partial<StackSettings> = {}): Promise<void> {
      const settings = stackSettings({ name: id, ...change });
      const stack = { key: id, id, accountId: infra.owner.id, repositoryId: repository.id, settings };
      await database.write((tx) => stacks.insert(tx, { ...stack, createdAtMs: clock.nowMs() }));
    },
    changeSettings: (key: string, change: Partial<StackSettings>) =>
      database.write((tx) => stacks.updateSettings(tx, key, stackSettings({ name: key, ...change }))),
    async addRun(stackKey: string, type: RunType = 'PROPOSED', commit = hash): Promise<Run> {
      const run = await commands.create({
        ...{ stackKey, type, commit: aCommit({ hash: commit }) },
        branch: type === 'PROPOSED' ? 'topic' : 'main',
        ...{ pullRequest: aPullRequest({ number }), by: person('ada'), dedupeKey: null },
      });
      if (run === 'duplicate') throw new Error('a duplicate without a key');
      return run;
    },
    /** Drives the run on, the last step with that change. */
    async move(
      run: Run,
      way: keyof typeof ways | RunCommand,
      change: Omit<RunChange, 'state' | 'note'> = {},
    ) {
      let current = (await runs.find(run.id)) ?? run;
      const steps = typeof way === 'string' ? ways[way] : [way];
      for (const [index, command] of steps.entries()) {
        const isIdle = command.kind === 'planned' && !command.hasChanges;
        const by = { actor: 'worker', note: isIdle ? 'nothing to change' : null };
        const details = index === steps.length - 1 ? { ...by, change } : by;
        const moved = await database.write((tx) => transitions.move(tx, current, command, details));
        if (moved.kind !== 'moved') throw new Error(`${current.state} does not take ${command.kind}`);
        current = moved.run;
      }
      return current;
    },
    answer(reason: string) {
      const answer = { commentId: 1, by: 'bob', verb: null, glob: null, didYouMean: null, reason } as const;
      return database.write((tx) => conversation.answer(tx, place, { kind: 'misunderstood', ...answer }));
    },
    /** What the App wrote, as it is now. */
    written: () => github.comments.filter(({ author }) => author.login === 'slipway[bot]'),
    /** All that it ever said. */
    said: () => github.comments.flatMap(({ history }) => history),
    requestsTo: (method: string, path: RegExp) =>
      github.requests.filter((request) => request.method === method && path.test(request.path)),
    async fails(id: string) {
      await eventually(async () => expect((await store.find(id))?.attempts).toBeGreaterThan(0));
    },
  };
}
