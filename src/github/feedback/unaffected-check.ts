import type { Unaffected } from '../../runs/unaffected.ts';
import { type CheckRunBody, checkNameOf } from './check-run.ts';

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
  const { stack, type, commit, reason } = unaffected;
  const now = new Date(nowMs).toISOString();
  return {
    name: checkNameOf(stack, type),
    head_sha: commit,
    external_id: unaffectedId(unaffected),
    details_url: publicUrl,
    status: 'completed',
    conclusion: 'neutral',
    started_at: now,
    completed_at: now,
    output: {
      title: 'Not concerned',
      summary: `The commit starts nothing for this stack: ${reason}.`,
    },
    actions: [],
  };
}
