import { isTerminal, type Run, type RunState } from '../../../runs/run.ts';
import { deltaSigns, wordingOf } from '../wording.ts';

/** A stack as the comment of a pull request shows it. */
export interface StackView {
  readonly id: string;
  /** False: counts, states and links only. */
  readonly showsDetails: boolean;
  /** The newest PROPOSED run of the pull request. */
  readonly preview: Run | null;
  /** The newest of its runs that change something. */
  readonly deploying: Run | null;
}

/** Runs that are told in one line: one, or those of several stacks that are as far and whose plans are alike. */
export interface Row {
  /** Any of them: what is said of it is true of all. */
  readonly run: Run;
  /** By name; one at least. */
  readonly members: readonly Member[];
}

interface Member {
  readonly stackId: string;
  readonly run: Run;
}

/** What needs somebody comes first, then what is under way, then the rest; each by name. Pure. */
export function rowsOf(stacks: readonly StackView[]): readonly Row[] {
  const groups = new Map<string, Member[]>();
  const byName = stacks.toSorted((one, other) => compare(one.id, other.id));
  for (const { id: stackId, showsDetails, preview, deploying } of byName) {
    for (const run of [preview, deploying]) {
      if (!run) continue;
      const key = (showsDetails ? likenessOf(run) : null) ?? run.id;
      const group = groups.get(key);
      if (group) group.push({ stackId, run });
      else groups.set(key, [{ stackId, run }]);
    }
  }
  const rows = [...groups.values()].flatMap((members) => {
    const [first] = members;
    return first ? [{ run: first.run, members }] : [];
  });
  // Stable: within a rank they stay in the order of their first names.
  return rows.toSorted((one, other) => rankOf(one.run.state) - rankOf(other.run.state));
}

/** The same for runs of which the same is to be said; null for one whose plan is not known. */
function likenessOf(run: Run): string | null {
  const { planLikeness, type, commit, delta, isUntrusted = false } = run;
  if (planLikeness === undefined) return null;
  const { headline, sentence } = wordingOf(run);
  const signs = delta ? deltaSigns(delta) : '';
  return JSON.stringify([type, commit.hash, headline, sentence, signs, isUntrusted, planLikeness]);
}

function rankOf(state: RunState): number {
  if (state === 'UNCONFIRMED' || state === 'PENDING_REVIEW') return 0;
  if (state === 'FAILED') return 1;
  return isTerminal(state) ? 3 : 2;
}

/** By code units: a name has its place whatever the language of the server. */
const compare = (one: string, other: string): number => Number(one > other) - Number(one < other);
