import type { VendorFailure } from '../../worker/vendor-results.ts';

/** `failed` when nothing else is said. */
export type Explanation = Omit<VendorFailure, 'kind'> & Partial<Pick<VendorFailure, 'kind'>>;

/** One text of the real programs that a person can do something about. */
export interface Rule {
  readonly pattern: RegExp;
  /** `text` is what the pattern was tried on, all of it. */
  explain(match: RegExpExecArray, said: { readonly program: string; readonly text: string }): Explanation;
}
