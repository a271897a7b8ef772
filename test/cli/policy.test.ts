import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aJudgement } from '../support/policies.ts';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

async function opened() {
  const installation = anInstallation();
  const stack = await installation.addStack();
  const directory = mkdtempSync(join(tmpdir(), 'slipway-cli-policy-'));
  const { run } = aCommandLine(installation);
  const file = (name: string, content: string | Uint8Array) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
  const create = (...more: readonly string[]) =>
    run(['policy', 'create', '--kind', 'PLAN', '--name', 'no deletes', '--file', ...more]);
  return {
    ...{ installation, stack, run, file, create },
    async [Symbol.asyncDispose]() {
      await installation[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true });
    },
  };
}

describe('slipway policy', () => {
  it('makes, shows, changes and deletes a policy', async () => {
    await using world = await opened();
    const { run, file, create } = world;
    const made = await create(file('a.rego', 'deny: ["no"]'), '--label', 'autoattach:prod', '--json');
    const { id } = made.json();
    expect(made.json()).toMatchObject({ account: 'acme', kind: 'PLAN', labels: ['autoattach:prod'] });

    expect((await run('policy list')).out).toContain(`${id}  acme     PLAN  no deletes  1`);
    expect((await run('policy list --kind PUSH')).out).toBe('No policies yet.\n');
    const changed = await run([
      ...['policy', 'update', 'No Deletes', '--file', file('b.rego', 'warn: []'), '--no-labels'],
    ]);
    expect(changed.out).toBe(`Changed policy ${id}, version 2.\n`);
    const shown = await run(['policy', 'show', 'no deletes']);
    expect(shown.out).toMatch(/^kind +PLAN$/m);
    expect(shown.out).toMatch(/\n\nwarn: \[\]\n$/);
    expect((await run(`policy versions ${id}`)).out).toMatch(/^2 .*\n1 /m);
    expect((await run(`policy versions ${id} --json`)).json().items[1].body).toBe('deny: ["no"]');

    expect((await run(`policy delete ${id}`)).out).toBe(`Deleted policy ${id}.\n`);
    expect((await run(`policy show ${id}`)).exitCode).toBe(3);
    expect(await run(['policy', 'show', 'no deletes'])).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining('There is no policy no deletes'),
    });
  });

  it('says where a source is wrong, and keeps what was there', async () => {
    await using world = await opened();
    const { run, file, create } = world;
    await create(file('a.rego', 'deny: []'));
    const wrong = file('b.rego', 'deny: []\n!var x is unsafe\n!var y is unsafe');
    const changed = await run(['policy', 'update', 'no deletes', '--file', wrong]);
    expect(changed).toMatchObject({ exitCode: 6, err: expect.stringContaining('line 2: var x is unsafe') });
    expect(changed.err).toContain('line 3: var y is unsafe');
    const asJson = await run(['policy', 'update', 'no deletes', '--file', wrong, '--json']);
    expect(asJson.json()).toMatchObject({ errors: [{ line: 2, column: 1 }, { line: 3 }] });
    expect((await run('policy list')).out).toContain('no deletes  1');
  });

  it('attaches to stacks, and detaches', async () => {
    await using world = await opened();
    const { run, file, create } = world;
    const { id } = (await create(file('a.rego', 'deny: []'), '--json')).json();
    const attached = await run(['policy', 'attach', 'no deletes', 'network-prod']);
    expect(attached.out).toBe('Policy no deletes judges network-prod.\n');
    const { policies } = world.installation.policies.web;
    expect(await policies.stacksOf(id)).toEqual([world.stack.key]);
    expect((await run(`policy detach ${id} acme/network-prod`)).exitCode).toBe(0);
    expect((await run(`policy detach ${id} acme/network-prod`)).exitCode).toBe(3);
    expect(await policies.stacksOf(id)).toEqual([]);
  });

  it('tries a policy out', async () => {
    await using world = await opened();
    const { run, file, create } = world;
    const { id } = (await create(file('a.rego', 'deny: ["no"]'), '--json')).json();
    const input = file('input.json', '{"pulumi": {"steps": []}}');
    const saved = await run(`policy simulate ${id} --input ${input}`);
    expect(saved.out).toBe('denied in 3 ms\n  no\n');
    const edit = file('b.rego', 'deny: true');
    const edited = await run(`policy simulate ${id} --input ${input} --file ${edit}`);
    expect(edited.out).toMatch(/^failed in 3 ms\n {2}wrong_type: /);
    expect((await run(`policy simulate ${id} --last 5`)).out).toBe('It judges no stack that has a plan.\n');
    expect((await run(`policy simulate ${id} --last 5 --json`)).json()).toEqual({ items: [] });
  });

  it('shows what a policy said, and what it kept', async () => {
    await using world = await opened();
    const { run, file, create, installation, stack } = world;
    const { id } = (await create(file('a.rego', 'deny: []'), '--json')).json();
    expect((await run(`policy decisions ${id}`)).out).toBe('It has not been asked yet.\n');
    const policy = await installation.policies.web.policies.find(id);
    if (!policy) throw new Error('the policy is gone');
    const about = { accountId: 11, stackKey: stack.key, runId: null, subject: 'the plan' };
    const { decisions } = installation.policies.stores;
    const judgement = aJudgement({ policy, sample: true });
    const input = await decisions.packSample(Buffer.from('{"a":"\u009b2J"}'));
    const kept = await installation.database.write((tx) => decisions.record(tx, judgement, about, input));

    expect((await run(`policy decisions ${id}`)).out).toContain('denied   the plan       nobody deletes');
    expect((await run(`policy samples ${id}`)).out).toContain(kept.id);
    expect((await run(`policy samples ${id} --id ${kept.id} --json`)).json().input).toEqual({
      a: '\u009b2J',
    });
    // Commit messages are in it, and must not steer the terminal.
    expect((await run(`policy samples ${id} --id ${kept.id}`)).out).toBe('{\n  "a": "\\u009b2J"\n}\n');
    const simulated = await run(`policy simulate ${id} --sample ${kept.id}`);
    expect(simulated.out).toBe('passed in 3 ms\n');
  });

  it.each([
    ['a body that is not UTF-8', ['update', 'x', '--file', 'latin1.rego'], 1, 'not UTF-8'],
    ['an input that is not JSON', ['simulate', 'x', '--input', 'latin1.rego'], 1, 'not JSON'],
    ['a file that is not there', ['update', 'x', '--file', 'gone.rego'], 1, 'no such file'],
    ['no change', ['update', 'x'], 2, 'nothing to change'],
    ['two inputs', ['simulate', 'x', '--run', 'a', '--last', '3'], 2, 'give one of'],
    ['labels and none', ['update', 'x', '--label', 'a', '--no-labels'], 2, 'contradict'],
    ['a limit that is none', ['decisions', 'x', '--limit', 'many'], 2, '--limit'],
  ])('refuses %s', async (_what, words, exitCode, reason) => {
    await using world = await opened();
    const latin1 = world.file('latin1.rego', Buffer.from([0x64, 0xe9]));
    const line = words.map((word) => (word.endsWith('.rego') ? join(latin1, '..', word) : word));
    const answer = await world.run(['policy', ...line]);
    expect(answer.exitCode).toBe(exitCode);
    expect(answer.err).toContain(reason);
  });
});
