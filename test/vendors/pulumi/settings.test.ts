import { describe, expect, test } from 'vitest';
import { UserError } from '../../../src/user-error.ts';
import { localStateOf } from '../../../src/vendors/local-state.ts';
import { settingsSchema } from '../../../src/vendors/pulumi/settings.ts';
import { fc } from '../../support/fast-check.ts';

/** Null when the settings are accepted. */
function refusal(loginUrl: string): UserError | null {
  try {
    settingsSchema.parse({ loginUrl, stackName: 'dev' });
    return null;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

describe('the login URL', () => {
  test.each([
    'file:///state',
    'file:///state/dev',
    'file:///state/a.b_c-1',
    's3://bucket',
    's3://bucket/prefix?region=eu-central-1&endpoint=minio.example.com',
    'gs://bucket',
    'azblob://container?storage_account=acme',
    'https://api.pulumi.com',
    'https://pulumi.example.com:8443/base',
  ])('may be %s', (loginUrl) => {
    expect(refusal(loginUrl)).toBeNull();
  });

  test.each([
    ['file:///etc', 'no other directory'],
    ['file:///', 'no other directory'],
    ['file://', 'no other directory'],
    ['file:', 'no other directory'],
    ['file://~', 'no other directory'],
    ['file://~/state', 'no other directory'],
    ['file://./state', 'no other directory'],
    ['file://state', 'no other directory'],
    ['file://localhost/state', 'no other directory'],
    ['file:/state', 'no other directory'],
    ['file:///state/', 'no other directory'],
    ['file:///state/a/b', 'no other directory'],
    ['file:///state/..', 'no other directory'],
    ['file:///state/.', 'no other directory'],
    ['file:///state/.hidden', 'no other directory'],
    ['file:///state/../etc', 'no other directory'],
    ['file:///state/%2e%2e', 'no other directory'],
    ['file:///state/a%2fb', 'no other directory'],
    ['file:///%73tate', 'no other directory'],
    ['file:///state?create_dir=true', 'no other directory'],
    ['file:///state#x', 'no other directory'],
    ['file:///state/_', 'no other directory'],
    [`file:///state/${'a'.repeat(101)}`, 'no other directory'],
    ['FILE:///state', 'no other directory'],
    ['https://me@api.pulumi.com', 'user name or password'],
    ['https://me:secret@api.pulumi.com', 'user name or password'],
    ['https://@api.pulumi.com', 'user name or password'],
    ['s3://key:secret@bucket', 'user name or password'],
    ['s3://:@bucket', 'user name or password'],
    ['postgres://db/state', 'PostgreSQL'],
    ['postgresql://u:p@db/state', 'PostgreSQL'],
    ['http://pulumi.example.com', 'in clear'],
    ['ftp://example.com', 'ftp: is not'],
    ['S3://bucket', 'S3: is not'],
    ['javascript:alert(1)', 'javascript: is not'],
    ['s3:bucket', 'does not begin with s3://'],
    ['https:api.pulumi.com', 'does not begin with https://'],
    ['s3://', 'names no bucket'],
    ['https://', 'names no bucket'],
    ['s3:///prefix', 'names no bucket'],
    ['', 'is empty or has blanks'],
    [' s3://bucket', 'has blanks'],
    ['s3://buck\net', 'has blanks'],
    ['s3://bücket', 'non-ASCII'],
    ['--local', 'does not begin with a scheme'],
    ['/state', 'does not begin with a scheme'],
    [`s3://${'a'.repeat(3000)}`, 'longer than'],
  ])('may not be %j', (loginUrl, reason) => {
    const error = refusal(loginUrl);
    expect(error?.code).toBe('login-url-not-allowed');
    expect(error?.message).toContain(reason);
    expect(error?.hint).toBeTruthy();
  });

  test('that is a file URL leads to one folder below /state and nowhere else, whatever follows', () => {
    const tricky = [
      '/',
      '/state',
      'state',
      '..',
      '.',
      '%2e',
      '%2F',
      '\\',
      '~',
      '@',
      ':',
      '?',
      '#',
      'a',
      '_',
      '\n',
      ' ',
    ];
    const unit = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...tricky) }, fc.string({ maxLength: 2 }));
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 6 }), (parts) => {
        const loginUrl = `file://${parts.join('')}`;
        if (refusal(loginUrl) !== null) return;
        expect(loginUrl).toMatch(/^file:\/\/\/state(\/[A-Za-z0-9][A-Za-z0-9_.-]*)?$/);
        expect(new URL(loginUrl).href).toBe(loginUrl);
        expect(new URL(loginUrl).pathname).toBe(localStateOf(loginUrl)?.target);
      }),
      { numRuns: 2000 },
    );
  });

  test('never passes with credentials in it', () => {
    const word = fc.stringMatching(/^[a-z0-9:]{0,8}$/);
    fc.assert(
      fc.property(fc.constantFrom('s3', 'gs', 'azblob', 'https'), word, word, (scheme, user, host) => {
        expect(refusal(`${scheme}://${user}@${host}`)).not.toBeNull();
      }),
    );
  });
});

describe('local state', () => {
  test('has a name or none, and stands at the path of its URL', () => {
    expect(localStateOf('file:///state')).toEqual({ name: null, target: '/state' });
    expect(localStateOf('file:///state/network')).toEqual({ name: 'network', target: '/state/network' });
    expect(localStateOf('s3://state/network')).toBeNull();
  });
});

describe('the stack name', () => {
  const accepts = (stackName: string) =>
    settingsSchema.safeParse({ loginUrl: 'file:///state', stackName }).success;

  test('is one or several of letters, digits and _ . / -, and does not begin like a flag or a path', () => {
    for (const name of ['dev', '_dev', 'acme/network/prod', 'a.b-c_d/e', '9'])
      expect(accepts(name)).toBe(true);
    for (const name of ['', '-x', '--yes', '.', '/a', 'a b', 'a\n', 'ä', 'a;b', '$(x)', 'a'.repeat(303)]) {
      expect(accepts(name), name).toBe(false);
    }
  });

  test('is the only other setting', () => {
    expect(settingsSchema.safeParse({ loginUrl: 'file:///state', stackName: 'dev', more: 1 }).success).toBe(
      false,
    );
    expect(settingsSchema.safeParse({ loginUrl: 'file:///state' }).success).toBe(false);
    expect(settingsSchema.safeParse({ stackName: 'dev' }).success).toBe(false);
  });
});
