import type { Claim } from '../delivery-store.ts';
import type { Webhook } from '../webhook.ts';

/** A claim with what its transaction knows of its webhook. */
export interface Job {
  readonly claim: Claim;
  /** Or why it cannot be read. */
  readonly webhook: Webhook | Error;
}

/** In flight at once, in all and for one webhook. */
export interface PlaceLimits {
  readonly inFlight: number;
  readonly perWebhook: number;
}

/**
 * Who is in flight and who is next. A receiver that answers faster than results are stored has claims waiting in
 * line, as many as it answered meanwhile, so that it never waits for a transaction; whatever goes wrong sends the
 * line back. So a claim that is not sent yet is sent within moments or given back. Pure.
 */
export interface Places {
  readonly inFlight: number;
  /** Claims in line, of all webhooks. */
  readonly inLine: number;
  /** In flight or in line. */
  claimsOf(webhookId: string): number;
  /** How many claims a webhook may have in line now. */
  mayLineUp(webhookId: string): number;
  /** What was claimed: those that start at once. The rest is in line. */
  add(jobs: readonly Job[]): readonly Job[];
  /** One is over: who takes its place, and whose turn it is not any more because it went wrong. */
  ended(job: Job, isGood: boolean): { readonly next: Job | null; readonly back: readonly Claim[] };
  /** The results so far are stored: counts answers anew. */
  stored(): void;
  /** What one webhook has in line, which is empty then. */
  recall(webhookId: string): readonly Claim[];
  /** Takes out of line what was claimed before, all of it by default. */
  clear(claimedBeforeMs?: number): readonly Claim[];
}

/** With four in flight: what a receiver in the next rack answers between two transactions. */
const maxInLine = 60;

interface Lane {
  running: number;
  /** Answers since results were stored. */
  answered: number;
  readonly line: Job[];
}

export function createPlaces(limits: PlaceLimits): Places {
  const lanes = new Map<string, Lane>();
  /** With a line and nothing in flight, because all places were taken. */
  const waiting = new Set<Lane>();
  let inFlight = 0;
  let inLine = 0;

  function laneOf(webhookId: string): Lane {
    const known = lanes.get(webhookId);
    if (known !== undefined) return known;
    const lane: Lane = { running: 0, answered: 0, line: [] };
    lanes.set(webhookId, lane);
    return lane;
  }

  function nextOf(lane: Lane | undefined): Job | null {
    const next = lane?.line.shift();
    if (lane === undefined || next === undefined) return null;
    waiting.delete(lane);
    inLine -= 1;
    lane.running += 1;
    inFlight += 1;
    return next;
  }

  /** The oldest stand first. */
  function empty(lane: Lane, claimedBeforeMs = Number.POSITIVE_INFINITY): readonly Claim[] {
    const young = lane.line.findIndex(({ claim }) => claim.startedAtMs >= claimedBeforeMs);
    const old = lane.line.splice(0, young === -1 ? lane.line.length : young);
    inLine -= old.length;
    if (lane.line.length === 0) waiting.delete(lane);
    return old.map(({ claim }) => claim);
  }

  return {
    get inFlight() {
      return inFlight;
    },
    get inLine() {
      return inLine;
    },
    claimsOf(webhookId) {
      const lane = lanes.get(webhookId);
      return lane === undefined ? 0 : lane.running + lane.line.length;
    },
    mayLineUp: (webhookId) => Math.min(lanes.get(webhookId)?.answered ?? 0, maxInLine),
    add(jobs) {
      const starting: Job[] = [];
      for (const job of jobs) {
        const lane = laneOf(job.claim.webhookId);
        if (lane.running < limits.perWebhook && inFlight < limits.inFlight) {
          lane.running += 1;
          inFlight += 1;
          starting.push(job);
        } else {
          lane.line.push(job);
          inLine += 1;
          if (lane.running === 0) waiting.add(lane);
        }
      }
      return starting;
    },
    ended({ claim: { webhookId } }, isGood) {
      const lane = laneOf(webhookId);
      lane.running -= 1;
      inFlight -= 1;
      lane.answered = isGood ? lane.answered + 1 : 0;
      const back = isGood ? [] : empty(lane);
      return { next: nextOf(lane) ?? nextOf(waiting.values().next().value), back };
    },
    stored() {
      for (const [webhookId, lane] of lanes) {
        lane.answered = 0;
        if (lane.running + lane.line.length === 0) lanes.delete(webhookId);
      }
    },
    recall(webhookId) {
      const lane = lanes.get(webhookId);
      return lane === undefined ? [] : empty(lane);
    },
    clear: (claimedBeforeMs) => Array.from(lanes.values(), (lane) => empty(lane, claimedBeforeMs)).flat(),
  };
}
