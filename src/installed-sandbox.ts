import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { createBubblewrap } from './sandbox/bubblewrap.ts';
import { type Delegation, delegateCgroup } from './sandbox/cgroup/delegation.ts';
import { closeInheritedDescriptors } from './sandbox/descriptors.ts';
import { parseAllowedHosts } from './sandbox/network/proxy-rules.ts';
import { createNoSandbox } from './sandbox/none.ts';
import { type SelfTestResult, selfTest, type TestedSandbox } from './sandbox/self-test.ts';

/** Of the sandbox, below DATA_DIR. */
export const sandboxDirectory = (config: Config): string => join(config.dataDir, 'sandbox');

/** The one that the settings ask for, in DATA_DIR. Several may be open in it at once: a server's, and those of commands. */
export function openSandbox(config: Config, delegation: Delegation): TestedSandbox {
  // A wrong entry stops the start, not the first run.
  parseAllowedHosts(config.sandbox.allowedHosts);
  parseAllowedHosts(config.sandbox.untrustedHosts, 'SANDBOX_UNTRUSTED_HOSTS');
  return config.sandbox.kind === 'none'
    ? createNoSandbox()
    : createBubblewrap({
        directory: sandboxDirectory(config),
        caBundle: config.caBundle,
        upstream: config.sandbox.upstreamProxy,
        cpus: config.sandbox.cpus,
        delegation,
      });
}

export function testSandbox(config: Config, sandbox: TestedSandbox): Promise<SelfTestResult> {
  const withNetwork = config.sandbox.network !== 'none';
  return selfTest(sandbox, { stateDirectory: config.dataDir, withNetwork });
}

/** The self-test by itself: no server, no database, no settings of GitHub. */
export async function testSandboxHere(config: Config): Promise<SelfTestResult> {
  closeInheritedDescriptors();
  // As a start does, before anything is started: a command in a delegated cgroup of its own tells what a server has there.
  const delegation = delegateCgroup();
  const sandbox = openSandbox(config, delegation);
  mkdirSync(config.dataDir, { recursive: true });
  const tested = await testSandbox(config, sandbox);
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
