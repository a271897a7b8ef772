import type { Judging } from './judging.ts';
import type { PolicyKind } from './policy.ts';

/** Hears what every policy said that was asked in earnest. Must not throw, and is told of no name, id or text. */
export interface JudgingObserver {
  judged(judgement: {
    readonly kind: PolicyKind;
    /** As in `Judgement`. */
    readonly outcome: string;
    readonly durationMs: number;
  }): void;
}

export function observed(judging: Judging, observer: JudgingObserver): Judging {
  return {
    async judge(kind, policies, input, options) {
      const judgements = await judging.judge(kind, policies, input, options);
      for (const { outcome, durationMs } of judgements) observer.judged({ kind, outcome, durationMs });
      return judgements;
    },
  };
}
