import { operationRules } from './errors-operation.ts';
import { setUpRules } from './errors-set-up.ts';
import type { Explanation } from './explanation.ts';
import { lockRules } from './lock.ts';

/**
 * Texts of the real CLI that a person can do something about. Each has a recording in test/fixtures/pulumi, so a
 * new wording of a newer pulumi shows up as a failing test after `npm run record`.
 */
const rules = [...setUpRules, ...lockRules, ...operationRules];

/** The first that fits, or null: then pulumi's own words must do. */
export function explainText(text: string, nowMs: number): Explanation | null {
  for (const { pattern, explain } of rules) {
    const match = pattern.exec(text);
    if (match !== null) return explain(match, nowMs);
  }
  return null;
}
