import { createRedactor } from '../sandbox/output.ts';
import type { Assignment, ServerApi } from './server-api.ts';

/**
 * Keeps the values of a run's secret variables out of everything that is stored about it besides the output
 * of its commands, which passes through the same redactor on its way to the log (command-runner.ts).
 */
export function secretsOf({ frozen }: Assignment): readonly string[] {
  const variables = frozen.variables.filter(({ secret }) => secret).map(({ value }) => value);
  return [...variables, ...(frozen.toolSecrets ?? [])];
}

export function hideSecrets(secrets: readonly string[], text: string): string {
  const redactor = createRedactor(secrets);
  return Buffer.concat([redactor.write(Buffer.from(text)), redactor.flush()]).toString('utf8');
}

/** The steps of a plan (or its marks) as they are stored: ids, inputs, names may hold a secret of the environment. */
export function hiddenSteps<T>(assignment: Assignment, steps: readonly T[]): readonly T[] {
  const secrets = secretsOf(assignment);
  return secrets.length === 0 ? steps : hiddenIn(secrets, steps);
}

const hiddenIn = <T>(secrets: readonly string[], value: T): T =>
  JSON.parse(hideSecrets(secrets, JSON.stringify(value))) as T;

/** The same server, told nothing that holds a secret: hooks and tasks may spell one out, plans may carry one. */
export function withoutSecrets(server: ServerApi, assignment: Assignment): ServerApi {
  const secrets = secretsOf(assignment);
  if (secrets.length === 0) return server;
  const hide = (text: string) => hideSecrets(secrets, text);
  return {
    ...server,
    command: (given, record) =>
      server.command(given, { ...record, label: hide(record.label), argv: record.argv.map(hide) }),
    failed: (given, failure) => server.failed(given, { ...failure, note: hide(failure.note) }),
    planned: (given, plan, draining) => {
      const hidden = {
        ...plan,
        steps: hiddenSteps(assignment, plan.steps),
        marks: hiddenSteps(assignment, plan.marks ?? []),
        custom: hiddenIn(secrets, plan.custom ?? {}),
      };
      return server.planned(given, hidden, draining);
    },
  };
}
