import { expect } from 'vitest';
import type { Role } from '../../../src/access/actor.ts';
import { createAuditLog } from '../../../src/access/audit-log.ts';
import { createAccess } from '../../../src/access/roles.ts';
import { parseCommand } from '../../../src/github/comments/parse-command.ts';
import type { CommentedPullRequest } from '../../../src/runs/comments/comment.ts';
import { createCommentCommands } from '../../../src/runs/comments/comment-commands.ts';
import type { CommandAnswer, StackOutcome } from '../../../src/runs/conversation.ts';
import type { Run, RunType } from '../../../src/runs/run.ts';
import type { PullRequestContent } from '../../../src/stacks/pull-request.ts';
import type { Stack, StackSettings } from '../../../src/stacks/stack.ts';
import { createAnsweredComments } from '../../../src/storage/answered-comments.ts';
import { createAuditStore } from '../../../src/storage/audit-store.ts';
import { aCommit, aPullRequest, aRepository, person, stackSettings } from '../../support/builders.ts';
import { recordedConversation } from '../../support/recorded-conversation.ts';
import { openRunWorld } from '../../support/run-world.ts';
import { runsOfStack } from '../../support/runs-of-stack.ts';

export interface Said {
  readonly by?: string;
  /** Milliseconds before now. */
  readonly agoMs?: number;
  readonly id?: number;
  readonly pullRequest?: Partial<Omit<CommentedPullRequest, 'repository' | 'pullRequest' | 'read'>>;
  readonly of?: Partial<CommentedPullRequest['pullRequest']>;
  readonly content?: Partial<PullRequestContent>;
  /** What happens while GitHub is asked what is in the pull request. */
  readonly onRead?: () => Promise<unknown>;
}

const roles: Readonly<Record<string, Role>> = { rita: 'reader', bob: 'writer', ada: 'writer', olga: 'admin' };

