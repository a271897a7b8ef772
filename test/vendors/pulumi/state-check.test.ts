import { expect, test } from 'vitest';
import { pulumiRules } from '../../../src/vendors/pulumi/rules.ts';
import { readPending } from '../../../src/vendors/pulumi/state-check.ts';
import type { CommandOutputs } from '../../../src/worker/vendor.ts';

const urn = (name: string) => `urn:pulumi:dev::shop::aws:s3/bucketV2:BucketV2::${name}`;
const pending = (type: string, name: string) => ({ type, resource: { urn: urn(name), inputs: {} } });

async function read(captured: unknown, change: Partial<CommandOutputs> = {}) {
  const told: string[] = [];
  const outputs: CommandOutputs = {
    ...{ exitCode: 0, stdoutTail: '', stderrTail: '', read: async () => null },
    captured:
      captured === null
        ? null
        : Buffer.from(typeof captured === 'string' ? captured : JSON.stringify(captured)),
    ...change,
  };
  const failure = await readPending(outputs, (line) => told.push(line));
  return { failure, told };
}
const state = (...operations: object[]) => ({
  version: 3,
  deployment: {
    manifest: {},
    resources: [],
    ...(operations.length > 0 ? { pending_operations: operations } : {}),
  },
});

test('a creation that was cut off ends the run before it is made a second time', async () => {
  const { failure, told } = await read(state(pending('creating', 'logs'), pending('creating', 'backup')));

  expect(failure).toMatchObject({
    kind: 'failed',
    message: expect.stringContaining(
      '- logs (aws:s3/bucketV2:BucketV2)\n- backup (aws:s3/bucketV2:BucketV2)',
    ),
    trouble: {
      kind: 'pending-operations',
      operations: [
        { op: 'creating', urn: urn('logs') },
        { op: 'creating', urn: urn('backup') },
      ],
    },
  });
  expect(told).toEqual([]);
});

test('of what a refresh sees only the log tells', async () => {
  const { failure, told } = await read(state(pending('updating', 'logs'), pending('deleting', 'backup')));

  expect(failure).toBeNull();
  expect(told).toEqual(['cut off and not a creation: 2; the refresh of this run sees what became of it']);
});

test.each([
  ['nothing pending', state()],
  ['a null', { version: 3, deployment: { pending_operations: null } }],
])('%s is sound', async (_name, captured) => {
  expect(await read(captured)).toEqual({ failure: null, told: [] });
});

test.each([
  ['an export that was too large', null],
  ['no JSON', 'panic'],
  ['no state', { deployment: { pending_operations: [{ type: 'creating' }] } }],
])('%s is not taken for a sound state', async (_name, captured) => {
  expect((await read(captured)).failure).toMatchObject({ kind: 'unreadable' });
});

test('an export that fails says why', async () => {
  const { failure } = await read(null, { exitCode: 255, stderrTail: 'error: incorrect passphrase' });

  expect(failure).toMatchObject({ kind: 'failed', message: expect.stringContaining('Wrong passphrase') });
});

test('keeps and names as many as people read', async () => {
  const many = Array.from({ length: 500 }, (_, index) => pending('creating', `n${index}${'x'.repeat(3000)}`));
  const { failure } = await read(state(...many));

  expect(failure?.message).toContain('- and 490 more');
  const { trouble } = failure ?? {};
  if (trouble?.kind !== 'pending-operations') throw new Error('no trouble');
  expect(trouble.operations).toHaveLength(100);
  expect(Math.max(...trouble.operations.map((each) => each.urn.length))).toBe(1000);
});

test('is mended by one command, which asks nothing and holds nothing of what was read', () => {
  const operations = [{ op: 'creating', urn: '$(reboot)' }];

  expect(pulumiRules.mend({ kind: 'pending-operations', operations })).toBe(
    'pulumi cancel --yes; pulumi refresh --yes --skip-preview --clear-pending-creates',
  );
});
