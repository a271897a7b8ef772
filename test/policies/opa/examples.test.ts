import { describe, expect, it } from 'vitest';
import { combinePlan } from '../../../src/policies/decisions/plan.ts';
import type { PolicyKind } from '../../../src/policies/policy.ts';
import { aPullRequest, aRun, aStack, pullRequestDetails, stackSettings } from '../../support/builders.ts';
import { aJudgement, aPolicy } from '../../support/policies.ts';
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
import { aTerraformPlan } from '../terraform-plan.ts';
import { judged } from './real-opa.ts';

/** What people write for each kind, judged by the real opa on inputs as the builders make them. */
type Case = readonly [input: unknown, expected: object];
interface Example {
  readonly kind: PolicyKind;
  readonly what: string;
  readonly rules: string;
  readonly cases: readonly Case[];
}

const network = aStack({ settings: stackSettings({ projectRoot: 'network', autodeploy: true }) });
const preview = aRun({ type: 'PROPOSED', state: 'PLANNING' });
const topic = { branch: 'topic' };
const labeled = (label: string) => ({ details: pullRequestDetails({ action: 'labeled', labels: [label] }) });

const plan: readonly Example[] = [
  {
    kind: 'PLAN',
    what: 'denies in a preview what it only warns of in a deployment',
    rules: `
      found contains sprintf("%s is to go", [step.urn]) if {
        some step in input.pulumi.steps
        step.op == "delete"
      }
      deny contains msg if { input.slipway.run.type == "PROPOSED"; some msg in found }
      warn contains msg if { input.slipway.run.type == "TRACKED"; some msg in found }`,
    cases: [
      [planInputOf([aStep('delete')], { run: preview }), { outcome: 'denied' }],
      [planInputOf([aStep('delete')]), { outcome: 'warned' }],
      [planInputOf([aStep('create')]), { outcome: 'passed', messages: [] }],
    ],
  },
  {
    kind: 'PLAN',
    what: 'reads the plan of Terraform and OpenTofu as the tool writes it',
    rules: `
      deny contains sprintf("%s would be deleted", [change.address]) if {
        some change in input.terraform.resource_changes
        change.mode == "managed"
        "delete" in change.change.actions
      }
      warn contains "the password is not secret" if input.terraform.variables.password.value != "[secret]"`,
    cases: [
      [
        planInputOf([], { tool: { name: 'terraform', plan: aTerraformPlan() } }),
        {
          outcome: 'denied',
          messages: [
            'aws_s3_bucket.logs would be deleted',
            'module.db.aws_db_instance.main["eu"] would be deleted',
          ],
        },
      ],
      [planInputOf([aStep('delete')]), { outcome: 'passed' }],
    ],
  },
  {
    kind: 'PLAN',
    what: 'limits how much may be deleted at once',
    rules: `
      deleted := [change | some change in input.slipway.run.changes; change.action == "deleted"]
      deny contains sprintf("%d resources would be deleted", [count(deleted)]) if count(deleted) > 1`,
    cases: [
      [planInputOf([aStep('delete')]), { outcome: 'passed' }],
      [
        planInputOf([aStep('delete'), aStep('delete', { urn: 'urn:pulumi:dev::shop::a:b:C::other' })]),
        { outcome: 'denied', messages: ['2 resources would be deleted'] },
      ],
    ],
  },
  {
    kind: 'PLAN',
    what: 'goes by what a scanner has left',
    rules: `
      warn contains sprintf("%d critical findings", [n]) if {
        n := input.third_party_metadata.custom.scanner.critical
        n > 0
      }`,
    cases: [
      [
        planInputOf([], { custom: { scanner: { critical: 3 } } }),
        { outcome: 'warned', messages: ['3 critical findings'] },
      ],
      [planInputOf([], { custom: { scanner: { critical: 0 } } }), { outcome: 'passed' }],
      [planInputOf([]), { outcome: 'passed' }],
    ],
  },
  {
    kind: 'PLAN',
    what: 'tells a secret from a password in plain text',
    rules: `
      deny contains {"msg": sprintf("%s has a password in plain text", [step.urn]), "urn": step.urn} if {
        some step in input.pulumi.steps
        step.new.inputs.password != "[secret]"
      }`,
    cases: [
      [planInputOf([aStep('create', { inputs: { password: '[secret]' } })]), { outcome: 'passed' }],
      [
        planInputOf([aStep('create', { inputs: { password: 'hunter2' } })]),
        { messages: ['urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs has a password in plain text'] },
      ],
    ],
  },
  {
    kind: 'PLAN',
    what: 'keeps inputs of what it denies, and notes it on the run',
    rules: `
      deny contains "not after a failure" if input.slipway.previous_run.state == "FAILED"
      sample if count(deny) > 0
      flag contains "blocked" if count(deny) > 0
      reset_flag contains "blocked" if count(deny) == 0`,
    cases: [
      [
        planInputOf([], { previousRun: aRun({ state: 'FAILED' }) }),
        { outcome: 'denied', sample: true, flags: { add: ['blocked'], reset: [] } },
      ],
      [planInputOf([]), { outcome: 'passed', sample: false, flags: { add: [], reset: ['blocked'] } }],
    ],
  },
];

