import { hash } from 'node:crypto';
import { changesOf, type ResourceChange } from './plan-changes.ts';
import { propertyChanges } from './property-changes.ts';
import { takeTurns } from './turns.ts';

/** What a plan would do, by URN: a digest of the operations and of all that each changes. Secrets all look alike. */
export type PlanPrint = ReadonlyMap<string, string>;

/** URNs, each in one list at most. */
export interface PlanComparison {
  /** The later plan changes them, the earlier one did not. */
  readonly added: readonly string[];
  /** The other way round. */
  readonly gone: readonly string[];
  /** Both change them, in different ways. */
  readonly different: readonly string[];
}

export async function planPrint(steps: readonly unknown[]): Promise<PlanPrint> {
  const othersGoOn = takeTurns();
  const all = new Map<string, string[]>();
  for (const change of changesOf(steps)) {
    await othersGoOn();
    const print = printOf(change);
    const same = all.get(change.urn);
    if (same) same.push(print);
    else all.set(change.urn, [print]);
  }
  return new Map([...all].map(([urn, prints]) => [urn, prints.sort().join()]));
}

/** The same for two plans of one stack exactly when nothing differs between them. */
export function printDigest(print: PlanPrint): string {
  return sha256(JSON.stringify([...print].sort(([one], [other]) => (one < other ? -1 : 1))));
}

export function comparePlans(earlier: PlanPrint, later: PlanPrint): PlanComparison {
  const shared = [...later.keys()].filter((urn) => earlier.has(urn));
  return {
    added: [...later.keys()].filter((urn) => !earlier.has(urn)),
    gone: [...earlier.keys()].filter((urn) => !later.has(urn)),
    different: shared.filter((urn) => earlier.get(urn) !== later.get(urn)),
  };
}

/** Everything counts here, so there is no limit but that of the plan itself. */
const noLimits = { leaves: true, mostCompared: Number.POSITIVE_INFINITY, mostLevels: 300 };

function printOf({ op, old, new: now, movedFrom }: ResourceChange): string {
  const places: string[] = [];
  for (const change of propertyChanges(old, now, undefined, noLimits)) {
    if (change.kind === 'change')
      places.push(JSON.stringify([change.path, side(change.old), side(change.new)]));
  }
  const moved = movedFrom === null ? [] : [{ movedFrom }];
  return sha256(JSON.stringify([op, ...moved, ...places.sort()]));
}

/** What is not there is no null. */
const side = (value: unknown): readonly unknown[] => (value === undefined ? [] : [value]);

const sha256 = (text: string): string => hash('sha256', text);
