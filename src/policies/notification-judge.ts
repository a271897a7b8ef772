import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { FlagStore } from '../runs/flags.ts';
import type { JudgeJob } from '../runs/judge-jobs.ts';
import type { Run } from '../runs/run.ts';
import type { RunStore, StoredEvent } from '../runs/run-store.ts';
import { vendorName } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import { combineNotification, type NotificationDecision } from './decisions/notification.ts';
import { runUpdatedInput } from './input/notification.ts';
import type { JudgeHandler } from './judge-loop.ts';
import type { Judgement } from './judgement.ts';
import type { Judging } from './judging.ts';
import type { Notices } from './notices.ts';
import type { Effects, NotifiedChange } from './notification-effects.ts';
import { askAgainAt } from './patience.ts';
import type { PolicyRequests } from './policy-requests.ts';
import type { PolicyStore } from './policy-store.ts';
import type { Recording } from './recording.ts';

type NotificationJob = Extract<JudgeJob, { kind: 'notification' }>;

/** Asks notification policies who is to be told of a state change, and tells them. */
export function createNotificationJudge(parts: {
  policies: Pick<PolicyStore, 'ofStack'>;
  runs: Pick<RunStore, 'find' | 'events' | 'plan'>;
  stacks: Pick<StackStore, 'findByKey'>;
  flags: Pick<FlagStore, 'of'>;
  judging: Judging;
  recording: Recording;
  notices: Notices;
  requests: Pick<PolicyRequests, 'endpointsOf'>;
  effectsOf: (change: NotifiedChange, wanted: NotificationDecision) => Promise<Effects>;
  runUrl: (runId: string) => string;
  clock: Clock;
  logger: Logger;
}): JudgeHandler<NotificationJob> {
  const { runs, notices, clock, logger } = parts;

  async function inputFor({ run, stack, url }: NotifiedChange, history: readonly StoredEvent[]) {
    const { timestampMs = 0, actor = 'server', note = null } = history.at(-1) ?? {};
    const plan = run.delta ? await runs.plan(run.id) : null;
    const endpoints = await parts.requests.endpointsOf(stack.key);
    return runUpdatedInput({
      event: { run, stack, timestampMs, actor, note },
      history,
      url,
      account: stack.account,
      endpoints: endpoints.map((id) => ({ id, stackId: stack.id })),
      flags: await parts.flags.of(run.id),
      ...(plan ? { plan: { vendor: vendorName(stack.settings.vendor), steps: plan.steps } } : {}),
      nowMs: clock.nowMs(),
    });
  }

  /** Null while GitHub does not answer; it may later. */
  async function effectsOf(
    change: NotifiedChange,
    wanted: NotificationDecision,
    isLast: boolean,
  ): Promise<Effects | null> {
    try {
      return await parts.effectsOf(change, wanted);
    } catch (error) {
      logger.warn(
        { err: error, run: change.run.id },
        'what a notification policy wants could not be prepared',
      );
      if (!isLast) return null;
      const rest = await parts.effectsOf(change, { ...wanted, pullRequest: [] });
      const words = 'pull_request: GitHub does not say which pull requests there are';
      return {
        ...rest,
        problems: [...rest.problems, ...wanted.pullRequest.map(({ policy }) => ({ policy, words }))],
      };
    }
  }

  return async ({ runId, stateVersion }, signal) => {
    const found = await runs.find(runId);
    const stack = found && (await parts.stacks.findByKey(found.stackKey));
    const policies = stack ? await parts.policies.ofStack(stack.key, 'NOTIFICATION') : [];
    const history = (await runs.events(runId)).filter((event) => event.stateVersion <= stateVersion);
    const event = history.at(-1);
    if (!found || !stack || !event || policies.length === 0) return async () => 'done';

    const change = { run: asItWas(found, event), stack, url: parts.runUrl(runId) };
    const input = await inputFor(change, history);
    const judgements = await parts.judging.judge('NOTIFICATION', policies, input, { signal });
    const wanted = combineNotification(judgements);
    const againAtMs = askAgainAt(event.timestampMs, clock.nowMs());
    const effects = await effectsOf(change, wanted, againAtMs === null);
    if (effects === null) return async () => ({ againAtMs: againAtMs ?? clock.nowMs() });
    const subject = `the change to ${event.state}`;
    const said = judgements.map((judgement) => withProblems(judgement, effects));
    const record = await parts.recording.prepare(said, input, { run: found, stack, subject });

    return async (tx) => {
      await effects.apply(tx);
      await record(tx);
      for (const judgement of wanted.failed) await notices.tellFailure(tx, change, judgement);
      for (const { policy, words } of effects.problems) {
        const title = `Not all that the policy ${policy.name} wants could be sent`;
        const body = `Of run ${runId} of ${stack.id}, when it was ${event.state}: ${words}`;
        await notices.tellOnce(tx, { ...change, policy }, { severity: 'ERROR', title, body });
      }
      return 'done';
    };
  };
}

/** It may be further by now; what has happened since is told by itself. */
function asItWas({ note: _, ...run }: Run, { state, stateVersion, note }: StoredEvent): Run {
  return { ...run, state, stateVersion, ...(note === null ? {} : { note }) };
}

function withProblems(judgement: Judgement, { problems }: Effects): Judgement {
  const own = problems.filter(({ policy }) => policy.id === judgement.policy.id);
  return { ...judgement, messages: [...judgement.messages, ...own.map(({ words }) => words)] };
}
