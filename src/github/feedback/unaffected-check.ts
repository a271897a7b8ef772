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
  const { stack, policies } = unaffected;
  const sentence = `The commit starts nothing for this stack: ${shownReason(unaffected)}.`;
  const messages = policies && showsDetails(stack) ? policies.messages.slice(0, mostMessages) : [];
  return [sentence, ...messages.map((message) => quoted(message))].join('\n\n');
}

const mostMessages = 20;
const mostReason = 500;

/** What policies, and engines that fail on them, say is text of people, and nobody's business on a public repository. */
export function shownReason({ stack, reason, policies }: Pick<Unaffected, 'stack' | 'reason' | 'policies'>): string {
  if (!policies) return reason;
  return showsDetails(stack) ? codeSpan(reason, mostReason) : 'so say its push policies';
}