/** Pull request #7 from `topic` to `main`, head `t1` unless said otherwise, and people with roles who comment on it. */
export async function openCommentWorld() {
  const guards: string[] = [];
  const world = await openRunWorld({ guards: () => guards });
  const { clock, stackStore, commits } = world;
  const { conversation, reactions, answers } = recordedConversation();
  let commentId = 500;
  let questions = 0;
  const answered = createAnsweredComments(world.database);
  const access = createAccess({
    admins: [],
    permissions: {
      roleOf({ login }) {
        questions += 1;
        return Promise.resolve(roles[login] ?? null);
      },
    },
  });
  const { database } = world;
  const audit = createAuditLog({ store: createAuditStore(database), transactions: database, clock });
  const commands = createCommentCommands({
    ...world,
    ...{ audit, access, conversation, answered, transactions: world.database },
    runUrl: (id) => `https://slipway.example/runs/${id}`,
  });
  commits.set('main', [aCommit({ hash: 'm1' })]);
  commits.set('topic', [aCommit({ hash: 'm1' }), aCommit({ hash: 't1' })]);

  async function addNamed(id: string, change: Partial<StackSettings> = {}, repositoryId = 21) {
    const key = world.newId();
    const settings = stackSettings({ name: id, promotion: true, ...change });
    await world.database.write((tx) =>
      stackStore.insert(tx, { key, id, accountId: 11, repositoryId, settings, createdAtMs: 0 }),
    );
    return key;
  }

  /** What came of it for the operator; the answer is the newest of `answers`. */
  async function tell(body: string, said: Said = {}): Promise<string> {
    const command = parseCommand(body);
    if (command.kind === 'none') throw new Error(`not addressed to us: ${body}`);
    commentId += 1;
    const note = await commands.handle({
      id: said.id ?? commentId,
      createdAtMs: clock.nowMs() - (said.agoMs ?? 0),
      actor: person(said.by ?? 'bob'),
      command,
      pullRequest: {
        repository: aRepository(),
        pullRequest: aPullRequest(said.of),
        ...{ state: 'open', headHash: 't1', branch: 'topic', mergeCommitHash: null, ...said.pullRequest },
        read: async () => {
          await said.onRead?.();
          const head = aCommit({ hash: said.pullRequest?.headHash ?? 't1' });
          return { head, changedPaths: ['x'], bots: [], ...said.content };
        },
      },
    });
    await world.scheduler.settled();
    return note;
  }

  async function say(body: string, said: Said = {}): Promise<CommandAnswer> {
    const before = answers.length;
    await tell(body, said);
    expect(answers).toHaveLength(before + 1);
    return answers.at(-1) as CommandAnswer;
  }

  /** What came of it for each stack. */
  async function act(body: string, said: Said = {}): Promise<readonly StackOutcome[]> {
    const answer = await say(body, said);
    if (answer.kind !== 'acted') throw new Error(`not acted: ${JSON.stringify(answer)}`);
    return answer.outcomes;
  }

  /** Of the only stack: the refusal's code, or the id of the run that was made or moved, or what was done. */
  async function brief(body: string, said: Said = {}): Promise<string> {
    const [outcome, ...more] = await act(body, said);
    expect(more).toEqual([]);
    if (outcome?.kind === 'refused') return outcome.refusal.code;
    return outcome && 'run' in outcome ? outcome.run.id : (outcome?.kind ?? 'nothing');
  }

  /** A run as something else than a comment made it. */
  async function made(
    stackKey: string,
    type: RunType,
    hash: string,
    change: Partial<Run> = {},
  ): Promise<string> {
    const run = await world.commands.create({
      ...{ stackKey, type, branch: 'topic', commit: aCommit({ hash }), by: person('ada'), dedupeKey: null },
      ...change,
    });
    if (run === 'duplicate') throw new Error('a duplicate without a key');
    await world.scheduler.settled();
    return run.id;
  }
  /** A preview that has not begun. */
  const proposed = (stackKey: string, hash = 't1', number = 7) =>
    made(stackKey, 'PROPOSED', hash, { pullRequest: aPullRequest({ number }) });

  /** A preview that is done: there is a plan to look at. */
  async function lookedAt(...of: Parameters<typeof proposed>): Promise<string> {
    const id = await proposed(...of);
    await world.plan();
    expect(await world.run(id)).toMatchObject({ state: 'FINISHED' });
    return id;
  }

  /** Made, planned, and waiting for somebody to confirm it. */
  async function waiting(stackKey: string, hash: string, change: Partial<Run> = {}): Promise<string> {
    const id = await made(stackKey, change.type ?? 'TRACKED', hash, change);
    await world.plan();
    expect(await world.run(id)).toMatchObject({ state: 'UNCONFIRMED' });
    return id;
  }

  /** Made, planned, confirmed and applied. */
  async function deployed(stackKey: string, hash: string, branch = 'main'): Promise<string> {
    const id = await waiting(stackKey, hash, { branch });
    await world.commands.confirm(id, { actor: 'ada' });
    const assignment = await world.claimed();
    await world.server.prepared(assignment);
    await world.server.applied(assignment);
    await world.finish(assignment);
    expect(await world.run(id)).toMatchObject({ state: 'FINISHED' });
    return id;
  }

  const addRepository = async (id: number) => {
    const repository = aRepository({ id, fullName: `acme/repository-${id}` });
    await world.database.write((tx) => world.repositories.saveRepository(tx, repository));
    return id;
  };
  const setPublic = (isPublic: boolean) =>
    world.database.write((tx) =>
      world.repositories.saveRepository(tx, aRepository({ isPrivate: !isPublic })),
    );
  const stackOf = async (key: string): Promise<Stack> => {
    const stack = await stackStore.findByKey(key);
    if (!stack) throw new Error('no such stack');
    return stack;
  };
  const runsOf = (key: string) => runsOfStack(database, key);

  return {
    ...world,
    /** "id version" of the approval policies of every stack. */
    guards,
    ...{ conversation, answered, audit, reactions, answers, addRepository },
    ...{
      addNamed,
      tell,
      say,
      act,
      brief,
      made,
      proposed,
      lookedAt,
      waiting,
      deployed,
      setPublic,
      stackOf,
      runsOf,
    },
    questions: () => questions,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

export type CommentWorld = Awaited<ReturnType<typeof openCommentWorld>>;
