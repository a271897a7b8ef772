import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { policyKinds } from '../../../../src/policies/policy.ts';
import { formFields } from '../settings/settings-world.ts';
import { hostile, openPolicies, plain } from './policies-world.ts';

const path = '/policies/new';
const fields = { kind: 'PLAN', name: 'buckets stay', account: 'acme', description: '', labels: '' };

describe('a new policy', () => {
  it('begins with its kind, each in a sentence', async () => {
    await using all = await openPolicies();

    const { text } = await all.visit(path);

    for (const kind of policyKinds) expect(text).toContain(`href="/policies/new?kind=${kind}"`);
    expect(plain(text)).toContain('Judges what a run would change');
  });

  it.each(policyKinds)('of kind %s begins with a small one that works', async (kind) => {
    await using all = await openPolicies();

    const { text } = await all.visit(`${path}?kind=${kind}`);
    const shown = formFields(text, path);

    expect(shown['body']?.[0]).toMatch(/^package slipway\n/);
    expect(shown).toMatchObject({ kind: [kind], regoVersion: ['1'] });
    expect('account' in shown).toBe(kind !== 'LOGIN');
    expect('labels' in shown).toBe(!['LOGIN', 'NOTIFICATION'].includes(kind));
  });

  it('can begin with each ready one of its kind', async () => {
    await using all = await openPolicies();
    const folder = join(import.meta.dirname, '../../../../policies');
    const kindPage = async (kind: string) => (await all.visit(`${path}?kind=${kind}`)).text;
    const links = (await Promise.all(policyKinds.map(kindPage))).flatMap((text) =>
      [...text.matchAll(/href="(\/policies\/new\?kind=\w+&amp;from=([\w-]+))"/g)].map(([, href, name]) => ({
        ...{ href: (href ?? '').replace('&amp;', '&'), name: name ?? '' },
      })),
    );

    for (const { href, name } of links) {
      const shown = formFields((await all.visit(href)).text, path);
      expect(shown['body']).toEqual([readFileSync(join(folder, name, 'policy.rego'), 'utf8')]);
    }
    const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(links.map(({ name }) => name).sort()).toEqual(folders.map(({ name }) => name).sort());
  });

  it('is made as it was typed', async () => {
    await using all = await openPolicies();

    const made = await all.submit(path, {
      ...{ ...fields, act: 'save', name: ' buckets stay ', description: 'ask Ada' },
      ...{ labels: 'autoattach:prod\r\n\r\n team:storage ', regoVersion: '0' },
      body: '# why\r\ndeny: ["no"]\r\n',
    });
    const [policy] = await all.installation.policies.web.policies.list({
      account: null,
      after: null,
      limit: 5,
    });

    expect([made.answer.status, made.location]).toEqual([303, `/policies/${policy?.id}`]);
    expect(policy).toMatchObject({
      ...{ name: 'buckets stay', kind: 'PLAN', account: { login: 'acme' }, description: 'ask Ada' },
      ...{ labels: ['autoattach:prod', 'team:storage'], regoVersion: 0, updatedBy: 'root-ada' },
      body: '# why\ndeny: ["no"]\n',
    });
  });

  it('of the server needs no account', async () => {
    await using all = await openPolicies();

    const made = await all.submit(path, { kind: 'LOGIN', name: 'in', body: 'allow: true', regoVersion: '1' });

    expect(made.answer.status).toBe(303);
  });

  it('is shown with what the compiler says beside its line, and nothing is lost', async () => {
    await using all = await openPolicies();
    const body = `deny: []\n!var x is unsafe ${hostile}`;

    const { answer, text } = await all.submit(path, {
      ...fields,
      act: 'save',
      description: hostile,
      regoVersion: '1',
      body,
    });

    expect(answer.status).toBe(422);
    expect(plain(text)).toContain('line 2, column 1: var x is unsafe');
    expect(text).toMatch(/2 │ <mark>!var x is unsafe/);
    expect(text).toMatch(/<textarea id="body"[^>]*aria-invalid="true"/);
    expect(formFields(text, path)).toMatchObject({ description: [hostile], body: [body] });
    expect(text).not.toContain('<script>alert');
    expect(text.split('<textarea id="body"')[0]).toContain('\\u{202e}');
  });

  it.each([
    ['a name that is taken', { name: 'taken' }, 409, 'name-wrong'],
    ['an account without the App', { account: 'nobody' }, 422, 'account-wrong'],
    ['a version that there is not', { regoVersion: '7' }, 422, 'regoVersion-wrong'],
  ])('is refused beside its field for %s', async (_, change, status, id) => {
    await using all = await openPolicies();
    await all.addPolicy({ name: 'taken' });

    const { answer, text } = await all.submit(path, {
      ...{ ...fields, act: 'save', regoVersion: '1', body: 'deny: []' },
      ...change,
    });

    expect(answer.status).toBe(status);
    expect(text).toContain(`id="${id}"`);
  });

  it('can be checked before it is saved', async () => {
    await using all = await openPolicies();

    const { answer, text } = await all.submit(path, {
      ...{ ...fields, act: 'check', regoVersion: '1', body: 'deny: []\nwarm: []' },
    });

    expect(answer.status).toBe(200);
    expect(plain(text)).toContain('It compiles, with the rules deny. Nothing is saved yet.');
    expect(plain(text)).toContain('did you mean warn?');
    expect(formFields(text, path)).toMatchObject({ body: ['deny: []\nwarm: []'], name: ['buckets stay'] });
    expect(
      await all.installation.policies.web.policies.list({ account: null, after: null, limit: 5 }),
    ).toEqual([]);
  });

  it('is not lost while nothing can be checked', async () => {
    const engine = { check: async () => ({ kind: 'unavailable', reason: 'opa is missing' }) as const };
    await using all = await openPolicies('admin', { engine });

    const { answer, text } = await all.submit(path, {
      ...{ ...fields, act: 'save', regoVersion: '1', body: 'deny: []' },
    });

    expect(answer.status).toBe(503);
    expect(plain(text)).toContain('No policy can be checked: opa is missing.');
    expect(formFields(text, path)).toMatchObject({ body: ['deny: []'], name: ['buckets stay'] });
  });

  it('is for administrators of the server', async () => {
    await using all = await openPolicies('writer');

    const { answer } = await all.submit(path, { ...fields, regoVersion: '1', body: 'deny: []' });

    expect(answer.status).toBe(403);
    expect(
      await all.installation.policies.web.policies.list({ account: null, after: null, limit: 5 }),
    ).toEqual([]);
  });
});
