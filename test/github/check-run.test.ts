import { describe, expect, test } from 'vitest';
import { checkRunOf } from '../../src/github/feedback/check-run.ts';
import {
  nothingToChange,
  type Outcome,
  type Run,
  type RunState,
  type RunType,
  runStates,
} from '../../src/runs/run.ts';
import { aPullRequest, aRepository, aStack, stackSettings } from '../support/builders.ts';
import { anEvent } from './builders.ts';

const settings = { publicUrl: 'https://slipway.example.com', isSandboxed: true };
const checkOf = (run: Partial<Run>, change: Parameters<typeof anEvent>[1] = {}) =>
  checkRunOf(anEvent(run, change), settings);
const delta = { added: 3, changed: 2, deleted: 1, resources: 12 };
const types: readonly RunType[] = ['PROPOSED', 'TRACKED', 'TASK', 'DESTROY'];

describe('the check run of a run', () => {
  test('is named after the stack, and found again by the run', () => {
    const check = checkOf({ id: '01JX', type: 'TRACKED' });

    expect(check).toMatchObject({
      name: 'slipway/network-prod',
      head_sha: anEvent().run.commit.hash,
      external_id: '01JX',
      details_url: 'https://slipway.example.com/runs/01JX',
    });
    expect(checkOf({ type: 'PROPOSED' }).name).toBe('slipway/network-prod (preview)');
  });

  test.each<[RunState, string, string | undefined, string[]]>([
    ['QUEUED', 'queued', undefined, ['cancel']],
    ['READY', 'queued', undefined, ['cancel']],
    ['PREPARING', 'in_progress', undefined, ['stop']],
    ['INITIALIZING', 'in_progress', undefined, ['stop']],
    ['PLANNING', 'in_progress', undefined, ['stop']],
    ['PENDING_REVIEW', 'completed', 'action_required', ['discard']],
    ['UNCONFIRMED', 'completed', 'action_required', ['confirm', 'discard']],
    ['CONFIRMED', 'in_progress', undefined, []],
    ['PREPARING_APPLY', 'in_progress', undefined, []],
    ['APPLYING', 'in_progress', undefined, []],
    ['DESTROYING', 'in_progress', undefined, []],
    ['PERFORMING', 'in_progress', undefined, []],
    ['FINISHED', 'completed', 'success', []],
    ['FAILED', 'completed', 'failure', ['retry']],
    ['STOPPED', 'completed', 'cancelled', ['retry']],
    ['DISCARDED', 'completed', 'cancelled', ['retry']],
    ['CANCELED', 'completed', 'cancelled', ['retry']],
  ])('of state %s is %s, %s, with the buttons %j', (state, status, conclusion, buttons) => {
    const check = checkOf({ state });

    expect([check.status, check.conclusion]).toEqual([status, conclusion]);
    expect(check.actions.map(({ identifier }) => identifier)).toEqual(buttons);
    expect(check.completed_at !== undefined).toBe(status === 'completed');
  });

  test('of a tear-down has no button to confirm it', () => {
    const check = checkOf({ state: 'UNCONFIRMED', type: 'DESTROY' });
    expect(check.actions.map(({ identifier }) => identifier)).toEqual(['discard']);
  });

  const ofPreview = (run: Partial<Run>, promotion: boolean) =>
    checkOf(
      { type: 'PROPOSED', state: 'FINISHED', ...run },
      { stack: aStack({ settings: stackSettings({ promotion }) }) },
    ).actions.map(({ identifier }) => identifier);

  test.each<[string, Partial<Run>, boolean, string[]]>([
    ['a branch', {}, false, ['preview']],
    ['a branch, with promotion', {}, true, ['deploy', 'preview']],
    ['a pull request, with promotion', { pullRequest: aPullRequest() }, true, ['deploy', 'preview']],
    ['a fork, with promotion', { pullRequest: aPullRequest({ isFork: true }) }, true, []],
    ['a merge group', { branch: 'gh-readonly-queue/main/pr-7-abc' }, true, []],
    ['a branch that failed', { state: 'FAILED' }, true, ['retry']],
  ])('of a preview of %s has its buttons', (_what, run, promotion, buttons) => {
    expect(ofPreview(run, promotion)).toEqual(buttons);
  });

  test('says since when it is in a state that it is to leave by itself', () => {
    const since = 'Since 2026-11-21 10:00:00 UTC.';
    const shows = runStates.filter((state) => checkOf({ state }).output.summary.includes(since));
    expect(shows).toEqual([
      ...['QUEUED', 'READY', 'PREPARING', 'INITIALIZING', 'PLANNING'],
      ...['CONFIRMED', 'PREPARING_APPLY', 'APPLYING', 'DESTROYING', 'PERFORMING'],
    ]);
  });

  test("keeps to GitHub's lengths whatever the run is", () => {
    const note = 'x'.repeat(100_000);
    for (const state of runStates) {
      for (const type of types) {
        const stack = aStack({ settings: stackSettings({ promotion: true }) });
        const check = checkOf({ state, type, delta }, { note, stack });
        expect(check.output.title.length).toBeLessThanOrEqual(255);
        expect(check.output.summary.length).toBeLessThan(65_535);
        expect(check.actions.length).toBeLessThanOrEqual(3);
        for (const { label, description, identifier } of check.actions) {
          expect([label.length <= 20, description.length <= 40, identifier.length <= 20]).not.toContain(
            false,
          );
        }
      }
    }
  });

  test('says in words where the run stands, what would change and where to look', () => {
    const { output } = checkOf({ state: 'UNCONFIRMED', delta }, { note: 'plan of 3f2a91c' });

    expect(output.title).toBe('Waiting for confirmation: +3 ~2 -1');
    expect(output.summary).toBe(
      [
        'Nothing is applied until somebody confirms it.',
        '3 added, 2 changed, 1 deleted; 12 resources.',
        '```text\nplan of 3f2a91c\n```',
        'Its commands see the variables of access `all` and `tracked`, and once it applies those of `apply`.',
        '[Open the run](https://slipway.example.com/runs/01JRUN0000000000000000000A)',
      ].join('\n\n'),
    );
  });

  test.each<[RunType, Outcome | undefined, typeof delta | undefined, RunState, string]>([
    ['PROPOSED', undefined, delta, 'FINISHED', 'Previewed: +3 ~2 -1'],
    ['TRACKED', undefined, delta, 'FINISHED', 'Applied: +3 ~2 -1'],
    ['TASK', undefined, undefined, 'FINISHED', 'Done'],
    ['DESTROY', undefined, delta, 'FINISHED', 'Destroyed: +3 ~2 -1'],
    ['TRACKED', 'timeout', undefined, 'FAILED', 'Failed'],
  ])('of a %s run (%s) is titled', (type, outcome, counted, state, title) => {
    const known = { ...(outcome ? { outcome } : {}), ...(counted ? { delta: counted } : {}) };
    expect(checkOf({ type, state, ...known }).output.title).toBe(title);
  });

  test('of a plan without changed resources says that nothing changes only when the outputs are the same too', () => {
    const unchanged = { state: 'FINISHED', delta: { ...delta, added: 0, changed: 0, deleted: 0 } } as const;
    const titles = (run: Partial<Run>) =>
      (['PROPOSED', 'TRACKED', 'DESTROY'] as const).map(
        (type) => checkOf({ ...unchanged, ...run, type }).output.title.split(':')[0],
      );
    expect(titles({})).toEqual(['Previewed', 'Applied', 'Destroyed']);
    expect(titles({ note: nothingToChange })).toEqual([
      ...['Nothing to change', 'Nothing to change', 'Nothing to destroy'],
    ]);
  });

  test('gives the reason of a failure', () => {
    expect(checkOf({ state: 'FAILED', outcome: 'out_of_memory' }).output.summary).toContain('more memory');
  });

  test('on a public repository shows counts and links only, unless the stack says otherwise', () => {
    const repository = aRepository({ isPrivate: false });
    const change = (publicDetails: boolean) => ({
      note: 'hook said: connect to db.internal',
      stack: aStack({ repository, settings: stackSettings({ publicDetails }) }),
    });

    const closed = checkOf({ state: 'FAILED', delta }, change(false)).output.summary;
    const open = checkOf({ state: 'FAILED', delta }, change(true)).output.summary;

    expect(closed).not.toContain('db.internal');
    expect(closed).toContain('3 added');
    expect(closed).toContain('/runs/');
    expect(open).toContain('db.internal');
  });

  test('does not let a note out of its block', () => {
    const note = '``` ![x](https://evil.example/x.png) ````';
    const { summary } = checkOf({ state: 'FAILED' }, { note }).output;

    expect(summary).toContain(`\`\`\`\`\`text\n${note}\n\`\`\`\`\``);
  });

  test('names nobody by e-mail', () => {
    const check = checkOf({ triggeredBy: 'ada@example.com' });
    expect(JSON.stringify(check)).not.toContain('ada@example.com');
  });

  test.each<[Partial<Run>, string]>([
    [{ type: 'PROPOSED' }, 'Its commands see the variables of access `all`.'],
    [
      { type: 'TRACKED' },
      'Its commands see the variables of access `all` and `tracked`, and once it applies those of `apply`.',
    ],
    [{ type: 'TASK' }, 'Its commands see the variables of access `all`, `tracked` and `apply`.'],
    [
      { type: 'PROPOSED', isUntrusted: true },
      'Untrusted: it comes from a fork, or from a bot that is not trusted. It runs without secrets: its commands see only plain variables of access `all`.',
    ],
  ])('says what the commands of %j see', (change, line) => {
    expect(checkOf(change).output.summary.split('\n\n')).toContain(line);
  });

  test('says so on a server without a sandbox', () => {
    const check = checkRunOf(anEvent(), { ...settings, isSandboxed: false });
    expect(check.output.summary).toContain('without a sandbox');
    expect(checkOf({}).output.summary).not.toContain('without a sandbox');
  });
});
