import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PolicyKind, policyKinds } from '../../../../policies/policy.ts';

/** A policy of the folder `policies`, to begin from. */
export interface ReadyPolicy {
  readonly name: string;
  readonly kind: PolicyKind;
  /** What it does, as its head says. */
  readonly summary: string;
  readonly body: string;
}

const folder = join(import.meta.dirname, '../../../../../policies');

/** By name; empty in an installation without the folder. Read once: an update of the server is a restart. */
export const library: readonly ReadyPolicy[] = existsSync(folder)
  ? readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort()
      .flatMap(readReady)
  : [];

function readReady(name: string): ReadyPolicy[] {
  const body = readFileSync(join(folder, name, 'policy.rego'), 'utf8');
  const kind = policyKinds.find((each) => body.includes(`\n# Kind: ${each}\n`));
  const [head = ''] = body.split('\n#\n', 1);
  const summary = head.replaceAll(/^# ?/gm, '').replaceAll('\n', ' ');
  return kind === undefined ? [] : [{ name, kind, summary, body }];
}
