import type { PlanJudge, PlanVerdict } from '../runs/plan-judge.ts';
import type { Tx } from '../tx.ts';
import { combinePlan, type PlanDecision } from './decisions/plan.ts';
import { failureText, type Judgement } from './judgement.ts';
import type { Judging } from './judging.ts';
import type { Override, OverrideStore } from './override-store.ts';
import type { PlanInputs } from './plan-inputs.ts';
import { areSameVersions } from './policy.ts';
import type { PolicyStore } from './policy-store.ts';
import type { Recording, WriteDown } from './recording.ts';

/** Has plan policies judge what a worker reports, on the stored shape of its plan. */
export function createPlanJudge(parts: {
  policies: Pick<PolicyStore, 'ofStack'>;
  overrides: Pick<OverrideStore, 'find'>;
  planInputs: Pick<PlanInputs, 'of'>;
  judging: Judging;
  recording: Recording;
}): PlanJudge {
  return {
    async judge(about, signal) {
      const { run, stack } = about;
      const policies = await parts.policies.ofStack(stack.key, 'PLAN');
      const settling = (record: WriteDown) => async (tx: Tx) => {
        const now = await parts.policies.ofStack(stack.key, 'PLAN', tx);
        if (!areSameVersions(now, policies)) return false;
        await record(tx);
        return true;
      };
      if (policies.length === 0) return { ...passed, settle: settling(async () => undefined) };
      const input = await parts.planInputs.of(about);
      const judgements = await parts.judging.judge('PLAN', policies, input, { signal });
      const override =
        run.changesDigest === undefined ? null : await parts.overrides.find(stack.key, run.changesDigest);
      const record = await parts.recording.prepare(judgements, input, { run, stack, subject: 'the plan' });
      return { ...verdictOf(judgements, override), settle: settling(record) };
    },
  };
}

const passed = { outcome: 'passed', note: null, lines: [] } as const;

function verdictOf(judgements: readonly Judgement[], override: Override | null): Omit<PlanVerdict, 'settle'> {
  const { outcome: undone } = combinePlan(judgements);
  const isOverridden = undone === 'denied' && override !== null;
  const decision = combinePlan(judgements, isOverridden);
  const by = isOverridden
    ? [`${override.actorName} lets these changes pass although they are denied: ${override.reason}`]
    : [];
  return {
    outcome: decision.outcome,
    note: decision.outcome === 'passed' ? null : [...by, ...shown(decision)].join('\n'),
    lines: [...judgements.flatMap(linesFor), ...by].map(oneLine),
  };
}

/** A note stands in lists and webhooks; all of it is on the page of the run. */
const mostInNote = 20;

function shown({ messages }: PlanDecision): readonly string[] {
  const rest = messages.length - mostInNote;
  return [...messages.slice(0, mostInNote), ...(rest > 0 ? [`and ${rest} more messages`] : [])];
}

function linesFor({ policy, outcome, failure, messages, durationMs }: Judgement): readonly string[] {
  const took = `${(durationMs / 1000).toFixed(2)} s`;
  const head = `policy ${policy.name}, version ${policy.version}: ${outcome} in ${took}`;
  return [head, ...(failure ? [`  ${failureText(failure)}`] : messages.map((message) => `  ${message}`))];
}

const oneLine = (line: string): string => line.replaceAll(/\s*[\r\n]+\s*/g, ' ');
