import { setUpRules } from './errors-set-up.ts';
import type { Explanation, Rule } from './explanation.ts';
import { lockRule } from './lock.ts';

/**
 * Each has a recording of both programs in test/fixtures, where both have the text, so a new wording of a newer one
 * shows up as a failing test.
 */
const rules: readonly Rule[] = [
  lockRule,
  ...setUpRules,
  {
    pattern: /Error: Saved plan is stale/,
    explain: () => ({
      kind: 'plan-changed',
      message: 'The plan you confirmed no longer holds: the state has changed since. Nothing was changed.',
      hint: 'Start a new run to see what would be done now.',
    }),
  },
  {
    pattern: /Resource (?:instance )?(\S+) has (?:lifecycle\.)?prevent_destroy set/,
    explain: ([, address]) => ({
      message: `${address} must not be destroyed (prevent_destroy), and the plan would do that.`,
      hint: 'Take `prevent_destroy` off in the program, or leave the resource as it is.',
    }),
  },
  {
    pattern: /Interrupt received\. Please wait for \S+ to exit/,
    explain: () => ({
      message: 'It was interrupted: what was under way was broken off or finished, the rest not begun.',
      hint: 'Retry the run to go on from there.',
    }),
  },
];

/** The first that fits, or null. `text` has its line breaks and indents folded into single blanks. */
export function explainText(text: string, program: string): Explanation | null {
  for (const { pattern, explain } of rules) {
    const match = pattern.exec(text);
    if (match !== null) return explain(match, { program, text });
  }
  return null;
}
