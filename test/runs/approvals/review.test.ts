import { describe, expect, it } from 'vitest';
import { currentReviews, type Review } from '../../../src/runs/approvals/review.ts';
import { aRun } from '../../support/builders.ts';
import { aReview } from '../../support/reviews.ts';

const run = aRun({ id: 'r2', state: 'UNCONFIRMED', stateVersion: 6 });
const of = (id: string, name: string, verdict: Review['verdict'], change: Partial<Review> = {}) =>
  aReview({
    id,
    runId: 'r2',
    stateVersion: 6,
    verdict,
    reviewer: { key: `person:${name}`, name },
    ...change,
  });
const carried = (id: string, name: string, verdict: Review['verdict']) =>
  of(id, name, verdict, { runId: 'r1', stateVersion: 9 });

function brief(ofRun: readonly Review[], ofChanges: readonly Review[] = []) {
  const { current, older } = currentReviews(run, ofRun, ofChanges);
  const names = (reviews: readonly Review[]) => reviews.map(({ reviewer }) => reviewer.name);
  return { for: names(current.approvals), against: names(current.rejections), older: names(older) };
}

describe('the reviews that count', () => {
  it('are the newest of each person', () => {
    const reviews = [of('1', 'ann', 'reject'), of('2', 'bob', 'approve'), of('3', 'ann', 'approve')];
    expect(brief(reviews)).toEqual({ for: ['bob', 'ann'], against: [], older: [] });
    expect(brief([...reviews, of('4', 'bob', 'reject')])).toMatchObject({ for: ['ann'], against: ['bob'] });
  });

  it('are of the state in which the run is; those of states before it are older', () => {
    const before = { stateVersion: 1, state: 'QUEUED' } as const;
    const reviews = [of('1', 'ann', 'reject', before), of('2', 'ann', 'approve', before)];
    expect(brief([...reviews, of('3', 'bob', 'approve')])).toEqual({
      for: ['bob'],
      against: [],
      older: ['ann'],
    });
  });

  it('are carried from earlier runs with the same changes, when they approve', () => {
    const earlier = [carried('1', 'ann', 'approve'), carried('2', 'bob', 'approve')];
    expect(brief([], earlier)).toEqual({ for: ['ann', 'bob'], against: [], older: [] });
    expect(brief([of('4', 'ann', 'reject')], earlier)).toMatchObject({ for: ['bob'], against: ['ann'] });
  });

  it('are not carried over a rejection: starting the run again gets around nobody', () => {
    const vetoed = [carried('1', 'ann', 'approve'), carried('2', 'bob', 'reject')];
    expect(brief([], vetoed)).toEqual({ for: [], against: [], older: [] });
    expect(brief([], [...vetoed, carried('3', 'cy', 'approve')])).toMatchObject({ for: ['cy'], against: [] });
    expect(brief([of('4', 'ann', 'approve')], vetoed)).toMatchObject({ for: ['ann'], against: [] });
  });
});
