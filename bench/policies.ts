/** What policies cost: a large plan through the engine in the sandbox, against `opa eval` typed by hand, and many policies on one push. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../src/clock.ts';
import { createLogger } from '../src/logger.ts';
import type { PolicyEngine } from '../src/policies/engine.ts';
import type { planOfSteps } from '../src/policies/input/plan.ts';
import { createJudging } from '../src/policies/judging.ts';
import { createOpa } from '../src/policies/opa.ts';
import { createBubblewrap } from '../src/sandbox/bubblewrap.ts';
import { closeInheritedDescriptors } from '../src/sandbox/descriptors.ts';
import { findTool, toolCacheDir } from '../src/tools.ts';
import { planInputOf, pushInputOf } from '../test/policies/inputs.ts';
import { aPolicy } from '../test/support/policies.ts';
import { type Benchmark, type Figure, inSeconds, median } from './figure.ts';

const rounds = 7;
const planRules = ['deny', 'warn'];
const pushPolicies = 20;

export const policies: Benchmark = {
  name: 'policies',
  about: 'a plan of 10,000 steps through a policy against a bare opa eval, and 20 policies on one push',
  async measure(say) {
    closeInheritedDescriptors();
    const path = opaPath();
    const directory = await mkdtemp(join(tmpdir(), 'slipway-bench-'));
    try {
      const sandbox = createBubblewrap({ directory: join(directory, 'sandbox') });
      const engine = createOpa({ path, sandbox, directory: join(directory, 'evaluations') });
      const standing = await engine.standing();
      if (standing.kind === 'unavailable') throw new Error(standing.reason);
      say(`${standing.engine}, ${sandbox.describe()}`);
      return [...(await largePlan(engine, path, directory, say)), await onePush(engine, say)];
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

async function largePlan(
  engine: PolicyEngine,
  path: string,
  directory: string,
  say: (line: string) => void,
): Promise<Figure[]> {
  const input = JSON.stringify(planInputOf(Array.from({ length: 10_000 }, (_, index) => aStep(index))));
  const files = { policy: join(directory, 'plan.rego'), input: join(directory, 'plan.json') };
  await writeFile(files.policy, planPolicy);
  await writeFile(files.input, input);
  const query = 'result := [data.slipway.deny, data.slipway.warn]';
  const bare = ['eval', '--strict-builtin-errors', '--data', files.policy, '--input', files.input, query];

  const measured: { engineMs: number; bareMs: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const engineMs = await timed(async () => {
      const request = { source: { body: planPolicy, regoVersion: 1 }, rules: planRules } as const;
      const evaluation = await engine.evaluate({ ...request, input, timeLimitMs: 45_000 });
      if (evaluation.kind === 'failed') throw new Error(JSON.stringify(evaluation.failure));
    });
    const bareMs = await timed(() => execute(path, bare, { maxBuffer: 64 * 1024 * 1024 }));
    say(`${round === 0 ? 'warm-up' : round}: engine ${inSeconds(engineMs)}, bare ${inSeconds(bareMs)}`);
    if (round > 0) measured.push({ engineMs, bareMs });
  }
  const [engineMs, bareMs] = [
    median(measured.map((each) => each.engineMs)),
    median(measured.map((each) => each.bareMs)),
  ];
  const size = `${(input.length / 1024 ** 2).toFixed(1)} MiB of input`;
  return [
    {
      ...{ what: 'plan of 10,000 steps through a policy', value: engineMs, unit: 'ms' },
      detail: `${size}, start of opa and sandbox included; median of ${rounds}`,
    },
    {
      what: 'the same ÷ a bare opa eval',
      value: median(measured.map((each) => each.engineMs / each.bareMs)),
      unit: '',
      detail: `${inSeconds(engineMs)} ÷ ${inSeconds(bareMs)}, medians of ${rounds}`,
    },
  ];
}

async function onePush(engine: PolicyEngine, say: (line: string) => void): Promise<Figure> {
  const judging = createJudging({ engine, clock: systemClock, logger: createLogger('silent') });
  const many = Array.from({ length: pushPolicies }, (_, index) =>
    aPolicy({ id: `policy-${index}`, kind: 'PUSH', rules: ['track', 'ignore'], body: pushPolicy }),
  );
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const ms = await timed(async () => {
      const judgements = await judging.judge('PUSH', many, pushInputOf(), {
        signal: new AbortController().signal,
      });
      const failed = judgements.find(({ failure }) => failure !== null);
      if (failed) throw new Error(JSON.stringify(failed.failure));
    });
    say(`${round === 0 ? 'warm-up' : round}: ${pushPolicies} policies on a push ${inSeconds(ms)}`);
    if (round > 0) times.push(ms);
  }
  return {
    ...{ what: `${pushPolicies} policies on one push`, value: median(times), unit: 'ms' },
    detail: `two at once; median of ${rounds}`,
  };
}

const planPolicy = `package slipway

deny contains sprintf("%s must not be deleted", [step.urn]) if {
	some step in input.pulumi.steps
	step.op == "delete"
	startswith(step.type, "aws:rds/")
}

deny contains sprintf("%s needs an owner", [step.urn]) if {
	some step in input.pulumi.steps
	step.op in {"create", "update"}
	not step.new.inputs.tags.owner
}

warn contains sprintf("%s is public", [step.urn]) if {
	some step in input.pulumi.steps
	step.new.inputs.acl == "public-read"
}

warn contains sprintf("%s has an unusual name", [step.urn]) if {
	some step in input.pulumi.steps
	not regex.match(\`^[a-z0-9-]+$\`, step.new.inputs.bucket)
}
`;

const pushPolicy = `package slipway

track if input.push.branch == input.stack.branch

ignore if {
	every path in input.push.affected_files { endswith(path, ".md") }
}
`;

function aStep(index: number): ReturnType<typeof planOfSteps>['steps'][number] {
  const type = 'aws:s3/bucketV2:BucketV2';
  const urn = `urn:pulumi:production::shop::${type}::bucket-${index}`;
  const provider = 'urn:pulumi:production::shop::pulumi:providers:aws::default_6_83_0::04da6b54-80e4';
  const tags = { owner: `team-${index % 9}`, environment: 'production', service: 'shop' };
  const state = (acl: string) => ({
    ...{ custom: true, id: `bucket-${index}`, provider, type, urn },
    inputs: { acl, bucket: `bucket-${index}`, tags },
    outputs: { acl, arn: `arn:aws:s3:::bucket-${index}`, bucket: `bucket-${index}`, tags },
    parent: 'urn:pulumi:production::shop::pulumi:pulumi:Stack::shop-production',
  });
  const shared = { provider, type, urn, new: state('log-delivery-write') };
  return index % 10 === 0
    ? { ...shared, op: 'update', old: state('private') }
    : { ...shared, op: 'create', old: null };
}

async function timed(action: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await action();
  return performance.now() - startedMs;
}

const execute = promisify(execFile);

function opaPath(): string {
  const found = findTool('opa', {
    setting: process.env['OPA_PATH'],
    path: process.env['PATH'] ?? '',
    cacheDir: toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']),
  });
  if (found === null) throw new Error('opa is needed: npm run setup -- --with opa');
  return found.path;
}
