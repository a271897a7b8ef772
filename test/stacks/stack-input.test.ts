import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { slugOf, vendorName } from '../../src/stacks/stack.ts';
import {
  newStackInput,
  parseInput,
  parseVendorSettings,
  stackPatchInput,
} from '../../src/stacks/stack-input.ts';
import { UserError } from '../../src/user-error.ts';

const valid = { name: 'Network', repository: 'acme/infra', vendor: { pulumi: {} } };
const parse = (change: Record<string, unknown>) => parseInput(newStackInput, { ...valid, ...change });
/** The paths that were complained about; null when it was accepted. */
function issues(change: Record<string, unknown>): readonly string[] | null {
  try {
    parse(change);
    return null;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    expect(error.code).toBe('invalid-input');
    return error.issues.map(({ path }) => path);
  }
}

describe('the input of a stack', () => {
  it.each([
    ['', ''],
    ['infra', 'infra'],
    ['infra/', 'infra'],
    ['infra/prod//', 'infra/prod'],
    ['./infra', 'infra'],
    ['./', ''],
    ['a b/ü', 'a b/ü'],
    ['..a/b..', '..a/b..'],
    ['.hidden', '.hidden'],
  ])('takes project root "%s" as "%s"', (given, kept) => {
    expect(parse({ projectRoot: given }).projectRoot).toBe(kept);
  });

  it.each([
    '/infra',
    '..',
    '../infra',
    'infra/..',
    'infra/../../etc',
    './../infra',
    'a//b',
    '.',
    'a/./b',
    'a\\b',
    'a\0b',
    'x'.repeat(1001),
  ])('refuses project root %j', (projectRoot) => {
    expect(issues({ projectRoot })).toContain('projectRoot');
  });

  it.each(['main', 'release/1.0', 'feature/a_b-c', 'ünïcode', 'dots.in.it', '1', 'a@b', '@'])(
    'takes branch %s',
    (branch) => {
      expect(parse({ branch }).branch).toBe(branch);
    },
  );

  it.each([
    '',
    '-x',
    '--upload-pack=x',
    '/a',
    'a/',
    '.a',
    'a.',
    'a..b',
    'a//b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    'a@{1}',
    'a.lock',
    'a\nb',
    'a\0b',
    'a\x01b',
    'a\x7f',
    'x'.repeat(256),
  ])('refuses branch %j', (branch) => {
    expect(issues({ branch })).toContain('branch');
  });

  it.each(['modules/**', '{a,b}/*', 'file.txt', '**', './docs/**', '[ab]c'])('takes glob %s', (glob) => {
    expect(parse({ additionalProjectGlobs: [glob] }).additionalProjectGlobs).toEqual([glob]);
  });

  it.each(['', 'x'.repeat(1001), '!docs/**', '/docs', '+(a|b)'])('refuses glob %j', (glob) => {
    expect(issues({ additionalProjectGlobs: ['ok', glob] })).toContain('additionalProjectGlobs.1');
  });

  it('says what is wrong with a glob', () => {
    expect(() => parse({ additionalProjectGlobs: ['docs/'] })).toThrow(
      'additionalProjectGlobs.0: ends in "/"; write "/**" for everything below a directory',
    );
  });

  it.each(['renovate[bot]', 'Copilot', 'my-app_2[bot]'])('takes %s for a bot', (login) => {
    expect(parse({ trustedBots: [login] }).trustedBots).toEqual([login]);
  });

  it.each(['', '*', 'a b', '[bot]', 'renovate[bot', 'renovate[bot]x', 'x'.repeat(101)])(
    'refuses %j for a bot',
    (login) => {
      expect(issues({ trustedBots: [login] })).toEqual(['trustedBots.0']);
    },
  );

  it.each(['acme/infra', 'a-b/c.d_e', 'A/1'])('takes repository %s', (repository) => {
    expect(parse({ repository }).repository).toBe(repository);
  });

  it.each(['infra', 'acme/', '/infra', 'acme/in/fra', 'acme/in fra', 'https://github.com/acme/infra', ''])(
    'refuses repository %j',
    (repository) => {
      expect(issues({ repository })).toEqual(['repository']);
    },
  );

  it('trims names and hooks, and refuses what is empty then', () => {
    expect(parse({ name: '  Network ' }).name).toBe('Network');
    expect(parse({ hooks: { beforeInit: [' npm ci\n'] } }).hooks).toEqual({ beforeInit: ['npm ci'] });
    expect(issues({ name: ' ' })).toEqual(['name']);
    expect(issues({ hooks: { beforeInit: ['ok', ' '] } })).toEqual(['hooks.beforeInit.1']);
    expect(issues({ hooks: { afterRun: ['a\0b'] } })).toEqual(['hooks.afterRun.0']);
  });

  it('refuses what it does not know, so that a typing error is not silently without effect', () => {
    expect(issues({ auto_deploy: true })).toEqual(['auto_deploy']);
    expect(issues({ hooks: { beforeint: [] } })).toEqual(['hooks.beforeint']);
    expect(issues({ autodeploy: 'yes' })).toEqual(['autodeploy']);
  });

  it('names every field that is wrong', () => {
    const wrong = issues({ name: '', branch: '-x', labels: [''] });
    expect(wrong?.toSorted()).toEqual(['branch', 'labels.0', 'name']);
  });

  it('asks for nothing in a patch, but for the same rules', () => {
    expect(parseInput(stackPatchInput, {})).toEqual({});
    expect(parseInput(stackPatchInput, { autodeploy: true })).toEqual({ autodeploy: true });
    expect(() => parseInput(stackPatchInput, { repository: 'acme/other' })).toThrow(UserError);
    expect(() => parseInput(stackPatchInput, { projectRoot: '..' })).toThrow(UserError);
  });
});

