import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createNoSandbox } from '../../src/sandbox/none.ts';
import { describeDriver } from './contract.ts';
import { createHarness, forcedStopMs, temporaryDirectory } from './harness.ts';

describeDriver('bubblewrap', async () => {
  const harness = await createHarness();
  return {
    sandbox: harness.sandbox,
    workspace: harness.workspace,
    mount: { source: harness.workspace, target: '/workspace', writable: true },
    [Symbol.dispose]: () => harness[Symbol.dispose](),
  };
});

describeDriver('no sandbox', async () => {
  const root = temporaryDirectory();
  const workspace = join(root, 'workspace');
  mkdirSync(workspace);
  return {
    sandbox: createNoSandbox({ forcedStopMs }),
    workspace,
    mount: { source: workspace, target: workspace, writable: true },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
});
