import type { EvaluationFailure } from './engine.ts';
import type { Policy } from './policy.ts';

/** What one policy said about one input. */
export interface Judgement {
  readonly policy: Policy;
  /** Of decision.ts for the kind of the policy; `failed` when it could not be evaluated, which blocks. */
  readonly outcome: string;
  readonly messages: readonly string[];
  /** By rule, as the engine gave them; empty when it failed. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly failure: EvaluationFailure | null;
  /** The policy asks to keep the input. */
  readonly sample: boolean;
  readonly flags: { readonly add: readonly string[]; readonly reset: readonly string[] };
  /** SHA-256 of the input as the engine read it, in hex. */
  readonly inputDigest: string;
  readonly durationMs: number;
  /** E.g. "opa 1.22.0". */
  readonly engine: string;
}

/** A judgement as it was recorded: it tells of policies that are gone or changed since, too. */
export interface RecordedDecision {
  readonly id: string;
  readonly policy: {
    readonly id: string;
    readonly name: string;
    readonly version: number;
    readonly digest: string;
  };
  readonly kind: Policy['kind'];
  readonly accountId: number | null;
  readonly stackKey: string | null;
  readonly runId: string | null;
  /** What was judged, in words: "the plan", "the push of 1a2b3c4 to main", "the login of ann". */
  readonly subject: string;
  readonly outcome: string;
  readonly messages: readonly string[];
  /** As far as they are kept (recorded-values.ts). */
  readonly values: Readonly<Record<string, unknown>>;
  readonly failure: EvaluationFailure | null;
  readonly inputDigest: string;
  readonly engine: string;
  readonly durationMs: number;
  readonly atMs: number;
}

/** For people: what went wrong, and where. */
export const failureText = ({ message, line }: EvaluationFailure): string =>
  line === undefined ? message : `${message} (line ${line})`;
