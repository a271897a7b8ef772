import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { checkSource } from '../../../src/policies/check-source.ts';
import { type PolicyKind, policyKinds } from '../../../src/policies/policy.ts';
import {
  aCommit,
  aPullRequest,
  aRun,
  aStack,
  pullRequestDetails,
  stackSettings,
} from '../../support/builders.ts';
import {
  approvalInputOf,
  aReview,
  aStep,
  loginInputOf,
  planInputOf,
  pullRequestInputOf,
  pushInputOf,
  runUpdatedInputOf,
  triggerInputOf,
} from '../inputs.ts';
import { engine, judged, opaPath } from './real-opa.ts';

const folder = join(import.meta.dirname, '../../../policies');
const names = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const bodyOf = (name: string): string => readFileSync(join(folder, name, 'policy.rego'), 'utf8');

function kindOf(body: string): PolicyKind {
  const kind = policyKinds.find((each) => body.includes(`\n# Kind: ${each}\n`));
  if (kind === undefined) throw new Error('its head names no kind');
  return kind;
}

describe.each(names)('the policy %s of the library', (name) => {
  const body = bodyOf(name);

  it('passes its own tests', async () => {
    const { stdout, exitCode } = await execa(opaPath, ['test', join(folder, name)], { reject: false });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^PASS: (\d+)\/\1$/) });
  });

  it('can be saved, and gives no hint', async () => {
    const checked = await checkSource(engine, kindOf(body), { body, regoVersion: 1 });
    expect(checked).toMatchObject({ kind: 'valid', hints: [] });
  });

  it('says in its head what to adapt, and is in the list', () => {
    expect(body).toMatch(/^# .+\n(#.*\n)*# Adapt: .+\n(#.*\n)*package slipway\n/);
    const list = readFileSync(join(folder, 'README.md'), 'utf8');
    expect(list).toContain(`| [${name}](${name}/policy.rego) | ${kindOf(body)} |`);
  });
});

const prod = aStack({ settings: stackSettings({ labels: ['prod'] }) });
const bucket = { type: 'aws:s3/bucket:Bucket' };
const at = (moment: string) => ({ nowMs: Date.parse(moment) });
const shop = aStack({ id: 'shop', settings: stackSettings({ labels: ['depends-on:network-prod'] }) });
const fork = { pullRequest: aPullRequest({ isFork: true }), branch: 'mallory:widen' };

describe('the library on inputs as they are', () => {
  const table: readonly (readonly [name: string, input: unknown, outcome: string])[] = [
    ['no-deletes', planInputOf([aStep('delete')], { stack: prod }), 'denied'],
    ['no-deletes', planInputOf([aStep('update'), aStep('create')], { stack: prod }), 'passed'],
    ['no-deletes', planInputOf([aStep('delete')]), 'passed'],
    ['allowed-types', planInputOf([aStep('create', { type: 'aws:iam/user:User' })]), 'denied'],
    [
      'allowed-types',
      planInputOf([aStep('create', bucket), aStep('delete', { type: 'aws:iam/user:User' })]),
      'passed',
    ],
    ['freeze-window', planInputOf([], at('2026-11-18T10:00:00.123Z')), 'passed'],
    ['freeze-window', planInputOf([], at('2026-11-18T19:00:00.123Z')), 'denied'],
    [
      'freeze-window',
      planInputOf([], { run: aRun({ type: 'PROPOSED' }), ...at('2026-11-21T10:00:00Z') }),
      'passed',
    ],
    ['required-tags', planInputOf([aStep('create', bucket)]), 'denied'],
    [
      'required-tags',
      planInputOf([aStep('create', { inputs: { tags: { owner: 'a', 'cost-center': '[secret]' } } })]),
      'passed',
    ],
    ['approvals', approvalInputOf([aReview('ann'), aReview('bob')]), 'approved'],
    ['approvals', approvalInputOf([aReview('ann'), aReview('ada')]), 'undecided'],
    ['approvals', approvalInputOf([aReview('ann'), aReview('bob', { verdict: 'reject' })]), 'rejected'],
    ['approvals', approvalInputOf([], { run: aRun({ state: 'QUEUED' }) }), 'approved'],
    ['named-approvers', approvalInputOf([aReview('cy')], { stack: prod }), 'undecided'],
    ['named-approvers', approvalInputOf([aReview('ann')], { stack: prod }), 'approved'],
    ['named-approvers', approvalInputOf([]), 'approved'],
    ['pull-requests-only', pushInputOf(), 'tracked'],
    ['pull-requests-only', pushInputOf({ branch: 'widen' }), 'undecided'],
    ['pull-requests-only', pullRequestInputOf(), 'proposed'],
    ['pull-requests-only', pullRequestInputOf({ isDraft: true }), 'undecided'],
    ['pull-requests-only', pullRequestInputOf(fork), 'undecided'],
    [
      'pull-requests-only',
      pullRequestInputOf({ details: pullRequestDetails({ state: 'closed' }) }),
      'undecided',
    ],
    ['deploy-on-path', pushInputOf({ changedPaths: ['infra/a.ts'] }), 'tracked'],
    ['deploy-on-path', pushInputOf({ changedPaths: ['docs/a.md'] }), 'undecided'],
    ['deploy-on-path', pushInputOf({ changedPaths: null }), 'tracked'],
    ['deploy-on-path', pullRequestInputOf(), 'proposed'],
    ['trigger-dependents', triggerInputOf('FINISHED', { stacks: [aStack(), shop] }), 'triggered'],
    ['trigger-dependents', triggerInputOf('FAILED', { stacks: [aStack(), shop] }), 'nothing'],
    ['retry-once', triggerInputOf('FAILED'), 'triggered'],
    ['retry-once', triggerInputOf('FINISHED'), 'nothing'],
    [
      'retry-once',
      triggerInputOf('FAILED', {
        workflow: ['r1', 'r2'].map((id) => ({ run: aRun({ id }), stackId: 'network-prod' })),
      }),
      'nothing',
    ],
    ['notify-on-failure', runUpdatedInputOf('FAILED'), 'notified'],
    ['notify-on-failure', runUpdatedInputOf('FINISHED'), 'nothing'],
    ['team-login', loginInputOf('ann', { accounts: ['Acme'] }), 'allowed'],
    ['team-login', loginInputOf('ann', { accounts: ['Acme'], teams: ['Acme/Platform'] }), 'admin'],
    ['team-login', loginInputOf('ann', { accounts: ['acme'], teams: null }), 'allowed'],
    ['team-login', loginInputOf('mallory', { accounts: ['other'] }), 'undecided'],
  ];

  it.each(table)('%s (row %#)', async (name, input, outcome) => {
    const body = bodyOf(name);
    expect(await judged(kindOf(body), body, input)).toMatchObject({ outcome, failure: null });
  });

  it('has a row for each policy', () => {
    expect([...new Set(table.map(([name]) => name))].toSorted()).toEqual(names.toSorted());
  });

  it('takes no author whom GitHub does not know for a maker', async () => {
    const run = aRun({ state: 'UNCONFIRMED', commit: aCommit({ authorLogin: '' }), startedBy: 'token:01J' });
    const input = approvalInputOf([aReview('ann'), aReview('bob')], { run });
    expect((await judged('APPROVAL', bodyOf('approvals'), input)).outcome).toBe('approved');
  });
});
