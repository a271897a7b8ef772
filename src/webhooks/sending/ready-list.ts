/**
 * Which webhooks have something to send, so that nobody has to search for them. They take turns. Pure: what it
 * is told is all it knows, and what is wrong with that is put right by the next look at the database.
 */
export interface ReadyList {
  /** Something may be due now. */
  add(webhookId: string): void;
  /** Something will be due then. */
  expect(webhookId: string, atMs: number): void;
  /** Those that may have something due, the one that has waited longest first; then those passed over. */
  due(nowMs: number): Iterable<string>;
  /** It may not start anything now, so that it must not stand before those that may. `add` ends that. */
  passOver(webhookId: string): void;
  /** There is one that may have something due and was not passed over. */
  hasFresh(): boolean;
  /** It was served: it comes back when `add` or `expect` say so. */
  served(webhookId: string): void;
  /** When the next one will be due, which may be too early; null for never. */
  nextAtMs(): number | null;
}

export function createReadyList(): ReadyList {
  const ready = new Set<string>();
  const passedOver = new Set<string>();
  const later = new Map<string, number>();
  let earliestMs = Number.POSITIVE_INFINITY;

  function promote(nowMs: number): void {
    if (earliestMs > nowMs) return;
    earliestMs = Number.POSITIVE_INFINITY;
    for (const [webhookId, atMs] of later) {
      if (atMs <= nowMs) {
        later.delete(webhookId);
        if (!passedOver.has(webhookId)) ready.add(webhookId);
      } else {
        earliestMs = Math.min(earliestMs, atMs);
      }
    }
  }

  function* inTurn(): Iterable<string> {
    yield* ready;
    yield* passedOver;
  }

  return {
    add(webhookId) {
      passedOver.delete(webhookId);
      ready.add(webhookId);
    },
    expect(webhookId, atMs) {
      later.set(webhookId, Math.min(atMs, later.get(webhookId) ?? atMs));
      earliestMs = Math.min(earliestMs, atMs);
    },
    due(nowMs) {
      promote(nowMs);
      return inTurn();
    },
    passOver(webhookId) {
      if (ready.delete(webhookId)) passedOver.add(webhookId);
    },
    hasFresh: () => ready.size > 0,
    served(webhookId) {
      ready.delete(webhookId);
      passedOver.delete(webhookId);
    },
    nextAtMs: () => (earliestMs === Number.POSITIVE_INFINITY ? null : earliestMs),
  };
}