const push: readonly Example[] = [
  {
    kind: 'PUSH',
    what: 'does what is done without policies',
    rules: `
      track if { input.push.affected; input.push.branch == input.stack.branch }
      propose if input.push.affected
      ignore if not input.push.affected`,
    cases: [
      [pushInputOf({}, { stack: network }), { outcome: 'tracked' }],
      [pushInputOf(topic, { stack: network }), { outcome: 'proposed' }],
      [pullRequestInputOf({}, { stack: network }), { outcome: 'proposed' }],
      [pushInputOf({ changedPaths: ['other/a.ts'] }, { stack: network }), { outcome: 'ignored' }],
      [pushInputOf({ changedPaths: null }, { stack: network }), { outcome: 'tracked' }],
    ],
  },
  {
    kind: 'PUSH',
    what: 'turns deployments into previews while the stack is locked',
    rules: `
      track if input.push.branch == input.stack.branch
      propose if true
      ignore_track if input.stack.locked_by != null`,
    cases: [
      [pushInputOf(), { outcome: 'tracked' }],
      [
        pushInputOf(
          {},
          {
            stack: aStack({
              lock: {
                holder: 'ann',
                holderKey: 'person:ann',
                kind: 'person',
                reason: '',
                run: null,
                sinceMs: 0,
              },
            }),
          },
        ),
        { outcome: 'proposed' },
      ],
    ],
  },
  {
    kind: 'PUSH',
    what: 'previews pull requests with a label, and says why not the others',
    rules: `
      wanted if "preview" in input.pull_request.labels
      propose if wanted
      notify if not wanted
      message contains "put the label preview on it to see what it changes" if not wanted`,
    cases: [
      [pullRequestInputOf(labeled('preview')), { outcome: 'proposed', messages: [] }],
      [
        pullRequestInputOf(labeled('docs')),
        { outcome: 'undecided', messages: ['put the label preview on it to see what it changes'] },
      ],
    ],
  },
  {
    kind: 'PUSH',
    what: 'cancels previews that are not wanted any more',
    rules: `
      propose if true
      cancel contains run.id if {
        some run in input.in_progress
        run.type == "PROPOSED"
        run.state == "QUEUED"
        run.branch == input.push.branch
      }`,
    cases: [
      [
        pushInputOf(topic, {
          inProgress: [
            aRun({ id: 'r1', type: 'PROPOSED', branch: 'topic' }),
            aRun({ id: 'r2', type: 'PROPOSED', branch: 'other' }),
            aRun({ id: 'r3', type: 'PROPOSED', branch: 'topic', state: 'PLANNING' }),
          ],
        }),
        { outcome: 'proposed', values: { propose: true, cancel: ['r1'] } },
      ],
    ],
  },
  {
    kind: 'PUSH',
    what: 'lets a pull request hold the stack while it is open',
    rules: `
      key := sprintf("pull request #%d", [input.pull_request.id])
      lock := key if { "hold" in input.pull_request.labels; not input.pull_request.closed }
      unlock := key if input.pull_request.closed
      propose if not input.pull_request.closed`,
    cases: [
      [
        pullRequestInputOf(labeled('hold')),
        { outcome: 'proposed', values: { propose: true, lock: 'pull request #7' } },
      ],
      [
        pullRequestInputOf({ details: pullRequestDetails({ state: 'merged', action: 'merged' }) }),
        { outcome: 'undecided', values: { unlock: 'pull request #7' } },
      ],
      [pushInputOf(), { outcome: 'proposed', values: { propose: true } }],
    ],
  },
  {
    kind: 'PUSH',
    what: 'takes forks of people it knows, and hurries for some',
    rules: `
      propose if true
      allow_fork if input.pull_request.head_owner in {"bob"}
      prioritize if input.push.author == "ada"`,
    cases: [
      [
        pullRequestInputOf({
          pullRequest: aPullRequest({ isFork: true }),
          details: pullRequestDetails({ headOwner: 'Bob' }),
        }),
        { values: { propose: true, allow_fork: true, prioritize: true } },
      ],
      [pullRequestInputOf(), { values: { propose: true, prioritize: true } }],
    ],
  },
  {
    kind: 'PUSH',
    what: 'moves on without a run for what only changes texts',
    rules: `
      track if true
      notrigger if { every file in input.push.affected_files { endswith(file, ".md") } }`,
    cases: [
      [pushInputOf({ changedPaths: ['a.md', 'b/c.md'] }), { values: { track: true, notrigger: true } }],
      [pushInputOf({ changedPaths: ['a.md', 'b.ts'] }), { values: { track: true } }],
    ],
  },
];

