import { exampleIds, exampleTime } from './examples.ts';

/** Examples of what is about policies, from the story of examples.ts. */
export const policyExampleIds = {
  policy: '01JD4R7K9M1P3Q5S7T9V2W4X6Y',
  decision: '01JD4Z14A6B8C0D2E4F6G8H0JK',
};

const body = `package slipway

deny contains "buckets stay" if {
	some step in input.pulumi.steps
	step.op == "delete"
	startswith(step.type, "aws:s3/")
}
`;

export const newPolicyExample = {
  name: 'buckets stay',
  kind: 'PLAN',
  account: 'acme',
  labels: ['autoattach:network'],
  body,
};

export const policyExample = {
  id: policyExampleIds.policy,
  account: 'acme',
  name: 'buckets stay',
  description: '',
  kind: 'PLAN',
  labels: ['autoattach:network'],
  regoVersion: 1,
  body,
  rules: ['deny'],
  version: 1,
  digest: '5f0c7d4b6a1e93a2c8d4f7e6b5a4938271605f4e3d2c1b0a9f8e7d6c5b4a3928',
  createdAt: exampleTime - 86_400,
  updatedAt: exampleTime - 86_400,
  updatedBy: 'ada',
};

const said = {
  outcome: 'denied',
  messages: ['buckets stay'],
  result: { deny: ['buckets stay'] },
  durationMs: 43,
};

export const simulationExample = said;

export const decisionExample = {
  id: policyExampleIds.decision,
  at: exampleTime + 30,
  policy: {
    id: policyExampleIds.policy,
    name: 'buckets stay',
    version: 1,
    digest: policyExample.digest,
    kind: 'PLAN',
  },
  subject: 'the plan',
  run: exampleIds.run,
  stack: { account: 'acme', id: 'network-prod' },
  ...said,
  inputDigest: '0b1c2d3e4f5061728394a5b6c7d8e9f00b1c2d3e4f5061728394a5b6c7d8e9f0',
  engine: 'opa 1.22.0',
};

export const sampleExample = {
  id: policyExampleIds.decision,
  at: exampleTime + 30,
  policy: policyExampleIds.policy,
  policyVersion: 1,
  kind: 'PLAN',
  subject: 'the plan',
  outcome: 'denied',
  run: exampleIds.run,
  stack: { account: 'acme', id: 'network-prod' },
};
