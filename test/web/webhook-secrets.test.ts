import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../src/webhooks/sending/signature.ts';
import { endpoint, path, withStack } from './webhook-world.ts';

const random = /^[\w-]{43}$/;

async function withSecret(secret: string | null = 'correct horse') {
  const fixture = await withStack();
  const made = await fixture.admin('POST', path, { endpoint, secret });
  const one = `/api/v1/webhooks/${made.body.id}`;
  return {
    ...fixture,
    one,
    patch: (change: unknown) => fixture.admin('PATCH', one, change),
    regenerate: (body?: unknown) => fixture.admin('POST', `${one}/secret/regenerate`, body),
    shown: async () => (await fixture.reader('GET', one)).body,
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

describe('the secret of a webhook', () => {
  it('can be made by the server, which tells it', async () => {
    await using fixture = await withSecret();
    const made = await fixture.admin('POST', path, { endpoint: `${endpoint}/2`, generateSecret: true });
    const both = { endpoint: `${endpoint}/3`, generateSecret: true, secret: 'mine' };

    expect(made.body.secret).toMatch(random);
    expect(made.body.secretFingerprint).toBe(fingerprintOf(made.body.secret));
    expect((await fixture.reader('GET', made.headers.get('location') ?? '')).body.secret).toBe(
      made.body.secret,
    );
    expect((await fixture.admin('POST', path, both)).body).toMatchObject({
      status: 422,
      errors: [{ path: 'generateSecret' }],
    });
  });

  it('is replaced by a random one or a given one, and used for another day', async () => {
    await using fixture = await withSecret();

    const first = await fixture.regenerate();
    const second = await fixture.regenerate({ secret: 'battery staple\n', overlapHours: 168 });

    const until = expect.any(Number);
    expect(first.body).toEqual({
      secret: expect.stringMatching(random),
      oldSecrets: [{ fingerprint: fingerprintOf('correct horse'), until }],
    });
    const oldSecrets = [first.body.secret, 'correct horse'].map((secret) => ({
      fingerprint: fingerprintOf(secret),
      until,
    }));
    expect(second.body).toEqual({ secret: 'battery staple\n', oldSecrets });
    expect(await fixture.shown()).toMatchObject({
      secret: 'battery staple\n',
      secretFingerprint: fingerprintOf('battery staple\n'),
      oldSecrets,
    });
    const [day, week] = [first, second].map(({ body }) => body.oldSecrets[0].until);
    expect(Math.round((week - day) / 86_400)).toBe(6);
  });

  it.each([
    ['regenerated without an overlap', { secret: 'next', overlapHours: 0 }, 'POST', '/secret/regenerate'],
    ['set', { secret: 'next' }, 'PATCH', ''],
    ['taken away', { secret: null }, 'PATCH', ''],
    ['told to', undefined, 'DELETE', '/secret/old'],
  ])('ends at once, with those before it, when it is %s', async (_, body, method, at) => {
    await using fixture = await withSecret();
    await fixture.regenerate({ secret: 'second' });
    expect((await fixture.shown()).oldSecrets).toHaveLength(1);

    const answer = await fixture.admin(method, `${fixture.one}${at}`, body);

    expect(answer.status).toBeLessThan(300);
    const left = body === undefined ? 'second' : body.secret;
    expect(await fixture.shown()).toMatchObject({ secret: left, oldSecrets: [] });
  });

  it('can be set with an overlap too', async () => {
    await using fixture = await withSecret();
    const set = await fixture.patch({ secret: 'next', overlapHours: 1 });
    expect(set.body.oldSecrets).toMatchObject([{ fingerprint: fingerprintOf('correct horse') }]);
    expect((await fixture.patch({ overlapHours: 1 })).body).toMatchObject({
      status: 422,
      errors: [{ path: 'overlapHours' }],
    });
  });

  it.each([-1, 169, 1.5, '24', null])('does not overlap for %j hours', async (overlapHours) => {
    await using fixture = await withSecret();
    const refused = { status: 422, errors: [{ path: 'overlapHours' }] };
    expect((await fixture.regenerate({ overlapHours })).body).toMatchObject(refused);
    expect((await fixture.patch({ secret: 'next', overlapHours })).body).toMatchObject(refused);
    expect(await fixture.shown()).toMatchObject({ secret: 'correct horse', oldSecrets: [] });
  });
});

describe('secrets and values of headers', () => {
  it('stand in no file in clear text, in no log, in no error, and in no answer but to who asks for the secret', async () => {
    await using fixture = await withSecret('first-hidden-text');
    const { installation, admin, reader, one, patch, regenerate } = fixture;
    const answers: string[] = [];
    const note = async (asked: Promise<{ readonly text: string }>) => void answers.push((await asked).text);
    const headers = { authorization: 'Bearer value-hidden-text' };

    await note(admin('POST', path, { endpoint: `${endpoint}/2`, secret: 'new-hidden-text', headers }));
    await note(admin('POST', path, { endpoint: `${endpoint}/2`, secret: 'new-hidden-text', headers }));
    await note(admin('POST', path, { endpoint, secret: `${'long-hidden-text'.repeat(100)}` }));
    await note(admin('POST', path, { endpoint, headers: { 'authorization: hidden-text': 'hidden-text' } }));
    await note(admin('POST', path, { endpoint, headers: { 'x-key': 'hidden-text\n' } }));
    await note(admin('POST', path, { endpoint, headers: { host: 'hidden-text' } }));
    await note(patch({ secret: 'second-hidden-text', overlapHours: 24, headers }));
    await note(patch({ headers: { authorization: 'Bearer other-hidden-text', 'x-é': 'hidden-text' } }));
    await note(patch({ secret: 'third-hidden-text', overlapHours: 999 }));
    await note(regenerate({ secret: 'hidden-text', overlapHours: 'hidden-text' }));
    await note(reader('PATCH', one, { secret: 'hidden-text' }));
    await note(admin('GET', path));
    await installation.addRun(fixture.stack);
    await note(reader('GET', `${one}/deliveries`));

    expect(answers.filter((text) => text.includes('hidden-text'))).toEqual([]);
    expect(answers.join()).toContain('authorization');
    expect(JSON.stringify(installation.logged)).not.toContain('hidden-text');
    const shown = await reader('GET', one);
    expect(shown.text.match(/[\w-]*hidden-text/g)).toEqual(['second-hidden-text']);
    const files = readdirSync(installation.directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
    expect(files.some((bytes) => bytes.includes(endpoint))).toBe(true);
    expect(files.filter((bytes) => bytes.includes('hidden-text'))).toEqual([]);
  });
});
