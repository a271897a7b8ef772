import type { z } from 'zod';
import { fields, forTerminal, oneLine, table, time } from './output.ts';
import type {
  decisionObject,
  PolicyObject,
  SaidObject,
  sampleObject,
  simulatedRunObject,
  versionObject,
} from './policy-objects.ts';

/** Policies and what they said, for people. */
export function listedPolicies(policies: readonly PolicyObject[]): string {
  if (policies.length === 0) return 'No policies yet.';
  return table(
    ['ID', 'ACCOUNT', 'KIND', 'NAME', 'VERSION', 'LABELS'],
    policies.map(({ id, account, kind, name, version, labels }) => [
      ...[id, account ?? '(server)', kind, name, String(version), labels.join(', ')],
    ]),
  );
}

export function describedPolicy(policy: PolicyObject): string {
  const facts = fields([
    ['id', policy.id],
    ['name', policy.name],
    ['account', policy.account ?? '(server)'],
    ['kind', policy.kind],
    ['description', policy.description],
    ['labels', policy.labels.join(', ')],
    ['rules', policy.rules.join(', ')],
    ['rego', `v${policy.regoVersion}`],
    ['version', `${policy.version}, ${time(policy.updatedAt)} by ${policy.updatedBy}`],
  ]);
  // Lines of the source stay lines; forTerminal leaves line feeds and tabs.
  return `${facts}\n\n${forTerminal(policy.body.replaceAll('\r', '')).trimEnd()}`;
}

export function savedPolicy(verb: string, { id, version, hints = [] }: PolicyObject): string {
  return [`${verb} policy ${id}, version ${version}.`, ...hints.map((hint) => `Hint: ${oneLine(hint)}`)].join(
    '\n',
  );
}

export function listedVersions(versions: readonly z.infer<typeof versionObject>[]): string {
  return table(
    ['VERSION', 'REGO', 'MADE', 'BY', 'DIGEST'],
    versions.map(({ version, regoVersion, createdAt, createdBy, digest }) => [
      ...[String(version), `v${regoVersion}`, time(createdAt), createdBy, digest.slice(0, 12)],
    ]),
  );
}

export function listedDecisions(decisions: readonly z.infer<typeof decisionObject>[]): string {
  if (decisions.length === 0) return 'It has not been asked yet.';
  return table(
    ['ID', 'AT', 'VERSION', 'OUTCOME', 'OF', 'RUN', 'SAID'],
    decisions.map(({ id, at, policy, outcome, subject, run, ...said }) => [
      ...[id, time(at), String(policy.version), outcome, subject, run ?? '', reasonsOf(said).join('; ')],
    ]),
  );
}

export function listedSamples(samples: readonly z.infer<typeof sampleObject>[]): string {
  if (samples.length === 0) return 'No input was kept: a policy asks for it with its rule `sample`.';
  return table(
    ['ID', 'AT', 'VERSION', 'OUTCOME', 'OF'],
    samples.map(({ id, at, policyVersion, outcome, subject }) => [
      ...[id, time(at), String(policyVersion), outcome, subject],
    ]),
  );
}

export function describedSimulation(said: SaidObject): string {
  const head = `${said.outcome} in ${Math.round(said.durationMs)} ms`;
  return [head, ...reasonsOf(said).map((reason) => `  ${oneLine(reason)}`)].join('\n');
}

export function listedSimulations(runs: readonly z.infer<typeof simulatedRunObject>[]): string {
  if (runs.length === 0) return 'It judges no stack that has a plan.';
  return table(
    ['RUN', 'STACK', 'THEN', 'NOW', 'SAID'],
    runs.map(({ run, stack, recorded, outcome, ...said }) => [
      ...[
        run,
        `${stack.account}/${stack.id}`,
        recorded ?? '(not asked)',
        outcome,
        reasonsOf(said).join('; '),
      ],
    ]),
  );
}

function reasonsOf({ messages, failure }: Pick<SaidObject, 'messages' | 'failure'>): readonly string[] {
  if (!failure) return messages;
  const place = failure.line === undefined ? '' : `line ${failure.line}: `;
  return [`${failure.code}: ${place}${failure.message}`];
}
