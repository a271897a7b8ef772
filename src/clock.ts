/** The only source of the current time. Features take it as a value, so that tests own the time. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Times in the API and in webhook payloads are whole Unix seconds. */
export function toUnixSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
