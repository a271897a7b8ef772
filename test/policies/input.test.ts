import { describe, expect, it } from 'vitest';
import { nanosecondsOf } from '../../src/policies/input/moment.ts';
import { planOfSteps } from '../../src/policies/input/plan.ts';
import { createPulumiVendor } from '../../src/vendors/pulumi/vendor.ts';
import {
  aCommit,
  aPullRequest,
  aRepository,
  aRun,
  aStack,
  pullRequestDetails,
  stackSettings,
} from '../support/builders.ts';
import { fc } from '../support/fast-check.ts';
import { outputsOf, recording } from '../vendors/pulumi/recordings.ts';
import {
  approvalInputOf,
  aReview,
  aState,
  aStep,
  loginInputOf,
  planInputOf,
  pullRequestInputOf,
  pushInputOf,
  runUpdatedInputOf,
  triggerInputOf,
} from './inputs.ts';

describe('times', () => {
  it('are exact as JSON text, whatever the millisecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (ms) => {
        expect(JSON.stringify(nanosecondsOf(ms))).toBe((BigInt(ms) * 1_000_000n).toString());
      }),
    );
  });
});

describe('the steps of a plan', () => {
  it('have exactly the fields of the specification', () => {
    const [step] = planOfSteps([
      { ...aStep('update'), extra: 1, new: { ...aState(), protect: true }, old: aState({ id: 'before' }) },
    ]).steps;
    expect(Object.keys(step ?? {}).sort()).toEqual(['new', 'old', 'op', 'provider', 'type', 'urn']);
    const fields = ['custom', 'id', 'inputs', 'outputs', 'parent', 'provider', 'type', 'urn'];
    expect(Object.keys(step?.new ?? {}).sort()).toEqual(fields);
    expect(Object.keys(step?.old ?? {}).sort()).toEqual(fields);
  });

  it('have null for the side that is not there', () => {
    const { steps } = planOfSteps([aStep('create'), aStep('delete')]);
    expect(steps).toMatchObject([
      { op: 'create', old: null, new: { custom: true } },
      { op: 'delete', new: null, old: { custom: true } },
    ]);
  });

  it('alter no value, whatever it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (inputs) => {
        const [step] = planOfSteps([aStep('create', { inputs })]).steps;
        expect(JSON.stringify(step?.new?.inputs)).toBe(JSON.stringify(inputs));
      }),
    );
    const inputs = JSON.parse('{"__proto__": {"a": 1}, "password": "[secret]", "plain": "hunter2"}');
    const { steps } = planOfSteps([aStep('create', { inputs })]);
    expect(JSON.stringify(steps[0]?.new?.inputs)).toBe(JSON.stringify(inputs));
  });

  it.each([[{ op: 'replace' }], [{ op: 'read' }], [{ urn: 7 }], [{ new: [] }], [{ new: undefined }]])(
    'are not %j',
    (change) => {
      expect(() => planOfSteps([{ ...aStep('create'), ...change }])).toThrow();
    },
  );

  it.each([
    'create',
    'update',
    'delete',
    'replace-create-first',
    'replace-delete-first',
    'component',
    'drift',
  ])('of the real tool pass as they are: %s', async (name) => {
    const vendor = await createPulumiVendor({ pulumiPath: null });
    const plan = await vendor.readPlan([outputsOf(recording(name))], 'apply');
    if (plan.kind !== 'planned') throw new Error(plan.message);
    expect(plan.steps.length).toBeGreaterThan(0);
    expect(planOfSteps(plan.steps)).toEqual({ steps: plan.steps });
  });
});

