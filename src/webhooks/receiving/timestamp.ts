import type { Cause } from './cause.ts';

/** Receivers of Standard Webhooks refuse what was signed longer ago, or later. */
export const toleranceSeconds = 300;

/** What speaks against id and time of a delivery, beside its signature. `blocks`: nothing can be signed without. */
export function timestampCauses(delivery: {
  readonly headers: ReadonlyMap<string, string>;
  readonly nowSeconds: number;
}): { readonly causes: readonly Cause[]; readonly blocks: boolean } {
  const { headers, nowSeconds } = delivery;
  const timestamp = headers.get('webhook-timestamp') ?? '';
  const lacks = [
    ...(headers.get('webhook-id') ? [] : [idMissing]),
    ...(isSeconds(timestamp) ? [] : [timeMissing]),
  ];
  if (lacks.length > 0) return { causes: lacks, blocks: true };
  const age = nowSeconds - Number(timestamp);
  if (Math.abs(age) <= toleranceSeconds) return { causes: [], blocks: false };
  return { causes: [age > 0 ? tooOld(age) : inFuture(-age)], blocks: false };
}

const isSeconds = (text: string): boolean => /^(0|[1-9]\d{0,11})$/.test(text);

const idMissing: Cause = {
  code: 'id-missing',
  text: 'webhook-signature covers webhook-id, and that header is not there.',
};
const timeMissing: Cause = {
  code: 'timestamp-missing',
  text: 'webhook-signature covers webhook-timestamp, and that header is not there or no number of Unix seconds.',
};

function tooOld(age: number): Cause {
  const text = `webhook-timestamp is ${age} s old: more than ${toleranceSeconds} s may be a replay and is refused.`;
  return { code: 'timestamp-too-old', text };
}

function inFuture(lead: number): Cause {
  const text = `webhook-timestamp lies ${lead} s ahead: one of the two clocks is wrong.`;
  return { code: 'timestamp-in-future', text };
}
