import type { Clock } from '../../clock.ts';
import type { Gates } from '../../runs/approvals/gates.ts';
import { readBlocker } from '../../runs/blocker.ts';
import type { Run } from '../../runs/run.ts';
import type { RunStore } from '../../runs/run-store.ts';
import { type Stack, showsDetails } from '../../stacks/stack.ts';
import type { StackStore } from '../../stacks/stack-store.ts';
import {
  type AggregateRow,
  type AggregateWish,
  aggregateCheckOf,
  parseAggregateId,
  typesOfKind,
} from './aggregate-check.ts';
import { buttonsOf } from './check-buttons.ts';
import { type CheckRunBody, timeOf } from './check-run.ts';
import type { PendingItem } from './outbox-store.ts';
import { planMarkdown } from './plan-markdown.ts';
import { policyMarkdown, type ReadPolicyLines } from './policy-lines.ts';
import { quoted } from './quoted.ts';
import { withNotes } from './run-notes.ts';
import { parseUnaffectedId } from './unaffected-check.ts';

/**
 * The body of a check as it is sent: what was written down, and what is best read when it is sent: the plan, what a
 * run waits for, the runs of a commit. Null: there is nothing to show any more.
 */
export type ComposeCheck = (item: PendingItem) => Promise<CheckRunBody | null>;

export interface ComposeParts {
  readonly runs: Pick<RunStore, 'find' | 'plan' | 'newestOfCommit' | 'activeRun' | 'firstQueued'>;
  readonly stacks: Pick<StackStore, 'findByKey' | 'ofRepository'>;
  readonly gates: Gates;
  readonly clock: Clock;
  /** Asked late: it may follow from the address that the server listens on. */
  readonly publicUrl: () => string;
  readonly isSandboxed: boolean;
  readonly policyLines: ReadPolicyLines;
}

export function createComposeCheck(parts: ComposeParts): ComposeCheck {
  const { runs, stacks, clock, publicUrl, isSandboxed } = parts;

  async function ofRun(body: CheckRunBody, runId: string): Promise<CheckRunBody> {
    const run = await runs.find(runId);
    const stack = run && (await stacks.findByKey(run.stackKey));
    if (!stack) return body;
    const plan = showsDetails(stack) ? await runs.plan(runId) : null;
    const text = plan && planMarkdown(plan.steps, { detailsUrl: body.details_url });
    const waits = await waitsFor(run, stack);
    const policies = showsDetails(stack) ? policyMarkdown(await parts.policyLines(runId)) : null;
    const summary = [waits, body.output.summary, policies].filter((part) => part !== null).join('\n\n');
    const gate = await parts.gates.standing(run);
    return {
      ...body,
      output: {
        ...body.output,
        summary,
        // Empty takes away what an earlier update showed.
        text: text ?? '',
      },
      // Policies change their mind without a change of the run's state.
      actions: gate.kind === 'shut' ? buttonsOf(run, stack, gate.kind) : body.actions,
    };
  }

  /** As of now, and said so: nobody tells when what is before it moves on. */
  async function waitsFor(run: Run, stack: Stack): Promise<string | null> {
    const blocker = await readBlocker(parts, run, stack);
    if (!blocker) return null;
    const at = `At ${timeOf(clock.nowMs())}`;
    if (blocker.kind === 'lock') return `${at} somebody has locked the stack.`;
    if (blocker.kind === 'approval') {
      return `${at} it waited for approval${showsDetails(stack) ? `: ${quoted(blocker.reason)}` : '.'}`;
    }
    if (blocker.kind === 'repository') return `${at} GitHub let nothing be done: ${blocker.reason}.`;
    return `${at} [run ${blocker.run}](${publicUrl()}/runs/${blocker.run}) was before it (${blocker.state}).`;
  }

  async function ofCommit(id: string, wish: AggregateWish, repositoryId: number) {
    const rows: AggregateRow[] = [];
    for (const stack of await stacks.ofRepository(repositoryId)) {
      if (stack.settings.checks !== 'aggregate') continue;
      const run = await newestRun(stack, wish);
      const reason = wish.unaffected[stack.key];
      if (run) rows.push({ stackId: stack.id, run });
      else if (reason !== undefined) {
        const isStopped = wish.stopped?.includes(stack.key) ?? false;
        rows.push({ stackId: stack.id, run: { reason, isStopped } });
      }
    }
    return aggregateCheckOf(id, wish, rows, { publicUrl: publicUrl(), isSandboxed, nowMs: clock.nowMs() });
  }

  async function newestRun(stack: Stack, { kind, commit }: AggregateWish): Promise<Run | null> {
    const all = await Promise.all(
      typesOfKind[kind].map((type) => runs.newestOfCommit(stack.key, type, commit, 'any')),
    );
    return all.reduce((newest, run) => (run && (!newest || run.id > newest.id) ? run : newest), null);
  }

  return async ({ id, runId, repositoryId, desired, notes }) => {
    if (parseAggregateId(id))
      return withNotes(await ofCommit(id, desired as AggregateWish, repositoryId), notes);
    const body = desired as CheckRunBody;
    if (runId !== null) return withNotes(await ofRun(body, runId), notes);
    const unaffected = parseUnaffectedId(id);
    const overtaken =
      unaffected && (await runs.newestOfCommit(unaffected.stackKey, unaffected.type, body.head_sha, 'any'));
    return overtaken ? null : withNotes(body, notes);
  };
}
