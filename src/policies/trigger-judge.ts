import type { Clock } from '../clock.ts';
import type { FlagStore } from '../runs/flags.ts';
import type { FollowUps } from '../runs/follow-ups.ts';
import type { JudgeJob } from '../runs/judge-jobs.ts';
import type { Run } from '../runs/run.ts';
import type { RunStore } from '../runs/run-store.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Tx } from '../tx.ts';
import { combineTrigger } from './decisions/trigger.ts';
import { triggerInput } from './input/trigger.ts';
import type { JudgeHandler } from './judge-loop.ts';
import type { Judging } from './judging.ts';
import type { Notices } from './notices.ts';
import type { Policy } from './policy.ts';
import type { PolicyStore } from './policy-store.ts';
import type { Recording } from './recording.ts';
import type { ReadTargets, Target } from './trigger-targets.ts';

type TriggerJob = Extract<JudgeJob, { kind: 'trigger' }>;

/** Shows where a run comes from to those who look at its commit. */
export type ShowCause = (
  tx: Tx,
  run: Run,
  cause: { readonly run: Run; readonly policy: Policy },
) => Promise<void>;

/**
 * Asks trigger policies which stacks are to run after a run that is over, and starts those runs. What is wanted and not
 * done is said where the decision is recorded, and told to the people of the stack.
 */
export function createTriggerJudge(parts: {
  policies: Pick<PolicyStore, 'ofStack'>;
  runs: Pick<RunStore, 'find' | 'events' | 'plan'>;
  stacks: Pick<StackStore, 'findByKey' | 'ofAccount'>;
  flags: Pick<FlagStore, 'of'>;
  followUps: FollowUps;
  readTargets: ReadTargets;
  judging: Judging;
  recording: Recording;
  notices: Notices;
  showCause: ShowCause;
  clock: Clock;
}): JudgeHandler<TriggerJob> {
  const { followUps, notices, clock } = parts;

  async function inputFor(run: Run, stack: Stack, stacks: readonly Stack[]) {
    const idOf = new Map(stacks.map(({ key, id }) => [key, id]));
    const members = await followUps.workflowOf(run);
    return triggerInput({
      ...{ run, stack, stacks },
      flags: await parts.flags.of(run.id),
      workflow: members.map((member) => ({ run: member.run, stackId: idOf.get(member.run.stackKey) ?? '' })),
      nowMs: clock.nowMs(),
    });
  }

  /** What became of each wish, by id of the stack. */
  async function start(tx: Tx, after: Run, targets: readonly Target[]): Promise<ReadonlyMap<string, Result>> {
    const wishes = targets.flatMap(({ policy, found }) =>
      found.kind === 'head' ? [{ stack: found.stack, commit: found.commit, policy }] : [],
    );
    const started = (await followUps.start(tx, after, wishes)).values();
    const results = new Map<string, Result>();
    for (const { stackId, policy, found } of targets) {
      const result = found.kind === 'head' ? started.next().value : found;
      if (result?.kind === 'started') {
        await parts.showCause(tx, result.run, { run: after, policy });
        results.set(stackId, { policy, words: `${stackId}: run ${result.run.id} started`, isRefused: false });
      } else if (result) {
        results.set(stackId, { policy, words: `${stackId}: not started, ${result.reason}`, isRefused: true });
      }
    }
    return results;
  }

  return async ({ runId }, signal) => {
    const run = await parts.runs.find(runId);
    const stack = run && (await parts.stacks.findByKey(run.stackKey));
    const policies = stack ? await parts.policies.ofStack(stack.key, 'TRIGGER') : [];
    if (!run || !stack || policies.length === 0) return done;

    const stacks = await parts.stacks.ofAccount(stack.account);
    const input = await inputFor(run, stack, stacks);
    const judgements = await parts.judging.judge('TRIGGER', policies, input, { signal });
    const { triggered, failed } = combineTrigger(judgements);
    const overSinceMs = (await parts.runs.events(run.id)).at(-1)?.timestampMs ?? clock.nowMs();
    const targets = await parts.readTargets(triggered, stacks, overSinceMs);
    if (targets.kind === 'later') return async () => ({ againAtMs: targets.atMs });
    const subject = `the end of the run: ${run.state}`;
    const record = await parts.recording.prepare(judgements, input, { run, stack, subject });

    return async (tx) => {
      const results = await start(tx, run, targets.all);
      await record(tx, null, (message, { policy }) => {
        const result = results.get(message);
        return result?.policy.id === policy.id ? result.words : message;
      });
      for (const judgement of failed) await notices.tellFailure(tx, { run, stack }, judgement);
      for (const policy of policies) {
        const refused = [...results.values()].filter(
          (each) => each.isRefused && each.policy.id === policy.id,
        );
        if (refused.length > 0)
          await notices.tell(tx, { run, stack, policy }, refusalOf(policy, run, refused));
      }
      return 'done';
    };
  };
}

interface Result {
  readonly policy: Policy;
  readonly words: string;
  readonly isRefused: boolean;
}

const done = async () => 'done' as const;

const maxRefusals = 20;

function refusalOf(policy: Policy, run: Run, refused: readonly Result[]) {
  const rest = refused.length - maxRefusals;
  const lines = refused.slice(0, maxRefusals).map(({ words }) => words);
  return {
    severity: 'ERROR' as const,
    title: `Not all that the policy ${policy.name} wants was started`,
    body: [`After run ${run.id}:`, ...lines, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n'),
  };
}
