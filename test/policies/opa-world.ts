/** The real opa in the real sandbox; without opa it fails and says so, because a skipped test proves nothing. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { EvaluationRequest } from '../../src/policies/engine.ts';
import { createOpa, type Opa } from '../../src/policies/opa.ts';
import type { RegoVersion } from '../../src/policies/policy.ts';
import { createNoSandbox } from '../../src/sandbox/none.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { findTool, toolCacheDir } from '../../src/tools.ts';
import { createHarness } from '../sandbox/harness.ts';

export function opaPath(): string {
  const found = findTool('opa', {
    setting: process.env['OPA_PATH'],
    path: process.env['PATH'] ?? '',
    cacheDir: toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']),
  });
  if (found) return found.path;
  throw new Error('opa is needed for this test: node tools/setup.js --with opa');
}

export interface OpaWorld extends Disposable {
  readonly opa: Opa;
  readonly sandbox: Sandbox;
  /** Where evaluations have their folders. */
  readonly directory: string;
  /** An evaluation of `deny` of a body below `package slipway`, so that its first line is line 2. */
  evaluate(body: string, change?: Partial<EvaluationRequest>): ReturnType<Opa['evaluate']>;
  check(body: string, regoVersion?: RegoVersion): ReturnType<Opa['check']>;
}

export async function anOpaWorld(kind: Sandbox['kind'] = 'bubblewrap'): Promise<OpaWorld> {
  const harness = await createHarness();
  const sandbox = kind === 'none' ? createNoSandbox() : harness.sandbox;
  const directory = join(harness.root, 'evaluations');
  const opa = createOpa({ path: opaPath(), sandbox, directory });
  const sourceOf = (body: string, regoVersion: RegoVersion) => ({
    ...{ body: `package slipway\n${body}`, regoVersion },
  });
  return {
    ...{ opa, sandbox, directory },
    evaluate: (body, change = {}) =>
      opa.evaluate({
        ...{ source: sourceOf(body, 1), input: '{}', rules: ['deny'], timeLimitMs: 20_000 },
        ...change,
      }),
    check: (body, regoVersion = 1) => opa.check(sourceOf(body, regoVersion)),
    [Symbol.dispose]: () => harness[Symbol.dispose](),
  };
}
