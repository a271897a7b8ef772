import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { createAuditLog } from '../../../src/access/audit-log.ts';
import { createAccess } from '../../../src/access/roles.ts';
import { createPermissions } from '../../../src/github/permissions.ts';
import { createIds } from '../../../src/ids.ts';
import { createRunCommands } from '../../../src/runs/commands.ts';
import { type CommentCommands, createCommentCommands } from '../../../src/runs/comments/comment-commands.ts';
import type { CommandAnswer } from '../../../src/runs/conversation.ts';
import { isTerminal } from '../../../src/runs/run.ts';
import { createTransitions } from '../../../src/runs/transition.ts';
import type { StackSettings } from '../../../src/stacks/stack.ts';
import { createStacks } from '../../../src/stacks/stacks.ts';
import { createAnsweredComments } from '../../../src/storage/answered-comments.ts';
import { createAuditStore } from '../../../src/storage/audit-store.ts';
import { createRunStore } from '../../../src/storage/run-store.ts';
import { createSecretBox } from '../../../src/storage/secret-box.ts';
import { createStackStore } from '../../../src/storage/stack-store.ts';
import { approvalParts } from '../../support/approvals.ts';
import { stackSettings } from '../../support/builders.ts';
import { recordedConversation } from '../../support/recorded-conversation.ts';
import { runsOfStack } from '../../support/runs-of-stack.ts';
import { startReceiving } from '../receiving.ts';
import { eventually } from '../support.ts';

/**
 * Comments from GitHub to the run and back: the way in, permissions as the stand-in has them, real stores, no worker.
 * Pull request `number` of the branch `topic`, whose head is `head`, and the stack `network` that it concerns.
 */
export async function openCommands(options: { readonly isPublic?: boolean } = {}) {
  // A comment can only follow from what is made below.
  let commands: CommentCommands;
  const all = await startReceiving({ onComment: (comment) => commands.handle(comment) });
  const { app, github, database, clock, inboxStore } = all;
  for (const login of ['bob', 'rita', 'mallory', 'root']) {
    github.addUser({ login, name: login, email: `${login}@example.com` });
  }
  const infra = await github.addRepository({
    ...{ owner: 'acme', name: 'infra', files: { a: '1' }, private: !options.isPublic },
  });
  github.setPermission(infra, 'bob', 'write');
  github.setPermission(infra, 'rita', options.isPublic ? 'triage' : 'read');
  github.setPermission(infra, 'ada', 'admin');
  const head = await github.commit(infra, { branch: 'topic', message: 'Two', files: { a: '2' } });
  const { number } = await github.openPullRequest(infra, { head: 'topic', author: 'bob' });

  const { conversation, reactions, answers } = recordedConversation();
  const box = createSecretBox(randomBytes(32));
  const [stackStore, runs] = [createStackStore(database, box), createRunStore(database, box)];
  const transitions = createTransitions({ runs, stacks: stackStore, reactors: [], clock });
  const newId = createIds(clock);
  const parts = { transactions: database, clock, newId };
  const { gates, reviewing } = approvalParts({ database, clock, newId, runs });
  const runCommands = createRunCommands({ ...parts, runs, stacks: stackStore, transitions, gates });
  const stacks = createStacks({
    ...parts,
    ...{ store: stackStore, repositories: all.store, vendors: [], onUnlock: () => undefined },
    onRelabeled: async () => undefined,
    directory: { lookUp: () => Promise.reject(new Error('nobody makes stacks here')) },
  });
  const access = createAccess({ admins: ['root'], permissions: createPermissions({ app, clock }) });
  const audit = createAuditLog({ ...parts, store: createAuditStore(database) });
  commands = createCommentCommands({
    ...{ runs, stackStore, stacks, access, commands: runCommands, source: all.source, conversation },
    ...{ gates, reviewing },
    ...{ transactions: database, answered: createAnsweredComments(database), clock, audit },
    runUrl: (id) => `https://slipway.example/runs/${id}`,
  });

  await eventually(async () => expect(await all.store.find(infra.id)).not.toBeNull());
  async function addStack(id: string, change: Partial<StackSettings> = {}): Promise<void> {
    const settings = stackSettings({ name: id, promotion: true, ...change });
    const stack = { key: id, id, accountId: infra.owner.id, repositoryId: infra.id, settings };
    await database.write((tx) => stackStore.insert(tx, { ...stack, createdAtMs: clock.nowMs() }));
  }
  await addStack('network');

  /** What the inbox keeps of a delivery, once it is settled. */
  const settled = (deliveryId: string) =>
    eventually(async () => {
      const record = await inboxStore.find(deliveryId);
      expect(record?.state).toMatch(/^(done|ignored|failed)$/);
      return `${record?.state}: ${record?.note}`;
    });

  /** A run gets to its end as if a worker had done it. */
  async function finish(id: string): Promise<void> {
    const [by, plan] = [
      { actor: 'worker', note: null },
      { hasChanges: true, autodeploy: true },
    ];
    const planned = { ...plan, hasWarnings: false, hasApprovalPolicies: false, stackLocked: false };
    const kinds = ['make-ready', 'claim', 'prepared', 'initialized', 'planned', 'finish'] as const;
    for (const kind of kinds) {
      await database.write(async (tx) => {
        const run = await runs.find(id, tx);
        // A preview has come to its end with its plan.
        if (run && isTerminal(run.state)) return;
        const command = kind === 'planned' ? { kind, ...planned } : { kind };
        const moved = run && (await transitions.move(tx, run, command, by));
        if (moved?.kind !== 'moved') throw new Error(`${run?.state} does not take ${kind}`);
      });
    }
  }

  async function say(body: string, login = 'bob') {
    const { comment, deliveryId } = await github.comment(infra, number, { body, login });
    return { comment, deliveryId, note: await settled(deliveryId) };
  }

  return {
    ...all,
    ...{ infra, head, number, runs, stackStore, reactions, answers, addStack, settled, finish, say },
    /** Asks for a preview and lets it be done. */
    async preview(): Promise<void> {
      await say('/slipway preview');
      const [preview] = await runsOfStack(database, 'network');
      await finish(preview?.id ?? '');
    },
    /** The answer to a comment. */
    async ask(body: string, login = 'bob'): Promise<CommandAnswer> {
      const { comment, note } = await say(body, login);
      const answer = answers.find(({ commentId }) => commentId === comment.id);
      if (!answer) throw new Error(`no answer: ${note}`);
      return answer;
    },
    /** The first attempt of its delivery came to nothing; it is told why. */
    failedOnce: (deliveryId: string) =>
      eventually(async () => {
        const record = await inboxStore.find(deliveryId);
        expect(record).toMatchObject({ state: 'pending', attempts: 1 });
        expect(record?.note).toContain('GitHub');
        return record?.note;
      }),
    /** Lets time pass until the delivery has been tried often enough. */
    passUntilSettled: (deliveryId: string) =>
      eventually(async () => {
        clock.ms += 10_000;
        all.worker.wake();
        expect(await inboxStore.find(deliveryId)).toMatchObject({ state: 'done' });
      }),
    allRuns: (key = 'network') => runsOfStack(database, key),
    [Symbol.asyncDispose]: () => all[Symbol.asyncDispose](),
  };
}
