import { expect, it } from 'vitest';
import type { GateOutcome } from '../../../src/runs/approvals/gate.ts';
import { isReviewed } from '../../../src/runs/approvals/review.ts';
import { isTerminal, type Run } from '../../../src/runs/run.ts';
import { fc } from '../../support/fast-check.ts';
import { undrained } from '../../support/run-world.ts';
import { openApprovalWorld } from './approval-world.ts';

type Step =
  | { readonly kind: 'make'; readonly type: 'TRACKED' | 'PROPOSED' }
  | { readonly kind: 'judge'; readonly run: number; readonly outcome: GateOutcome }
  | { readonly kind: 'review' | 'confirm' | 'discard' | 'cancel'; readonly run: number }
  | { readonly kind: 'policies'; readonly guards: readonly string[] }
  | { readonly kind: 'plan' }
  | { readonly kind: 'sweep' };

const run = fc.nat(1);
const outcome = fc.constantFrom<GateOutcome>('approved', 'approved', 'undecided', 'failed', 'rejected');
const guards = fc.constantFrom<readonly string[]>(['p1 1'], ['p1 2'], ['p1 2', 'p2 1'], []);
const of = <S extends Step>(weight: number, arbitrary: fc.Arbitrary<S>) => ({ weight, arbitrary });
const step: fc.Arbitrary<Step> = fc.oneof(
  of(1, fc.record({ kind: fc.constant('make' as const), type: fc.constantFrom('TRACKED', 'PROPOSED') })),
  of(1, fc.record({ kind: fc.constant('judge' as const), run, outcome })),
  of(3, fc.record({ kind: fc.constant('judge' as const), run, outcome: fc.constant('approved' as const) })),
  of(2, fc.record({ kind: fc.constant('review' as const), run })),
  of(4, fc.record({ kind: fc.constant('confirm' as const), run })),
  of(1, fc.record({ kind: fc.constantFrom('discard' as const, 'cancel' as const), run })),
  of(1, fc.record({ kind: fc.constant('policies' as const), guards })),
  of(2, fc.record({ kind: fc.constantFrom('plan' as const, 'plan' as const, 'sweep' as const) })),
);

/** How often a run passed in all: a gate that is never open would hold, too. */
const passed = { READY: 0, CONFIRMED: 0 };

it('no run begins or is confirmed unless every policy of now approved it as it stands', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 40 }), async (steps) => {
      await using world = await openApprovalWorld();
      const made = [await world.planned()];
      /** What the test itself let the policies say: by run and version, for which policies. */
      const approved = new Set<string>();
      const asked = ({ id, stateVersion }: Run) => `${id} ${stateVersion} ${world.guards.toSorted().join()}`;
      const mayPass = (of: Run) => world.guards.length === 0 || approved.has(asked(of));

      async function unfinished(nth: number): Promise<string | undefined> {
        const all = await Promise.all(made.map(world.run));
        const left = all.filter(({ state }) => !isTerminal(state));
        return left[nth % Math.max(left.length, 1)]?.id;
      }

      async function take(what: Step): Promise<void> {
        if (what.kind === 'make') made.push(await world.made(what.type));
        else if (what.kind === 'policies') {
          world.guards.splice(0, world.guards.length, ...what.guards);
        } else if (what.kind === 'sweep') await world.scheduler.sweep();
        else if (what.kind === 'plan') {
          const work = await world.claim();
          if (!work) return;
          if (isTerminal(work.run.state)) return world.finish(work);
          if (work.half !== 'plan') return;
          for (const report of ['prepared', 'initialized'] as const) await world.server[report](work);
          await world.server.planned(
            work,
            {
              ...{ hasChanges: true, delta: { added: 1, changed: 0, deleted: 0, resources: 1 } },
              ...{ steps: [{ op: 'create' }], file: null, autodeploy: false },
            },
            undrained,
          );
          if ((await world.run(work.run.id)).state === 'FINISHED') await world.finish(work);
        } else await onRun(what, await unfinished(what.run));
        await world.scheduler.settled();
      }

      async function onRun(what: Extract<Step, { run: number }>, id: string | undefined): Promise<void> {
        if (id === undefined) return;
        const before = await world.run(id);
        if (what.kind === 'judge') {
          if (!isReviewed(before.state)) return;
          if (what.outcome === 'approved') approved.add(asked(before));
          else approved.delete(asked(before));
          await world.judge(id, what.outcome);
        } else if (what.kind === 'review') {
          if (!isReviewed(before.state) || world.guards.length === 0) return;
          for (const each of [...approved].filter((key) => key.startsWith(`${id} `))) approved.delete(each);
          // Of the same changes: what was said of these did not know of it either.
          if (before.changesDigest) {
            for (const other of made.filter((each) => each > id)) {
              const later = await world.run(other);
              if (later.changesDigest === before.changesDigest) approved.delete(asked(later));
            }
          }
          await world.review(id, 'ann', 'approve');
        } else if (what.kind === 'confirm') {
          await world
            .confirm(id)
            .catch((error: { code?: string }) => expect(error.code).toBe('approval-required'));
        } else if (what.kind === 'discard' || what.kind === 'cancel') {
          await world.commands[what.kind](id, { actor: 'bob' });
        }
      }

      for (const what of steps) {
        const before = await Promise.all(made.map(world.run));
        await take(what);
        for (const was of before) {
          const now = (await world.runs.events(was.id)).find(
            ({ stateVersion }) => stateVersion === was.stateVersion + 1,
          );
          if (now?.state !== 'READY' && now?.state !== 'CONFIRMED') continue;
          expect(mayPass(was), asked(was)).toBe(true);
          passed[now.state] += 1;
        }
      }
    }),
    { numRuns: 50 },
  );
  expect(passed.READY).toBeGreaterThan(20);
  expect(passed.CONFIRMED).toBeGreaterThan(10);
}, 120_000);