describe('the input of plan policies', () => {
  it('has the plan under the name of the tool, and all else beside it', () => {
    const steps = [aStep('create')];
    const input = planInputOf(steps, { custom: { scanner: { findings: 2 } } });
    expect(Object.keys(input)).toEqual(['pulumi', 'slipway', 'third_party_metadata']);
    expect(input['pulumi']).toEqual({ steps });
    expect(input.third_party_metadata).toEqual({ custom: { scanner: { findings: 2 } } });
    expect(Object.keys(input.slipway)).toEqual(['run', 'stack', 'commit', 'request']);
    expect(input.slipway.request).toEqual({ timestamp_ns: nanosecondsOf(1_795_000_600_123) });

    const other = planInputOf([], { tool: { name: 'terraform', plan: { resource_changes: [] } } });
    expect(other['terraform']).toEqual({ resource_changes: [] });
    expect(other).not.toHaveProperty('pulumi');
  });

  it('has the run before, if there is one', () => {
    const previousRun = aRun({ id: 'before', state: 'FAILED' });
    expect(planInputOf([], { previousRun }).slipway.previous_run).toMatchObject({
      id: 'before',
      state: 'FAILED',
    });
  });

  it('says of a run what Slipway knows', () => {
    const run = aRun({
      ...{ state: 'PLANNING', stateVersion: 5, isUntrusted: true, pullRequest: aPullRequest() },
      commit: aCommit({ authorLogin: 'Ada', timestamp: 1_795_000_000 }),
      delta: { added: 1, changed: 0, deleted: 0, resources: 3 },
    });
    expect(planInputOf([aStep('create')], { run, flags: ['again'] }).slipway.run).toMatchInlineSnapshot(`
      {
        "based_on_local_workspace": false,
        "branch": "main",
        "changes": [
          {
            "action": "added",
            "entity": {
              "address": "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs",
              "entity_type": "aws:s3/bucket:Bucket",
              "entity_vendor": "pulumi",
              "name": "logs",
              "type": "resource",
            },
            "phase": "plan",
          },
        ],
        "commit": {
          "author": "ada",
          "author_name": "Ada Example",
          "branch": "main",
          "created_at": 1795000000000000000,
          "hash": "1f0c2b3a4d5e6f708192a3b4c5d6e7f8091a2b3c",
          "message": "Widen the network",
          "pull_request_id": 7,
          "url": "https://github.example/acme/infra/commit/1f0c2b3a4d5e6f708192a3b4c5d6e7f8091a2b3c",
        },
        "created_at": 1795000000000000000,
        "creator_session": {
          "login": "ada",
          "machine": false,
          "name": "ada@example.com",
        },
        "delta": {
          "added": 1,
          "changed": 0,
          "deleted": 0,
          "resources": 3,
        },
        "drift_detection": false,
        "flags": [
          "again",
        ],
        "id": "01JRUN0000000000000000000A",
        "state": "PLANNING",
        "state_version": 5,
        "triggered_by": "ada@example.com",
        "type": "TRACKED",
        "untrusted": true,
      }
    `);
  });

  it.each([
    ['create', ['added']],
    ['update', ['changed']],
    ['delete', ['deleted']],
    ['create-replacement', ['deleted', 'added']],
    ['same', []],
    ['refresh', []],
  ] as const)('counts %s as %j', (op, actions) => {
    const { changes } = planInputOf([aStep(op)]).slipway.run;
    expect(changes?.map(({ action }) => action)).toEqual(actions);
  });
});

describe('who somebody is', () => {
  it.each([
    ['person:ada', 'ada@example.com', { login: 'ada', name: 'ada@example.com', machine: false }],
    // Named after a person: not that person.
    ['token:01JTOKEN', 'ada', { login: 'token:01JTOKEN', name: 'ada', machine: true }],
    ['server', 'slipway', { login: 'server', name: 'slipway', machine: true }],
  ])('%s', (startedBy, triggeredBy, session) => {
    const { run } = triggerInputOf('FAILED', { run: aRun({ startedBy, triggeredBy }) });
    expect(run.creator_session).toEqual(session);
    expect(run.triggered_by).toBe(triggeredBy);
  });
});

describe('the reviews of a run', () => {
  it('count once for each person: the newest', () => {
    const { current } = approvalInputOf([
      aReview('ann', { atMs: 3000, verdict: 'reject', note: 'no' }),
      aReview('ann', { atMs: 1000 }),
      aReview('bob', { atMs: 2000, role: 'admin' }),
    ]).reviews;
    expect(current.approvals).toEqual([
      {
        ...{ author: 'bob', role: 'admin', state: 'UNCONFIRMED', note: null },
        session: { login: 'bob', name: 'bob@example.com', machine: false },
        request: { timestamp_ns: 2_000_000_000 },
      },
    ]);
    expect(current.rejections).toMatchObject([{ author: 'ann', note: 'no' }]);
  });

  it('are kept apart by state', () => {
    const older = [
      aReview('ann', { state: 'QUEUED', stateVersion: 1 }),
      aReview('bob', { state: 'UNCONFIRMED', stateVersion: 5, verdict: 'reject' }),
    ];
    const { reviews } = approvalInputOf([], { older });
    expect(reviews.current).toEqual({ approvals: [], rejections: [] });
    expect(reviews.older).toMatchObject([
      { state: 'UNCONFIRMED', approvals: [], rejections: [{ author: 'bob' }] },
      { state: 'QUEUED', approvals: [{ author: 'ann' }], rejections: [] },
    ]);
  });

  it('count once for each person: any order, one each', () => {
    const review = fc
      .record({ login: fc.constantFrom('ann', 'bob', 'cy'), atMs: fc.nat(1000), approves: fc.boolean() })
      .map(({ login, atMs, approves }) => aReview(login, { atMs, verdict: approves ? 'approve' : 'reject' }));
    fc.assert(
      fc.property(fc.uniqueArray(review, { selector: ({ atMs }) => atMs }), (all) => {
        const { approvals, rejections } = approvalInputOf(all).reviews.current;
        const counted = [...approvals, ...rejections].map(({ author }) => author).sort();
        expect(counted).toEqual([...new Set(all.map(({ reviewer }) => reviewer.key.slice(7)))].sort());
        expect(approvalInputOf(all.toReversed()).reviews).toEqual(approvalInputOf(all).reviews);
      }),
    );
  });
});

