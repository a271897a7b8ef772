import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tempDirectory } from '../../support/temp-database.ts';
import { receiversFolder, startListening } from './program.ts';
import { describeReceiver } from './suite.ts';

const directory = tempDirectory();
const program = join(directory.path, 'receiver');

// Fails with "spawnSync go ENOENT" where there is no Go.
beforeAll(() => {
  execFileSync('go', ['build', '-o', program, join(receiversFolder, 'receiver.go')], { stdio: 'pipe' });
});
afterAll(() => directory[Symbol.dispose]());

describeReceiver('the receiver in Go', (secret) => startListening([program], secret));

it('does not start without a secret', async () => {
  await expect(startListening([program], '')).rejects.toThrow('WEBHOOK_SECRET is empty');
});

it('is formatted and without a finding of go vet', () => {
  const file = join(receiversFolder, 'receiver.go');
  expect(execFileSync('gofmt', ['-l', file]).toString()).toBe('');
  execFileSync('go', ['vet', file], { stdio: 'pipe' });
});