describe('the settings of a tool', () => {
  const schema = z.strictObject({
    stackName: z.string().min(1),
    loginUrl: z.string().default('file:///state'),
  });
  const vendors = [
    { name: 'pulumi', schema },
    { name: 'terraform', schema: z.strictObject({ tool: z.string() }) },
  ];

  it('are those of exactly one, as its schema makes them', () => {
    const settings = parseVendorSettings({ pulumi: { stackName: 'dev' } }, vendors);
    expect(settings).toEqual({ pulumi: { stackName: 'dev', loginUrl: 'file:///state' } });
    expect(vendorName(settings)).toBe('pulumi');
  });

  it.each([
    [{}, 'vendor'],
    [{ chef: {} }, 'vendor'],
    [{ pulumi: { stackName: 'dev' }, terraform: { tool: 'tofu' } }, 'vendor'],
    [{ pulumi: { stackName: '' } }, 'vendor.pulumi.stackName'],
    [{ terraform: {} }, 'vendor.terraform.tool'],
    [{ pulumi: null }, 'vendor.pulumi'],
  ])('%j is refused at %s', (given, path) => {
    expect(() => parseVendorSettings(given as Record<string, unknown>, vendors)).toThrow(
      expect.objectContaining({ code: 'invalid-input', issues: [expect.objectContaining({ path })] }),
    );
  });
});

describe('the slug of a name', () => {
  it.each([
    ['Network Prod', 'network-prod'],
    ['  --Hello,  World!-- ', 'hello-world'],
    ['Évian Café', 'evian-cafe'],
    ['ﬁne ①', 'fine-1'],
    ['a_b.c/d', 'a-b-c-d'],
    ['日本', ''],
    ['!!!', ''],
    ['42', '42'],
    [`${'a'.repeat(63)} b`, 'a'.repeat(63)],
    ['x'.repeat(100), 'x'.repeat(64)],
  ])('%j is %j', (name, slug) => {
    expect(slugOf(name)).toBe(slug);
  });
});
