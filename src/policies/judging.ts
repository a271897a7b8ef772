import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { judgedBy } from './decision.ts';
import type { Evaluation, EvaluationFailure, PolicyEngine } from './engine.ts';
import { jsonBytes } from './json-bytes.ts';
import type { Judgement } from './judgement.ts';
import { combinedTimeLimitMs, kinds } from './kinds.ts';
import type { Policy, PolicyKind } from './policy.ts';

/** Asks policies what they say of one thing. Everything that judges goes through here, the workbench too. */
export interface Judging {
  /**
   * One judgement for each policy, in their order. `input` is what JSON can say. Never rejects: what cannot be
   * judged is `failed`, with the reason, and so is all that is left when `signal` aborts.
   */
  judge(
    kind: PolicyKind,
    policies: readonly Policy[],
    input: unknown,
    options: { readonly signal: AbortSignal },
  ): Promise<Judgement[]>;
}

/** A run has two processors at most for policies, however many of them there are. */
const atOnce = 2;

export function createJudging(parts: {
  readonly engine: Pick<PolicyEngine, 'standing' | 'evaluate'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): Judging {
  const { engine, clock, logger } = parts;

  async function evaluate(
    policy: Policy,
    input: Uint8Array,
    untilMs: number,
    signal: AbortSignal,
  ): Promise<Evaluation> {
    const leftMs = untilMs - clock.nowMs();
    if (leftMs <= 0) return failure('timeout', 'the policies before it took all of the time');
    if (signal.aborted) return failure('stopped', 'it was not wanted any more');
    const { rules, body, regoVersion } = policy;
    const timeLimitMs = Math.min(kinds[policy.kind].timeLimitMs, leftMs);
    try {
      return await engine.evaluate({ source: { body, regoVersion }, input, rules, timeLimitMs, signal });
    } catch (error) {
      logger.error({ err: error, policy: policy.id }, 'the policy engine broke its promise');
      return failure('engine', 'the policy engine failed; the log of the server has more');
    }
  }

  async function engineName(): Promise<string> {
    try {
      const standing = await engine.standing();
      return standing.kind === 'ready' ? standing.engine : 'none';
    } catch (error) {
      logger.error({ err: error }, 'the policy engine does not say what it is');
      return 'unknown';
    }
  }

  return {
    async judge(kind, policies, given, { signal }) {
      if (policies.length === 0) return [];
      const untilMs = clock.nowMs() + combinedTimeLimitMs;
      const bytes = await jsonBytes(given);
      const input = bytes ?? new Uint8Array();
      const problem = bytes === null ? failure('input', 'it is no JSON') : null;
      const inputDigest = createHash('sha256').update(input).digest('hex');
      const name = await engineName();
      const judgements: Judgement[] = [];
      const waiting = policies.entries();

      async function judgeSome(): Promise<void> {
        for (const [index, policy] of waiting) {
          const evaluation = problem ?? (await evaluate(policy, input, untilMs, signal));
          const { durationMs } = evaluation;
          const reading = judgedBy(kind, policy.rules, evaluation);
          judgements[index] = { policy, ...reading, inputDigest, durationMs, engine: name };
        }
      }

      await Promise.all(Array.from({ length: atOnce }, judgeSome));
      return judgements;
    },
  };
}

function failure(code: EvaluationFailure['code'], message: string): Evaluation {
  return { kind: 'failed', failure: { code, message }, durationMs: 0 };
}
