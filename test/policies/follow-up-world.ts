import { createSqliteEngine } from '../../src/engine/sqlite-engine.ts';
import { createLogger } from '../../src/logger.ts';
import type { PolicyEngine } from '../../src/policies/engine.ts';
import { createFollowUpJobs } from '../../src/policies/follow-up-jobs.ts';
import type { Settle } from '../../src/policies/judge-loop.ts';
import { createJudging } from '../../src/policies/judging.ts';
import { createNotices } from '../../src/policies/notices.ts';
import { createNotificationEffects } from '../../src/policies/notification-effects.ts';
import { createNotificationJudge } from '../../src/policies/notification-judge.ts';
import { digestOf, type Policy } from '../../src/policies/policy.ts';
import type { PolicyRequest, PolicyRequests } from '../../src/policies/policy-requests.ts';
import { createRecording } from '../../src/policies/recording.ts';
import { createTriggerJudge } from '../../src/policies/trigger-judge.ts';
import { createReadTargets } from '../../src/policies/trigger-targets.ts';
import { createFollowUps } from '../../src/runs/follow-ups.ts';
import { type JudgeJob, judgeQueue } from '../../src/runs/judge-jobs.ts';
import type { PullRequestNote, PullRequestNotes } from '../../src/runs/pull-request-notes.ts';
import type { Run } from '../../src/runs/run.ts';
import type { Commit } from '../../src/stacks/repository.ts';
import type { Stack } from '../../src/stacks/stack.ts';
import { createDecisionStore } from '../../src/storage/decision-store.ts';
import { createFlagStore } from '../../src/storage/flag-store.ts';
import { createNoticeStore } from '../../src/storage/notice-store.ts';
import { createPolicyStore } from '../../src/storage/policy-store.ts';
import { createRunCauseStore } from '../../src/storage/run-cause-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { aCommit, anAccount, aRepository, person, stackSettings } from '../support/builders.ts';
import { aPolicy } from '../support/policies.ts';
import { openRunWorld } from '../support/run-world.ts';
import { runsOfStack } from '../support/runs-of-stack.ts';

