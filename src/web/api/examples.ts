/** Examples of the OpenAPI document: one story of one stack. test/web/openapi-examples.test.ts holds them against the schemas. */

export const exampleIds = {
  run: '01JD4Z0P6V3Q8N5T2W7X9Y1B4C',
  webhook: '01JD4XK2M8R5T7V9W3Y6Z1A4BD',
  delivery: '01JD4Z1QH6K9M3N5P7R2S8T4VW',
  replay: '01JD5A7C2E4G6J8K1M3N5P7Q9S',
};

/** Some second of the story, in Unix seconds. */
export const exampleTime = 1_731_924_000;

const hooks = {
  beforeInit: ['npm ci'],
  afterInit: [],
  beforePlan: [],
  afterPlan: [],
  beforeApply: [],
  afterApply: [],
  beforeDestroy: [],
  afterDestroy: [],
  beforePerform: [],
  afterPerform: [],
  afterRun: [],
};

const vendor = { pulumi: { loginUrl: 's3://acme-state', stackName: 'prod' } };

export const newStackExample = {
  name: 'Network Prod',
  repository: 'acme/infra',
  projectRoot: 'network',
  labels: ['network'],
  vendor,
  hooks: { beforeInit: hooks.beforeInit },
};

export const stackExample = {
  account: 'acme',
  id: 'network-prod',
  name: 'Network Prod',
  description: '',
  labels: ['network'],
  repository: 'acme/infra',
  branch: 'main',
  projectRoot: 'network',
  additionalProjectGlobs: ['modules/**'],
  autodeploy: false,
  planBinding: true,
  promotion: false,
  publicDetails: false,
  allowForks: false,
  trustedBots: [],
  checks: 'each',
  unaffectedChecks: false,
  deploymentEnvironment: null,
  vendor,
  hooks,
  state: 'UNCONFIRMED',
  bucket: 'attention',
  lastRun: {
    id: exampleIds.run,
    type: 'TRACKED',
    state: 'UNCONFIRMED',
    since: exampleTime + 41,
    commit: {
      hash: '5f1d7a84db00d2fce00b31a7fc73224f82e5b7d4',
      subject: 'Give the bucket a lifecycle',
      authorName: 'Ada Lovelace',
    },
    triggeredBy: 'ada',
    delta: { added: 1, changed: 2, deleted: 0, resources: 14 },
  },
  queued: 0,
  lock: null,
  role: 'admin',
  managedBy: null,
};

export const runExample = {
  id: exampleIds.run,
  stack: { account: 'acme', id: 'network-prod', name: 'Network Prod' },
  type: 'TRACKED',
  state: 'UNCONFIRMED',
  stateVersion: 6,
  branch: 'main',
  commit: {
    authorLogin: 'ada',
    authorName: 'Ada Lovelace',
    hash: '5f1d7a84db00d2fce00b31a7fc73224f82e5b7d4',
    message: 'Give the bucket a lifecycle',
    timestamp: exampleTime,
    url: 'https://github.com/acme/infra/commit/5f1d7a84db00d2fce00b31a7fc73224f82e5b7d4',
  },
  trust: 'tracked' as const,
  createdAt: exampleTime,
  triggeredBy: 'ada',
  delta: { added: 1, changed: 2, deleted: 0, resources: 14 },
};

export const troubleExample = {
  kind: 'state-locked' as const,
  lockId: null,
  holder: 'runner@slipway, process 17',
  sinceMs: (exampleTime - 10_800) * 1000,
};

export const explanationExample = {
  run: exampleIds.run,
  state: 'FAILED' as const,
  stateVersion: 10,
  happened: 'The lock of the state is held by somebody else. Nothing was applied.',
  note: 'The state is locked, for 3 hours, by runner@slipway, process 17. Nothing was changed.',
  next: [
    {
      text: 'A task releases the lock of the state that runner@slipway, process 17 holds.',
      command: `slipway run mend ${exampleIds.run}`,
      action: 'mend' as const,
    },
    { text: 'Run it again.', command: `slipway run retry ${exampleIds.run}`, action: 'retry' as const },
  ],
  trouble: troubleExample,
  mend: { standing: 'possible' as const, command: 'pulumi cancel --yes' },
};

export const stateChangeExample = {
  state: 'UNCONFIRMED',
  stateVersion: 6,
  timestamp: exampleTime + 41,
  actor: 'worker',
};