const others: readonly Example[] = [
  {
    kind: 'APPROVAL',
    what: 'needs an administrator, and more people for a second look',
    rules: `
      approve if { some review in input.reviews.current.approvals; review.role == "admin" }
      approve if count(input.reviews.current.approvals) > 1
      reject if { some review in input.reviews.current.rejections; review.role == "admin" }`,
    cases: [
      [approvalInputOf([aReview('ann', { role: 'admin' })]), { outcome: 'approved' }],
      [approvalInputOf([aReview('ann')]), { outcome: 'undecided' }],
      [approvalInputOf([aReview('ann'), aReview('bob')]), { outcome: 'approved' }],
      [approvalInputOf([aReview('ann'), aReview('ann', { atMs: 1 })]), { outcome: 'undecided' }],
      [
        approvalInputOf([
          aReview('ann'),
          aReview('bob'),
          aReview('cy', { role: 'admin', verdict: 'reject' }),
        ]),
        { outcome: 'rejected' },
      ],
    ],
  },
  {
    kind: 'APPROVAL',
    what: 'only looks at tasks, by their command',
    rules: `
      approve if input.run.type != "TASK"
      approve if input.run.command in {"pulumi stack export", "pulumi about"}
      reject_with_note contains "nobody deletes a state by hand" if contains(input.run.command, "state delete")`,
    cases: [
      [approvalInputOf([]), { outcome: 'approved' }],
      [
        approvalInputOf([], { run: aRun({ type: 'TASK', command: 'pulumi about' }) }),
        { outcome: 'approved' },
      ],
      [approvalInputOf([], { run: aRun({ type: 'TASK', command: 'env' }) }), { outcome: 'undecided' }],
      [
        approvalInputOf([], { run: aRun({ type: 'TASK', command: 'pulumi state delete x' }) }),
        { outcome: 'rejected', messages: ['nobody deletes a state by hand'] },
      ],
    ],
  },
  {
    kind: 'APPROVAL',
    what: 'goes by flags of earlier policies and by what was said before',
    rules: `
      approve if not "risky" in input.run.flags
      approve if { some older in input.reviews.older; count(older.approvals) > 0 }`,
    cases: [
      [approvalInputOf([]), { outcome: 'approved' }],
      [approvalInputOf([], { flags: ['risky'] }), { outcome: 'undecided' }],
      [
        approvalInputOf([], {
          flags: ['risky'],
          older: [aReview('ann', { state: 'QUEUED', stateVersion: 1 })],
        }),
        { outcome: 'approved' },
      ],
    ],
  },
  {
    kind: 'TRIGGER',
    what: 'waits for both sides of a diamond',
    rules: `
      finished contains run.stack_id if { some run in input.workflow; run.state == "FINISHED" }
      trigger contains "shop" if { input.run.state == "FINISHED"; {"left", "right"} - finished == set() }`,
    cases: [
      [
        triggerInputOf('FINISHED', { workflow: [{ run: aRun({ state: 'FINISHED' }), stackId: 'left' }] }),
        { outcome: 'nothing' },
      ],
      [
        triggerInputOf('FINISHED', {
          workflow: ['left', 'right'].map((stackId) => ({ run: aRun({ state: 'FINISHED' }), stackId })),
        }),
        { outcome: 'triggered', messages: ['shop'] },
      ],
      [
        triggerInputOf('FINISHED', {
          workflow: [
            { run: aRun({ state: 'FINISHED' }), stackId: 'left' },
            { run: aRun({ state: 'FAILED' }), stackId: 'right' },
          ],
        }),
        { outcome: 'nothing' },
      ],
    ],
  },
  {
    kind: 'NOTIFICATION',
    what: 'sends what took long to an endpoint, and failures to the inbox',
    rules: `
      webhook contains {"endpoint_id": endpoint.id, "payload": {"run": update.run.id, "seconds": seconds}} if {
        update := input.run_updated
        some endpoint in input.webhook_endpoints
        endpoint.stack_id == update.stack.id
        seconds := sum([state.duration | some state in update.timing]) / 1000000000
        seconds > 30
      }
      inbox contains {"title": "It has failed", "body": input.run_updated.note, "severity": "ERROR"} if {
        input.run_updated.state == "FAILED"
      }`,
    cases: [
      [
        runUpdatedInputOf('FINISHED'),
        {
          outcome: 'notified',
          values: {
            inbox: [],
            webhook: [{ endpoint_id: 'hook-1', payload: { run: aRun().id, seconds: 60 } }],
          },
        },
      ],
    ],
  },
  {
    kind: 'LOGIN',
    what: 'lets in by account, gives roles by team, and keeps one out',
    rules: `
      allow if input.session.member
      deny if input.session.login == "mallory"
      roles[account] contains "reader" if some account in input.accounts
      roles["acme/network-prod"] contains "writer" if "acme/network" in input.teams`,
    cases: [
      [loginInputOf('ann', { accounts: ['acme'] }), { outcome: 'allowed', messages: ['acme: reader'] }],
      [
        loginInputOf('ann', { accounts: ['acme'], teams: ['acme/network'] }),
        { outcome: 'allowed', messages: ['acme: reader', 'acme/network-prod: writer'] },
      ],
      [loginInputOf('Mallory', { accounts: ['acme'] }), { outcome: 'denied' }],
      [loginInputOf('cy'), { outcome: 'undecided' }],
    ],
  },
];

