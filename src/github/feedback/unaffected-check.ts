import type { Unaffected } from '../../runs/unaffected.ts';
import { showsDetails } from '../../stacks/stack.ts';
import { type CheckRunBody, checkNameOf } from './check-run.ts';
import { quoted } from './quoted.ts';
import { codeSpan } from './shown-text.ts';

export const unaffectedId = ({ stack, type, commit }: Omit<Unaffected, 'reason'>): string =>
  `unaffected:${stack.key}:${type}:${commit}`;

/** Tells checks of commits that start nothing from all others; null for these. */
export function parseUnaffectedId(
  id: string,
): (Pick<Unaffected, 'type'> & { readonly stackKey: string }) | null {
  const [, stackKey, type] = /^unaffected:([^:]+):(TRACKED|PROPOSED):/.exec(id) ?? [];
  return stackKey === undefined ? null : { stackKey, type: type as Unaffected['type'] };
}

/** Under the name that the check of a run would have: whoever requires it gets an answer. Pure. */
export function unaffectedCheckOf(
  unaffected: Unaffected,
  { publicUrl, nowMs }: { readonly publicUrl: string; readonly nowMs: number },
): CheckRunBody {
  const { stack, type, commit, policies } = unaffected;
  const now = new Date(nowMs).toISOString();
  return {
    name: checkNameOf(stack, type),
    head_sha: commit,
    external_id: unaffectedId(unaffected),
    details_url: publicUrl,
    status: 'completed',
    conclusion: policies?.isFailure ? 'failure' : 'neutral',
    started_at: now,
    completed_at: now,
    output: { title: titleOf(policies), summary: summaryOf(unaffected) },
    actions: [],
  };
}

function titleOf(policies: Unaffected['policies']): string {
  if (!policies) return 'Not concerned';
  return policies.isFailure ? 'Stopped by push policies' : 'Nothing started by push policies';
}

function summaryOf(unaffected: Unaffected): string {
  const { reason, policies } = unaffected;
  const head = 'The commit starts nothing for this stack';
  if (!policies) return `${head}: ${reason}.`;
  const texts = textsFor(unaffected).slice(0, mostTexts);
  return texts.length === 0
    ? `${head}: so say its push policies.`
    : [`${head}:`, ...texts.map((text) => quoted(text))].join('\n\n');
}

/** In a line of markdown, with the first of what the policies say. */
export function reasonInRow(unaffected: Unaffected): string {
  if (!unaffected.policies) return unaffected.reason;
  const texts = textsFor(unaffected).slice(0, 2);
  return texts.length === 0 ? 'so say its push policies' : codeSpan(texts.join(': '), mostOfRow);
}

const mostTexts = 20;
const mostOfRow = 300;

/** What policies and locks say is text of people, and nobody's business on a public repository. */
const textsFor = ({ stack, reason, policies }: Unaffected): readonly string[] =>
  policies && showsDetails(stack) ? [reason, ...policies.messages] : [];
