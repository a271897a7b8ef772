import type { VendorFailure } from '../../worker/vendor.ts';

/** `failed` when nothing else is said. */
export type Explanation = Omit<VendorFailure, 'kind'> & Partial<Pick<VendorFailure, 'kind'>>;

/** One text of the real programs that a person can do something about. */
interface Rule {
  readonly pattern: RegExp;
  explain(match: RegExpExecArray, program: string): Explanation;
}

const rules: readonly Rule[] = [
  {
    pattern: /Error: Saved plan is stale/,
    explain: () => ({
      kind: 'plan-changed',
      message: 'The plan you confirmed no longer holds: the state has changed since. Nothing was changed.',
      hint: 'Start a new run to see what would be done now.',
    }),
  },
];

/** The first that fits, or null. `text` is without line breaks. */
export function explainText(text: string, program: string): Explanation | null {
  for (const { pattern, explain } of rules) {
    const match = pattern.exec(text);
    if (match !== null) return explain(match, program);
  }
  return null;
}
