import { describe, expect, it } from 'vitest';
import { checkSource } from '../../../src/policies/check-source.ts';
import { policyKinds } from '../../../src/policies/policy.ts';
import type { RunState, RunType } from '../../../src/runs/run.ts';
import { starters } from '../../../src/web/ui/pages/policies/starters.ts';
import { aRun, aStack, stackSettings } from '../../support/builders.ts';
import {
  approvalInputOf,
  aReview,
  aStep,
  loginInputOf,
  planInputOf,
  pushInputOf,
  runUpdatedInputOf,
  triggerInputOf,
} from '../inputs.ts';
import { engine, judged } from './real-opa.ts';

describe('what a new policy begins with', () => {
  it.each(policyKinds)('can be saved as it is: %s', async (kind) => {
    const checked = await checkSource(engine, kind, { body: starters[kind], regoVersion: 1 });
    expect(checked).toMatchObject({ kind: 'valid', hints: [] });
  });

  it('denies a plan that deletes what holds data, and no other', async () => {
    const { PLAN } = starters;
    expect((await judged('PLAN', PLAN, planInputOf([aStep('delete')]))).outcome).toBe('denied');
    expect((await judged('PLAN', PLAN, planInputOf([aStep('create')]))).outcome).toBe('passed');
    const many = Array.from({ length: 21 }, (_, index) => aStep('create', { urn: `urn:${index}` }));
    expect((await judged('PLAN', PLAN, planInputOf(many))).messages).toEqual(['21 resources change at once']);
  });

  it('deploys the tracked branch and previews the others, but not for documentation', async () => {
    const said = async (change: Parameters<typeof pushInputOf>[0]) =>
      (await judged('PUSH', starters.PUSH, pushInputOf(change))).outcome;
    expect(await said({ branch: 'main', changedPaths: ['a.ts'] })).toBe('tracked');
    expect(await said({ branch: 'main', changedPaths: null })).toBe('tracked');
    expect(await said({ branch: 'topic', changedPaths: ['a.ts'] })).toBe('proposed');
    expect(await said({ branch: 'main', changedPaths: ['README.md'] })).toBe('undecided');
  });

  it('wants somebody else to approve what is to be applied', async () => {
    const said = async (
      current: Parameters<typeof approvalInputOf>[0],
      state: RunState = 'UNCONFIRMED',
      type: RunType = 'TRACKED',
    ) => {
      const run = aRun({ type, state, startedBy: 'person:ada', triggeredBy: 'ada' });
      return (await judged('APPROVAL', starters.APPROVAL, approvalInputOf(current, { run }))).outcome;
    };
    expect(await said([], 'QUEUED')).toBe('approved');
    expect(await said([], 'QUEUED', 'TASK')).toBe('undecided');
    expect(await said([aReview('grace')], 'QUEUED', 'TASK')).toBe('approved');
    expect(await said([aReview('ada')])).toBe('undecided');
    expect(await said([aReview('ada', { reviewer: { key: 'token:1', name: 'ada' } })])).toBe('undecided');
    expect(await said([aReview('grace')])).toBe('approved');
    expect(await said([aReview('grace'), aReview('bob', { verdict: 'reject' })])).toBe('rejected');
  });

  it('starts what comes after, tells of a failure, and lets members in', async () => {
    const next = aStack({ id: 'next', settings: stackSettings({ labels: ['after:network-prod'] }) });
    const trigger = triggerInputOf('FINISHED', { stack: aStack({ id: 'network-prod' }), stacks: [next] });
    expect((await judged('TRIGGER', starters.TRIGGER, trigger)).messages).toEqual(['next']);

    const told = await judged('NOTIFICATION', starters.NOTIFICATION, runUpdatedInputOf('FAILED'));
    expect(told.outcome).toBe('notified');

    const login = async (accounts: string[]) =>
      (await judged('LOGIN', starters.LOGIN, loginInputOf('ann', { accounts }))).outcome;
    expect([await login(['acme']), await login([])]).toEqual(['allowed', 'undecided']);
  });
});
