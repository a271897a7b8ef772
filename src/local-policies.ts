import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { findOpa } from './installed-opa.ts';
import { type CheckedSource, checkSource } from './policies/check-source.ts';
import { createOpa } from './policies/opa.ts';
import type { OpaBinaryOptions } from './policies/opa-binary.ts';
import { type TestReport, type TestRequest, testPolicies } from './policies/opa-test.ts';
import type { PolicyKind, PolicySource } from './policies/policy.ts';
import { readPolicyFolder } from './policies/policy-folder.ts';
import { createBubblewrap } from './sandbox/bubblewrap.ts';
import { closeInheritedDescriptors } from './sandbox/descriptors.ts';
import { createNoSandbox } from './sandbox/none.ts';

/** Whether a source could be saved as a policy, by the opa of this machine; needs no server. */
export function checkPolicy(config: Config, kind: PolicyKind, source: PolicySource): Promise<CheckedSource> {
  return withOpa(config, (options) => checkSource(createOpa(options), kind, source));
}

/** The tests of a folder of policies, with what the server would let them do. */
export async function testPolicyFolder(
  config: Config,
  { folder, ...request }: Omit<TestRequest, 'files'> & { readonly folder: string },
): Promise<TestReport> {
  const files = await readPolicyFolder(folder);
  return withOpa(config, (options) => testPolicies(options, { ...request, files }));
}

/** Outside of DATA_DIR: there may be none here, and a server may be at work in it. */
async function withOpa<T>(config: Config, use: (options: OpaBinaryOptions) => Promise<T>): Promise<T> {
  closeInheritedDescriptors();
  const path = findOpa(config.tools)?.path ?? null;
  const directory = await mkdtemp(join(tmpdir(), 'slipway-policy-'));
  try {
    const sandbox =
      config.sandbox.kind === 'none'
        ? createNoSandbox()
        : createBubblewrap({ directory: join(directory, 'sandbox') });
    return await use({ path, sandbox, directory: join(directory, 'runs') });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
