/** A server that is killed while a command of it runs. Arguments: `plain` or `bubblewrap`, a directory, a workspace, a run. */
import { closeInheritedDescriptors } from '../../src/sandbox/descriptors.ts';
import { createPlainDriver, createSandboxDriver, ordinaryLimits } from './drivers.ts';

const [kind = '', root = '', workspace = '', run = ''] = process.argv.slice(2);
closeInheritedDescriptors();
const driver = kind === 'bubblewrap' ? createSandboxDriver(root) : createPlainDriver();
await driver.run({
  argv: ['bash', '-c', 'trap "" INT TERM HUP; setsid sleep 20 & sleep 20; true'],
  environment: { PATH: '/usr/bin:/bin', MARK: run },
  ...{ workspace, run, limits: ordinaryLimits, access: null, signal: new AbortController().signal },
});