export const commandExample = {
  phase: 'planning',
  label: 'pulumi preview',
  argv: ['pulumi', 'preview', '--non-interactive'],
  startedAtMs: (exampleTime + 20) * 1000,
  durationMs: 20_480,
  exitCode: 0,
};

/** A step of a plan: an object of the specification's. */
export const stepExample = {
  op: 'create',
  urn: 'urn:pulumi:prod::network::aws:s3/bucketV2:BucketV2::logs',
  type: 'aws:s3/bucketV2:BucketV2',
  name: 'logs',
};

/** The body of the webhook for that state of the run. */
export const payloadExample = {
  account: 'acme',
  state: 'UNCONFIRMED',
  stateVersion: 6,
  timestamp: exampleTime + 41,
};

export const webhookExample = {
  id: exampleIds.webhook,
  stack: { account: 'acme', id: 'network-prod' },
  endpoint: 'https://receiver.example/slipway',
  enabled: true,
  filter: { states: ['FINISHED', 'FAILED'], runTypes: ['TRACKED'] },
  headers: { authorization: '***' },
  createdAt: exampleTime - 86_400,
};

const explanation = {
  what: 'The receiver answered 503: it is overloaded or down.',
  advice: 'Look at the log of the receiver; the delivery is tried again by itself.',
};

export const attemptExample = {
  number: 1,
  at: exampleTime + 42,
  outcome: 'failed',
  durationMs: 212,
  statusCode: 503,
  explanation,
};

export const deliveryExample = {
  id: exampleIds.delivery,
  webhook: exampleIds.webhook,
  run: exampleIds.run,
  stateVersion: 6,
  state: 'UNCONFIRMED',
  status: 'pending',
  createdAt: exampleTime + 41,
  nextAttemptAt: exampleTime + 47,
  attempts: [attemptExample],
};

export const replayExample = {
  id: exampleIds.replay,
  webhook: exampleIds.webhook,
  status: 'running',
  since: exampleTime - 7200,
  until: exampleTime,
  failedOnly: true,
  total: 12,
  queued: 4,
  createdAt: exampleTime,
  createdBy: 'ada',
};

export const inboxDeliveryExample = {
  id: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  event: 'push',
  state: 'done',
  attempts: 1,
  receivedAt: exampleTime,
  note: `network-prod: TRACKED run ${exampleIds.run}`,
  size: 7124,
};

export const systemExample = {
  version: '0.1.0',
  startedAt: exampleTime - 86_400,
  ok: true,
  checks: [{ name: 'pulumi', status: 'ok', detail: '3.259.0, /usr/bin/pulumi (from PATH)' }],
  workers: 2,
  jobs: { waiting: 0, running: 1, waitingSince: null },
  runs: [{ state: 'UNCONFIRMED', count: 1 }],
  deliveries: { pending: 1, due: 0, inFlight: 0, dueSince: null },
  inbox: { pending: 0, failed: 0, pendingSince: null },
  outbox: { waiting: 0 },
};

export const tokenExample = {
  id: '01JD3P9R5T7V1X3Z5B7D9F1H3K',
  name: 'prometheus',
  role: 'reader',
  account: null,
  createdAt: exampleTime - 86_400,
  createdBy: 'ada',
  expiresAt: null,
  lastUsedAt: exampleTime,
};

export const auditExample = {
  id: '41',
  at: exampleTime + 300,
  actor: { kind: 'person', key: 'person:ada', name: 'ada' },
  via: 'ui',
  address: '203.0.113.7',
  operation: 'POST /api/v1/runs/{run}/confirm',
  parameters: { run: exampleIds.run },
  account: 'acme',
  stack: 'network-prod',
  run: exampleIds.run,
  outcome: 'done',
  status: 200,
};

export const stackCountsExample = {
  total: 12,
  buckets: {
    attention: 1,
    failed: 0,
    'in-progress': 1,
    'on-hold': 0,
    stopped: 0,
    finished: 9,
    'never-ran': 1,
  },
  labels: [{ label: 'network', count: 4 }],
  repositories: [{ repository: 'acme/infra', count: 12 }],
};

export const resourceChangeExample = {
  op: 'update',
  urn: 'urn:pulumi:prod::network::aws:s3/bucketV2:BucketV2::logs',
  type: 'aws:s3/bucketV2:BucketV2',
  name: 'logs',
  movedFrom: null,
  parents: [],
  protected: false,
  mayHoldData: true,
  replacedFor: [],
  properties: [{ path: 'tags.env', old: 'test', new: 'prod' }],
  moreProperties: false,
};
