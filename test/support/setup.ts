import { afterAll } from 'vitest';

const major = Number(process.versions.node.split('.')[0]);
if (major < 24) throw new Error(`Node 24 or newer is needed, this is ${process.versions.node}: use npm test`);

// A test file that leaves a socket or a child process behind would make a later one fail, or hang.

afterAll(() => {
  const left = process.getActiveResourcesInfo().filter((name) => /^(TCPServerWrap|ProcessWrap)$/.test(name));
  if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
});