const cases = [...plan, ...push, ...others].flatMap(({ kind, what, rules, cases }) =>
  cases.map(([input, expected], index) => ({ kind, what, rules, input, expected, case: index + 1 })),
);

it.each(cases)('$kind: $what ($case)', async ({ kind, rules, input, expected }) => {
  expect(await judged(kind, `package slipway\n${rules}\n`, input)).toEqual({
    ...{
      outcome: expect.any(String),
      messages: expect.any(Array),
      values: expect.any(Object),
      failure: null,
    },
    ...{ sample: expect.any(Boolean), flags: expect.any(Object) },
    ...expected,
  });
});

describe('several policies of a kind', () => {
  it('are combined after each was judged alone, though they share a package and names', async () => {
    const input = planInputOf([aStep('delete')]);
    const bodies = [
      'package slipway\nhelper := 1\ndeny contains "one" if helper == 1\n',
      'package slipway\nhelper := 2\nwarn contains "two" if helper == 2\n',
    ];
    const judgements = await Promise.all(
      bodies.map(async (body, index) =>
        aJudgement({ policy: aPolicy({ name: `p${index}` }), ...(await judged('PLAN', body, input)) }),
      ),
    );
    expect(combinePlan(judgements)).toEqual({ outcome: 'denied', messages: ['p0: one', 'p1: two'] });
  });
});