/** Runs on a real database, the policies that judge what has happened, and their jobs, which a test does by hand. */
export async function openFollowUpWorld({ engine }: { readonly engine: PolicyEngine }) {
  const world = await openRunWorld({
    reactors: ({ database, clock, newId }) => {
      const queue = createSqliteEngine({ database, clock, newId });
      return [createFollowUpJobs({ policies: createPolicyStore(database), queue })];
    },
  });
  const { database, clock, newId, queue, runs } = world;
  const logger = createLogger('silent');
  const policies = createPolicyStore(database);
  const decisions = createDecisionStore(database, createSecretBox(Buffer.alloc(32, 7)), { clock, newId });
  const flags = createFlagStore(database);
  const notices = createNoticeStore(database);
  const causes = createRunCauseStore(database);
  const shownCauses: string[] = [];
  const requests: PolicyRequest[] = [];
  const github = { pullRequests: new Map<string, readonly number[]>(), answers: true };
  const written: PullRequestNote[] = [];
  const followUps = createFollowUps({ runs, causes, commands: world.commands });
  const judging = createJudging({ engine, clock, logger });
  const recording = createRecording({ decisions, flags });
  const tell = createNotices({ notices, clock, newId });
  const judged = { policies, runs, flags, judging, recording, notices: tell, clock, logger };
  const trigger = createTriggerJudge({
    ...{ ...judged, stacks: world.stackStore, followUps },
    readTargets: createReadTargets({ source: world.source, clock, logger }),
    async showCause(_, run, cause) {
      shownCauses.push(`${run.id} after ${cause.run.id} by ${cause.policy.name}`);
    },
  });
  /** Webhooks, of which one is disabled. */
  const policyRequests: PolicyRequests = {
    endpointsOf: async () => ['hook', 'off'],
    refusalOf: async ({ webhookId }) =>
      webhookId === 'hook' ? null : `the webhook ${webhookId} is disabled`,
    send: async (_, request) => void requests.push(request),
  };
  const pullRequestNotes: PullRequestNotes = {
    async find(_, by) {
      if (!github.answers) throw new Error('GitHub is down');
      return github.pullRequests.get('commit' in by ? by.commit : by.intoBranch) ?? [];
    },
    write: async (_, note) => void written.push(note),
  };
  const notification = createNotificationJudge({
    ...{ ...judged, stacks: world.stackStore, requests: policyRequests },
    effectsOf: createNotificationEffects({ notices: tell, pullRequestNotes, requests: policyRequests }),
    runUrl: (runId) => `https://slipway.example.com/runs/${runId}`,
  });

  function settleOf(job: JudgeJob): Promise<Settle> {
    const { signal } = new AbortController();
    if (job.kind === 'trigger') return trigger(job, signal);
    if (job.kind === 'notification') return notification(job, signal);
    throw new Error(`nobody does ${job.kind}`);
  }

  /** It follows the branch of its name, which has a commit. */
  async function stack(name: string, repositoryId = 21): Promise<Stack> {
    const key = newId();
    const settings = stackSettings({ name, branch: name });
    const input = { key, id: name, accountId: 11, repositoryId, settings, createdAtMs: 0 };
    await database.write((tx) => world.stackStore.insert(tx, input));
    const made = await world.stackStore.findByKey(key);
    if (!made) throw new Error('the stack is gone');
    commit(made);
    return made;
  }

  async function policy(change: Partial<Policy>, ...stacks: readonly Stack[]): Promise<Policy> {
    const body = change.body ?? '';
    const source = { body, regoVersion: 1, digest: digestOf({ body, regoVersion: 1 }) } as const;
    const made = aPolicy({ id: newId(), kind: 'TRIGGER', rules: ['trigger'], ...change, ...source });
    await database.write(async (tx) => {
      await policies.insert(tx, made);
      for (const { key } of stacks) await policies.attach(tx, made.id, key);
    });
    return made;
  }

  /** Does every job that is due; how many there were. */
  async function judge(): Promise<number> {
    let done = 0;
    for (; done < 500; done += 1) {
      const claimed = await database.write((tx) => queue.claim(tx, judgeQueue));
      if (!claimed) return done;
      const job = claimed.data as JudgeJob;
      const settle = await settleOf(job);
      await database.write(async (tx) => {
        const settled = await settle(tx);
        if (settled === 'done') await queue.finish(tx, claimed);
        else await queue.retryLater(tx, claimed, settled.againAtMs);
      });
    }
    throw new Error('the jobs have no end');
  }

  /** A further commit on its branch. */
  function commit({ settings: { branch } }: Stack, hash = `${branch}-1`): void {
    world.commits.set(branch, [...(world.commits.get(branch) ?? []), aCommit({ hash })]);
  }

  function headOf({ settings: { branch } }: Stack): Commit {
    const head = world.commits.get(branch)?.at(-1);
    if (!head) throw new Error(`${branch} has no commit`);
    return head;
  }

  /** Somebody deploys the head of its branch. */
  async function deploy(stack: Stack): Promise<string> {
    return (await world.triggers.manual(stack, { type: 'TRACKED' }, person('ada'))).id;
  }

  /** Carries the next run to its end. */
  async function end(how: 'FINISHED' | 'FAILED' = 'FINISHED'): Promise<Run> {
    await world.scheduler.settled();
    const assignment = how === 'FINISHED' ? await world.plan({ hasChanges: false }) : await world.claimed();
    if (how === 'FAILED') {
      await world.server.failed(assignment, { outcome: 'tool_failed', note: 'it broke' });
    }
    await world.finish(assignment);
    return world.run(assignment.run.id);
  }

  return {
    ...world,
    ...{ policies, decisions, notices, causes, followUps, shownCauses, requests, github, written },
    ...{ stack, policy, judge, commit, headOf, deploy, end },
    /** The newest first. */
    runsOf: ({ key }: Stack) => runsOfStack(database, key),
    /** "severity title: body" of each, the oldest first. */
    async told() {
      const all = await notices.list({ account: null, before: null, limit: 100 });
      return all.map(({ severity, title, body }) => `${severity} ${title}: ${body}`).reverse();
    },
    async otherAccount(id: string): Promise<void> {
      await database.write(async (tx) => {
        await world.repositories.saveAccount(tx, anAccount({ id: 12, login: 'globex' }));
        const repository = aRepository({ id: 22, accountId: 12, fullName: 'globex/infra' });
        await world.repositories.saveRepository(tx, repository);
        const settings = stackSettings({ name: id });
        const other = { key: newId(), id, accountId: 12, repositoryId: 22, settings, createdAtMs: 0 };
        await world.stackStore.insert(tx, other);
      });
    },
  };
}
