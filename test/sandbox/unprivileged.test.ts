/** The recommended way to run Slipway, proven also where the tests themselves are run by root. */
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { canRead, otherUser } from '../support/other-user.ts';
import { isRoot, temporaryDirectory } from './harness.ts';

const program = fileURLToPath(import.meta.resolve('./server-process.ts'));
const isPossible = !isRoot || canRead(program, otherUser);

describe('an unprivileged server', () => {
  it.skipIf(isPossible)('cannot be tried: user 60001 cannot read this checkout', () => {});

  it.runIf(isPossible)('has the same sandbox, with limits that count for each command', () => {
    const directory = temporaryDirectory();
    const workspace = join(directory, 'workspace');
    mkdirSync(workspace);
    if (isRoot) for (const path of [directory, workspace]) chownSync(path, otherUser, otherUser);

    const { stdout, stderr } = spawnSync(process.execPath, [program, 'unprivileged', directory], {
      encoding: 'utf8',
      cwd: '/',
      ...(isRoot && { uid: otherUser, gid: otherUser }),
    });
    const answer = JSON.parse(stdout || JSON.stringify(stderr));

    expect(answer).toMatchObject({
      tier: 'unprivileged',
      selfTest: { ok: true, tier: 'unprivileged' },
      exit: { kind: 'exited', exitCode: 3 },
      missing: { kind: 'unavailable' },
      limits: { output: expect.stringMatching(/^40\n/) },
      written: { kind: 'exited', exitCode: 0 },
      network: { kind: 'exited', exitCode: 4, output: '40\n' },
      closed: { kind: 'disk_limit', reason: 'unreadable' },
      hog: { kind: 'memory_limit', exitCode: null },
      hogs: { kind: 'memory_limit', exitCode: null },
      litter: { kind: 'disk_limit', reason: 'temporary', exitCode: null },
      bomb: { kind: 'process_limit', exitCode: 3, usage: { peakProcesses: 40 } },
      brieflyClosed: { kind: 'exited', exitCode: 0 },
    });
    expect(answer.selfTest.warnings.filter((warning: string) => warning.includes('MEMORY'))).toEqual([]);
    expect(existsSync(workspace)).toBe(false);
    rmSync(directory, { recursive: true });
  });
});
