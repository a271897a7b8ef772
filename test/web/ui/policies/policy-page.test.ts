import { describe, expect, it } from 'vitest';
import { formFields } from '../settings/settings-world.ts';
import { denying, hostile, openPolicies, plain } from './policies-world.ts';

describe('the page of a policy', () => {
  it('shows the source with lines that can be linked, and what would turn text around as what it is', async () => {
    await using all = await openPolicies();
    const { id } = await all.addPolicy({ name: hostile, body: `${denying}\n# \u202e${hostile}` });

    const { text } = await all.visit(`/policies/${id}`);

    expect(text).toMatch(/<div class="line" id="L2"><a href="#L2" tabindex="-1">2<\/a><code>deny: /);
    expect(text).toContain('\\u{202e}');
    expect(text).not.toContain('<script>alert');
    expect(plain(text)).toContain('It judges no stack yet.');
  });

  it('says what is most likely not meant', async () => {
    await using all = await openPolicies();
    const { id } = await all.addPolicy({ body: `${denying}\nwarm: []` });

    expect(plain((await all.visit(`/policies/${id}`)).text)).toContain('did you mean warn?');
  });

  it('says when the engine does not take it any more', async () => {
    const errors = [{ message: 'unknown function', line: 2, column: 3 }];
    let isOld = true;
    const check = async () =>
      isOld
        ? ({ kind: 'valid', package: 'slipway', rules: [{ name: 'deny', line: 1, type: 'set' }] } as const)
        : ({ kind: 'invalid', errors } as const);
    await using all = await openPolicies('admin', { engine: { check } });
    const { id } = await all.addPolicy();
    isOld = false;

    const { text } = await all.visit(`/policies/${id}`);

    expect(plain(text)).toContain('line 2, column 3: unknown function');
    expect(plain(text)).toContain('Whatever it judges is blocked until this is mended.');
  });

  it('lists the stacks that it judges and what it said', async () => {
    await using all = await openPolicies();
    const { id } = await all.addPolicy({ labels: ['autoattach:*'] });
    const run = await all.installation.addRun(all.stack);
    await all.addDecision(id, { messages: [`never ${hostile}`] }, { runId: run.id });
    const failure = { code: 'conflict', message: 'two values', line: 2, column: 1 } as const;
    await all.addDecision(id, { outcome: 'failed', messages: [], failure });

    const { text } = await all.visit(`/policies/${id}`);

    expect(text).toMatch(
      /<a href="\/stacks\/acme\/network-prod">acme\/network-prod<\/a> <span[^>]*>by label/,
    );
    expect(text).toContain(`href="/runs/${run.id}/policies"`);
    expect(plain(text)).toContain('could not be judged');
    expect(plain(text)).toContain('line 2, column 1: two values');
    expect(text).not.toContain('<script>alert');
  });
});

describe('editing a policy', () => {
  it('makes the next version of another source', async () => {
    await using all = await openPolicies();
    const { id } = await all.addPolicy({ labels: ['autoattach:prod'] });
    const edit = `/policies/${id}/edit`;
    const shown = formFields((await all.visit(edit)).text, edit);
    expect(shown).toMatchObject({ name: ['buckets stay'], labels: ['autoattach:prod'], body: [denying] });

    const saved = await all.submit(edit, {
      ...{ name: 'buckets stay', description: 'now with a why', labels: '', regoVersion: '1' },
      ...{ body: 'deny: []', etag: shown['etag']?.[0] ?? '', act: 'save' },
    });
    const versions = (await all.visit(`/policies/${id}/versions`)).text;

    expect([saved.answer.status, saved.location]).toEqual([303, `/policies/${id}`]);
    expect(await all.installation.policies.web.policies.find(id)).toMatchObject({
      ...{ version: 2, description: 'now with a why', labels: [], body: 'deny: []' },
    });
    expect(plain(versions)).toContain('From version 1 to 2');
    expect(versions).toMatch(/<span class="removed">- # why/);
    expect(versions).toMatch(/<span class="added">\+ deny: \[\]/);
  });

  it('does not overwrite what somebody else saved meanwhile', async () => {
    await using all = await openPolicies();
    const { id } = await all.addPolicy();
    const edit = `/policies/${id}/edit`;
    const fields = { name: 'mine', description: '', labels: '', regoVersion: '1', body: 'deny: ["mine"]' };
    const etag = formFields((await all.visit(edit)).text, edit)['etag']?.[0] ?? '';
    await all.submit(edit, { ...fields, body: 'deny: ["theirs"]', etag });

    const refused = await all.submit(edit, { ...fields, etag });
    const again = formFields(refused.text, edit);

    expect(refused.answer.status).toBe(412);
    expect(plain(refused.text)).toContain('What is different in what is stored now');
    expect(again['body']).toEqual(['deny: ["mine"]']);
    const now = await all.submit(edit, { ...fields, etag: again['etag']?.[0] ?? '' });
    expect(now.answer.status).toBe(303);
  });

  it('keeps what was typed when it does not compile', async () => {
    await using all = await openPolicies();
    const { id } = await all.addPolicy();
    const edit = `/policies/${id}/edit`;

    const { answer, text } = await all.submit(edit, {
      ...{ name: 'new name', description: '', labels: '', regoVersion: '1', body: '!rego_parse_error' },
    });

    expect(answer.status).toBe(422);
    expect(plain(text)).toContain('line 1, column 1: rego_parse_error');
    expect(formFields(text, edit)).toMatchObject({ name: ['new name'], body: ['!rego_parse_error'] });
    expect((await all.installation.policies.web.policies.find(id))?.version).toBe(1);
  });
});

describe('deleting a policy', () => {
  it('says what is lost and wants its name', async () => {
    await using all = await openPolicies();
    const { id } = await all.addPolicy();
    await all.attach(id);
    const page = (await all.visit(`/policies/${id}`)).text;
    expect(plain(page)).toContain('1 stack is judged without it from then on');
    const etag = formFields(page, `/policies/${id}/delete`)['etag']?.[0] ?? '';

    const refused = await all.submit(`/policies/${id}/delete`, { etag, confirmation: 'something' });
    const done = await all.submit(`/policies/${id}/delete`, { etag, confirmation: 'buckets stay' });

    expect(refused.answer.status).toBe(422);
    expect(refused.text).toContain('id="confirmation-wrong"');
    expect([done.answer.status, done.location]).toEqual([303, '/policies']);
    expect((await all.visit(`/policies/${id}`)).answer.status).toBe(404);
  });

  it('is for those who manage it', async () => {
    await using other = await openPolicies('writer');
    const { id } = await other.addPolicy();
    await other.attach(id);

    const { answer } = await other.submit(`/policies/${id}/delete`, { confirmation: 'buckets stay' });

    expect(answer.status).toBe(403);
    expect((await other.visit(`/policies/${id}`)).answer.status).toBe(200);
  });
});
