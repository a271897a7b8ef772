import { codeSpan } from './shown-text.ts';

/** What a policy said of a run, as far as people on GitHub want to know it. */
export interface PolicyLine {
  readonly policy: string;
  readonly version: number;
  /** One word: "denied", "warned", "passed", "failed", "approved", ... */
  readonly outcome: string;
  /** What it said, or why it could not say anything; of people's making. */
  readonly messages: readonly string[];
  /** It denies, warns, rejects, or could not be evaluated. */
  readonly isObjection: boolean;
}

/** The newest of each policy, in the order in which they judged. Given by app.ts. */
export type ReadPolicyLines = (runId: string) => Promise<readonly PolicyLine[]>;

/** GitHub takes 65,535 characters of a summary; a plan stands in another field. */
const mostPolicies = 30;
const mostMessages = 10;
const longestName = 100;
const longestMessage = 500;

/** A list for the summary of a check; null when no policy has judged. Pure. */
export function policyMarkdown(lines: readonly PolicyLine[]): string | null {
  if (lines.length === 0) return null;
  const items = lines.slice(0, mostPolicies).map(itemOf);
  const rest = lines.length - items.length;
  return ['**Policies**', '', ...items, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n');
}

function itemOf({ policy, version, outcome, messages }: PolicyLine): string {
  const shown = messages.slice(0, mostMessages).map((message) => `  - ${codeSpan(message, longestMessage)}`);
  const rest = messages.length - shown.length;
  return [
    `- ${codeSpan(policy, longestName)} (version ${version}): ${outcome}`,
    ...shown,
    ...(rest > 0 ? [`  - and ${rest} more`] : []),
  ].join('\n');
}
