import type { Logger } from '../logger.ts';
import type { Lease } from './job-queue.ts';
import type { LogStore } from './log-store.ts';
import type { JudgedPlan, PlanJudge, PlanVerdict } from './plan-judge.ts';
import type { Watchers } from './watchers.ts';

/** Has a reported plan judged, once however often it is reported, and tells of it in the log of the run. */
export interface PlanJudging {
  /** Null when it was broken off: the run is over, or the worker is to hand it back. */
  once(lease: Lease, about: JudgedPlan, draining: AbortSignal): Promise<PlanVerdict | null>;
  /** It has to be judged anew. */
  forget(lease: Lease): void;
}

export function createPlanJudging(parts: {
  judge: PlanJudge;
  logs: Pick<LogStore, 'read' | 'append'>;
  watchers: Watchers;
  logger: Logger;
}): PlanJudging {
  /** While the disk is full a report is repeated: what was judged is not judged, nor told, again. */
  const judged = new WeakMap<Lease, PlanVerdict>();
  const logged = new WeakSet<Lease>();

  async function judge(about: JudgedPlan, draining: AbortSignal): Promise<PlanVerdict | null> {
    const done = new AbortController();
    const over = new AbortController();
    using listener = parts.watchers.listen(about.run.id);
    const listening = listener.rung(longestMs, done.signal).then(() => {
      if (!done.signal.aborted) over.abort();
    });
    try {
      const signal = AbortSignal.any([over.signal, draining]);
      const verdict = await parts.judge.judge(about, signal);
      // What is broken off is judged as failed.
      return signal.aborted && verdict.outcome === 'failed' ? null : verdict;
    } finally {
      done.abort();
      await listening;
    }
  }

  async function log(runId: string, lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    const { size } = await parts.logs.read(runId, 'planning', 0, 0);
    const bytes = Buffer.from(lines.map((line) => `[${line}]\n`).join(''));
    const appended = await parts.logs.append(runId, 'planning', size, bytes);
    if (appended.kind === 'refused')
      parts.logger.warn({ run: runId, ...appended }, 'a log was not continued');
  }

  return {
    async once(lease, about, draining) {
      const verdict = judged.get(lease) ?? (await judge(about, draining));
      if (verdict === null) return null;
      // A failure may come of the full disk: it is no verdict to keep.
      if (verdict.outcome !== 'failed') judged.set(lease, verdict);
      if (!logged.has(lease)) await log(about.run.id, verdict.lines);
      logged.add(lease);
      return verdict;
    },
    forget(lease) {
      judged.delete(lease);
      logged.delete(lease);
    },
  };
}

/** Of waiting for the end of a run: a policy is done long before. */
const longestMs = 60 * 60_000;
