import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { checkSource } from '../../../src/policies/check-source.ts';
import { judgedBy, type Reading } from '../../../src/policies/decision.ts';
import { kinds } from '../../../src/policies/kinds.ts';
import { createOpa } from '../../../src/policies/opa.ts';
import type { PolicyKind, RegoVersion } from '../../../src/policies/policy.ts';
import { createNoSandbox } from '../../../src/sandbox/none.ts';
import { pathOfTool } from '../../support/real-opa.ts';

export const opaPath = pathOfTool('opa');

const directory = mkdtempSync(join(tmpdir(), 'slipway-opa-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

export const engine = createOpa({ path: opaPath, sandbox: createNoSandbox(), directory });

/** What the real opa makes of a policy that can be saved, and Slipway of that. Throws for one that cannot. */
export async function judged(
  kind: PolicyKind,
  body: string,
  input: unknown,
  regoVersion: RegoVersion = 1,
): Promise<Reading> {
  const source = { body, regoVersion };
  const checked = await checkSource(engine, kind, source);
  if (checked.kind !== 'valid') throw new Error(JSON.stringify(checked));
  const { timeLimitMs } = kinds[kind];
  const { rules } = checked;
  const evaluation = await engine.evaluate({ source, input: JSON.stringify(input), rules, timeLimitMs });
  return judgedBy(kind, rules, evaluation);
}
