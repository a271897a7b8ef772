import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { createBubblewrap } from './sandbox/bubblewrap.ts';
import type { Delegation } from './sandbox/cgroup/delegation.ts';
import { closeInheritedDescriptors } from './sandbox/descriptors.ts';
import { createNoSandbox } from './sandbox/none.ts';
import { type SelfTestResult, selfTest, type TestedSandbox } from './sandbox/self-test.ts';

/** Of the sandbox, below DATA_DIR. */
export const sandboxDirectory = (config: Config): string => join(config.dataDir, 'sandbox');

/**
 * The one that the settings ask for, in DATA_DIR. Several may be open in it at once: a server's, and those of commands, which
 * have no cgroup to divide.
 */
export function openSandbox(config: Config, delegation?: Delegation): TestedSandbox {
  return config.sandbox.kind === 'none'
    ? createNoSandbox()
    : createBubblewrap({
        directory: sandboxDirectory(config),
        caBundle: config.caBundle,
        upstream: config.sandbox.upstreamProxy,
        cpus: config.sandbox.cpus,
        ...(delegation && { delegation }),
      });
}

export function testSandbox(config: Config, sandbox: TestedSandbox): Promise<SelfTestResult> {
  const withNetwork = config.sandbox.network !== 'none';
  return selfTest(sandbox, { stateDirectory: config.dataDir, withNetwork });
}

/** The self-test by itself: no server, no database, no settings of GitHub. */
export async function testSandboxHere(config: Config): Promise<SelfTestResult> {
  closeInheritedDescriptors();
  mkdirSync(config.dataDir, { recursive: true });
  const tested = await testSandbox(config, openSandbox(config));
  const note = noteOnUser(config.dataDir);
  return note === null ? tested : { ...tested, warnings: [...tested.warnings, note] };
}

/** What is tested is tested as who tests it. */
function noteOnUser(dataDir: string): string | null {
  const owner = statSync(dataDir).uid;
  const user = process.getuid?.();
  if (user === undefined || owner === user) return null;
  return `DATA_DIR belongs to user ${owner}, and this was tested as user ${user}. What counts is the user of the server.`;
}