describe('the input of push policies', () => {
  const stack = aStack({ settings: stackSettings({ projectRoot: 'network' }) });

  it('tells of a push', () => {
    const input = pushInputOf({}, { stack, inProgress: [aRun({ id: 'r1' })] });
    expect(input.push).toMatchObject({
      author: 'ada',
      branch: 'main',
      tag: '',
      affected: true,
      forced: false,
    });
    expect(input.push.affected_files).toEqual(['network/main.ts']);
    expect(input).toMatchObject({ pull_request: null, in_progress: [{ id: 'r1' }] });
    expect(input.stack).toMatchObject({ namespace: 'acme', repository: 'infra', project_root: 'network' });
  });

  it('says when the files are not known, and when they are none of the stack’s', () => {
    expect(pushInputOf({ changedPaths: null }, { stack }).push).toMatchObject({
      affected_files: null,
      affected: true,
    });
    expect(pushInputOf({ changedPaths: ['other/main.ts'] }, { stack }).push.affected).toBe(false);
  });

  it('tells of a pull request, and whose it is', () => {
    const input = pullRequestInputOf({
      details: pullRequestDetails({ labels: ['preview'], action: 'labeled' }),
    });
    expect(input.push).toMatchObject({ hash: '2'.repeat(40), branch: 'widen', author: 'ada' });
    expect(input.pull_request).toEqual({
      ...{
        id: 7,
        title: 'Widen it',
        author: 'bob',
        action: 'labeled',
        action_initiator: 'bob',
        labels: ['preview'],
      },
      base: { branch: 'main' },
      head: { branch: 'widen', hash: '2'.repeat(40) },
      ...{ head_owner: 'acme', fork: false, draft: false, closed: false, mergeable: true },
      diff: ['network/main.ts'],
    });
    const details = pullRequestDetails({ headOwner: 'Mallory', state: 'merged', isMergeable: null });
    const pullRequest = aPullRequest({ isFork: true });
    expect(pullRequestInputOf({ pullRequest, details, branch: 'Mallory:widen' })).toMatchObject({
      event: 'pull_request',
      pull_request: { head_owner: 'mallory', fork: true, closed: true, mergeable: null },
    });
  });
});

describe('the inputs of other kinds', () => {
  it('have all stacks and the whole workflow, for triggers', () => {
    const other = aStack({ id: 'app', repository: aRepository({ fullName: 'acme/app' }) });
    const input = triggerInputOf('FINISHED', { stacks: [aStack(), other] });
    expect(input.stacks.map(({ id, repository }) => [id, repository])).toEqual([
      ['network-prod', 'infra'],
      ['app', 'app'],
    ]);
    expect(input.workflow).toEqual([
      { id: '01JRUN0000000000000000000A', stack_id: 'network-prod', state: 'FINISHED', type: 'TRACKED' },
    ]);
  });

  it('tell how long a run was in its states', () => {
    expect(runUpdatedInputOf('FAILED').run_updated?.timing).toEqual([
      { state: 'QUEUED', duration: 500_000_000 },
      { state: 'READY', duration: 59_500_000_000 },
    ]);
  });

  it('tell who logs in, with logins in lower case', () => {
    expect(loginInputOf('Ann', { accounts: ['Acme'], teams: ['Acme/Platform'] })).toMatchObject({
      ...{ session: { login: 'ann', admin: false }, accounts: ['acme'], teams: ['acme/platform'] },
    });
  });
});
