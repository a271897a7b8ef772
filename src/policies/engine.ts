import type { PolicySource } from './policy.ts';

/**
 * The port to what evaluates Rego. An implementation knows nothing of kinds, runs or storage; it never rejects for
 * anything a policy does, and what it cannot do is a typed failure: who judges blocks then.
 */
export interface PolicyEngine {
  /** Its name and version, e.g. "opa 1.22.0", or why there is none. */
  standing(): Promise<EngineStanding>;
  /** Compiles a source without running it. */
  check(source: PolicySource, signal?: AbortSignal): Promise<Checked>;
  /** One policy, one input, in a process of its own. */
  evaluate(request: EvaluationRequest): Promise<Evaluation>;
}

export type EngineStanding =
  | { readonly kind: 'ready'; readonly engine: string; readonly path: string }
  | { readonly kind: 'unavailable'; readonly reason: string };

export type Checked =
  | {
      readonly kind: 'valid';
      /** As written, e.g. "slipway". */
      readonly package: string;
      /** One entry for each name, by line. */
      readonly rules: readonly DeclaredRule[];
    }
  | { readonly kind: 'invalid'; readonly errors: readonly SourceError[] }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** A rule at the top of the package; functions are not among them. */
export interface DeclaredRule {
  readonly name: string;
  /** Of its first declaration, from 1. */
  readonly line: number;
  /** What its value is bound to be, where all its declarations say so: `deny contains` is a set. */
  readonly type: 'boolean' | 'number' | 'string' | 'null' | 'array' | 'set' | 'object' | 'unknown';
}

export interface SourceError {
  readonly message: string;
  /** From 1; absent when the engine names none. */
  readonly line?: number;
  readonly column?: number;
}

export interface EvaluationRequest {
  readonly source: PolicySource;
  /** JSON text in UTF-8. */
  readonly input: string | Uint8Array;
  /** Which rules of `data.slipway` are wanted; nothing else is evaluated but what they use. */
  readonly rules: readonly string[];
  readonly timeLimitMs: number;
  readonly signal?: AbortSignal;
}

export type Evaluation = { readonly durationMs: number } & (
  | {
      readonly kind: 'evaluated';
      /** By rule; a rule that is undefined is absent, a set is an array. */
      readonly values: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'failed'; readonly failure: EvaluationFailure }
);

/**
 * compile: refused by the compiler. builtin: a built-in function failed on its arguments. conflict: two values for one
 * rule. undefined: a rule that was promised has no value. wrong_type: not of the type that the kind reads.
 * input: the input cannot be read (not UTF-8, not JSON, too large). unavailable: no engine, or no sandbox.
 */
export interface EvaluationFailure extends SourceError {
  readonly code:
    | 'compile'
    | 'builtin'
    | 'conflict'
    | 'undefined'
    | 'wrong_type'
    | 'timeout'
    | 'memory'
    | 'output'
    | 'input'
    | 'stopped'
    | 'unavailable'
    | 'engine';
}
