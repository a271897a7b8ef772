import { setTimeout as delay } from 'node:timers/promises';
import { afterAll } from 'vitest';

const major = Number(process.versions.node.split('.')[0]);
if (major < 24) throw new Error(`Node 24 or newer is needed, this is ${process.versions.node}: use npm test`);

/** A killed child and a closed server are gone a moment later, not at once. */
const graceMs = 3000;

// A test file that leaves a server or a child process behind would make a later one fail, or hang.
afterAll(async () => {
  const left = () =>
    process.getActiveResourcesInfo().filter((name) => /^(TCPServerWrap|ProcessWrap)$/.test(name));
  for (const deadline = Date.now() + graceMs; left().length > 0 && Date.now() < deadline; ) await delay(20);
  if (left().length > 0) throw new Error(`left behind: ${left().join(', ')}`);
});
