import type { Review } from '../../src/runs/approvals/review.ts';

/** Ann approves a plan of the first run of the other builders. */
export function aReview(change: Partial<Review> = {}): Review {
  return {
    id: '01JREVIEW00000000000000000',
    runId: '01JRUN0000000000000000000A',
    stackKey: '01JSTACK00000000000000000A',
    state: 'UNCONFIRMED',
    stateVersion: 6,
    changesDigest: 'c1',
    verdict: 'approve',
    reviewer: { key: 'person:ann', name: 'ann' },
    role: 'writer',
    via: 'api',
    note: null,
    atMs: 1_795_000_000_000,
    ...change,
  };
}
