import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseRepositoryFile } from '../../src/stacks/repository-file.ts';
import { stackSettingsInput } from '../../src/stacks/stack-input.ts';
import { maxFileBytes } from '../../src/stacks/yaml-tree.ts';
import { vendorRules } from '../../src/vendor-rules.ts';
import { pulumiRules } from '../../src/vendors/pulumi/rules.ts';
import { stackSettings } from '../support/builders.ts';
import { fc } from '../support/fast-check.ts';

const rules = { vendors: [pulumiRules], defaultBranch: 'trunk' };

function parse(content: string | Uint8Array) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return parseRepositoryFile(bytes, rules);
}

/** As a check or an editor shows them. */
function problemsOf(content: string | Uint8Array): string[] {
  const parsed = parse(content);
  if (parsed.kind === 'wanted') return [];
  return parsed.problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

function wantedBy(content: string) {
  const parsed = parse(content);
  if (parsed.kind === 'invalid') throw new Error(problemsOf(content).join('\n'));
  return parsed.stacks;
}

const vendor = 'vendor: { pulumi: { login_url: "file:///state", stack_name: dev } }';
/** A good file whose one stack says `more` from line 5 on. */
const withEntry = (more: string) => `version: 1
stacks:
  - name: Network Prod
    ${vendor}
${more.replace(/^/gm, '    ')}
`;

describe('a repository file', () => {
  test('that says little gets the defaults of a new stack', () => {
    const [stack] = wantedBy(withEntry(''));

    expect(stack).toEqual({
      id: 'network-prod',
      at: { line: 3, column: 11 },
      settings: stackSettings({ branch: 'trunk' }),
      environment: [],
    });
  });

  test('that says everything is taken at its word', () => {
    const [stack, other] = wantedBy(`
      # Everything there is.
      version: 1
      stacks:
        - name: network-prod
          description: "The network"
          labels: [prod, eu]
          project_root: ./infra/network/
          additional_project_globs: ["modules/**"]
          branch: release/prod
          autodeploy: true
          plan_binding: false
          promotion: true
          public_details: true
          allow_forks: true
          trusted_bots: ["renovate[bot]"]
          checks: aggregate
          unaffected_checks: true
          deployment_environment: production
          vendor:
            pulumi: { login_url: "s3://state-bucket", stack_name: "acme/network/prod" }
          hooks:
            before_init: ["npm ci"]
            after_run:
              - |
                echo one
                echo two
          environment: { LOG_LEVEL: info, PORT: 8080, RELEASE: 1.10, DEBUG: true, EMPTY: "", HEX: 0x1F, DAY: 2026-01-02 }
        - name: dns
          ${vendor}
    `);

    expect(stack?.settings).toEqual(
      stackSettings({
        ...{ name: 'network-prod', description: 'The network', labels: ['prod', 'eu'] },
        ...{ projectRoot: 'infra/network', additionalProjectGlobs: ['modules/**'], branch: 'release/prod' },
        ...{ autodeploy: true, planBinding: false, promotion: true, publicDetails: true },
        ...{ allowForks: true, trustedBots: ['renovate[bot]'] },
        ...{ checks: 'aggregate', unaffectedChecks: true, deploymentEnvironment: 'production' },
        vendor: { pulumi: { loginUrl: 's3://state-bucket', stackName: 'acme/network/prod' } },
        hooks: { ...stackSettings().hooks, beforeInit: ['npm ci'], afterRun: ['echo one\necho two'] },
      }),
    );
    expect(Object.fromEntries(stack?.environment.map(({ name, value }) => [name, value]) ?? [])).toEqual({
      ...{ LOG_LEVEL: 'info', PORT: '8080', RELEASE: '1.10', DEBUG: 'true', EMPTY: '', HEX: '0x1F' },
      DAY: '2026-01-02',
    });
    expect(stack?.environment[0]?.at).toEqual({ line: 28, column: 26 });
    expect(other).toMatchObject({ id: 'dns', at: { line: 29 } });
  });

  test.each([
    ['with Windows line ends', withEntry('autodeploy: true').replaceAll('\n', '\r\n')],
    ['with a byte order mark', `\ufeff${withEntry('')}`],
    ['with a document marker', `---\n${withEntry('')}`],
    [
      'in JSON',
      `{"version":1,"stacks":[{"name":"a","vendor":{"pulumi":{"login_url":"file:///state","stack_name":"x"}}}]}`,
    ],
    ['with anchors that nobody uses', withEntry('labels: &common [a]')],
    ['with an empty environment', withEntry('environment:')],
    ['with %YAML 1.2', `%YAML 1.2\n---\n${withEntry('')}`],
  ])('%s is fine', (_what, text) => {
    expect(problemsOf(text)).toEqual([]);
  });
});

test('the examples of the documentation are right', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/stacks.md'), 'utf8');
  const all = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, example = '']) => example);
  const whole = all.filter((example) => example.startsWith('version:'));
  const parts = all.filter((example) => /^(hooks|vendor):/.test(example));

  expect(whole.length).toBeGreaterThan(1);
  expect(parts.length).toBeGreaterThan(1);
  const entry = (part: string) => part.replaceAll(/^/gm, '    ');
  const vendor = (part: string) => (part.startsWith('vendor:') ? '' : '    vendor: {terraform: {}}\n');
  for (const example of [
    ...whole,
    ...parts.map((part) => `version: 1\nstacks:\n  - name: network-prod\n${vendor(part)}${entry(part)}\n`),
  ]) {
    const parsed = parseRepositoryFile(Buffer.from(example), { vendors: vendorRules, defaultBranch: 'main' });
    expect(parsed).toMatchObject({ kind: 'wanted' });
    expect(parsed.kind === 'wanted' && parsed.stacks[0]?.id).toBe('network-prod');
  }
  const [, full] = whole;
  const fields = [...Object.keys(stackSettingsInput.shape), 'environment'];
  const shown = fields.map((field) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  expect(shown.filter((field) => !full?.includes(`${field}:`))).toEqual([]);
});

const at5 = (more: string, ...expected: string[]) => [withEntry(more), expected] as const;
const help =
  'Names are letters, digits and underscores; names that steer Slipway, the shell, git or the tool itself are reserved.';
const urls =
  'Use file:///state or file:///state/<name> for state kept by Slipway, or an s3://, gs://, azblob:// or https:// URL.';
const known =
  'name, description, labels, branch, project_root, additional_project_globs, autodeploy, plan_binding, promotion, public_details, allow_forks, trusted_bots, checks, unaffected_checks, deployment_environment, vendor, hooks, environment';
const loginUrl = (url: string) => `version: 1
stacks:
  - name: a
    vendor: { pulumi: { login_url: "${url}", stack_name: x } }
`;

describe('what is wrong with a repository file is said with its place:', () => {
  test.each<readonly [string, readonly string[]]>([
    // The file as a whole.
    ['', ['1:1 the file is empty; it needs version: 1 and stacks']],
    ['# nothing but a comment\n', ['1:1 the file is empty; it needs version: 1 and stacks']],
    ['---\n', ['1:1 the file must be a map with the keys version and stacks']],
    ['- a\n', ['1:1 the file must be a map with the keys version and stacks']],
    ['hello\n', ['1:1 the file must be a map with the keys version and stacks']],
    ['version: 1\n', ['1:1 stacks is missing']],
    [
      'stacks: []\n',
      ['1:1 version is missing; write version: 1', '1:1 stacks is empty; list a stack, or delete the file'],
    ],
    ['version: 1\nstacks:\n', ['2:1 stacks is empty; list a stack, or delete the file']],
    ['version: 1\nstacks: {}\n', ['2:9 stacks must be a list: each entry begins with "- name:"']],
    ['version: 1\nstacks: none\n', ['2:9 stacks must be a list: each entry begins with "- name:"']],
    [withEntry('').replace('1', '2'), ['1:10 version must be 1, without quotes; this server knows no other']],
    [
      withEntry('').replace('1', '"1"'),
      ['1:10 version must be 1, without quotes; this server knows no other'],
    ],
    [
      withEntry('').replace('1', '1.5'),
      ['1:10 version must be 1, without quotes; this server knows no other'],
    ],
    [withEntry('').replace(' 1', ''), ['1:1 version must be 1, without quotes; this server knows no other']],
    [`stack: []\n${withEntry('')}`, ['1:1 unknown key stack; did you mean stacks?']],
    [`modules: []\n${withEntry('')}`, ['1:1 module CI/CD is not available for Pulumi']],
    [`defaults: {}\n${withEntry('')}`, ['1:1 unknown key defaults; known here are version, stacks']],
    [`version: 1\nstacks:\n${'  - name: a\n'.repeat(501)}`, ['2:1 a file may have 500 stacks at most']],
    // YAML itself.
    [
      withEntry('autodeploy: true\n\tpromotion: true'),
      ['6:5 not valid YAML: Tabs are not allowed as indentation'],
    ],
    [withEntry('description: "no end'), ['6:1 not valid YAML: Missing closing "quote']],
    [
      withEntry('labels: [a'),
      [
        '6:1 not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
      ],
    ],
    [
      withEntry('description: a: b'),
      ['5:18 not valid YAML: Nested mappings are not allowed in compact mappings'],
    ],
    [
      withEntry('description: @me'),
      ['5:18 not valid YAML: Plain value cannot start with reserved character @'],
    ],
    [
      `${withEntry('')}---\nversion: 1\n`,
      ['6:1 the file must be one document; a second one begins here (---)'],
    ],
    [`%YAML 1.1\n---\n${withEntry('')}`, ['1:1 YAML 1.1 is not read here; leave the %YAML line out']],
    at5('autodeploy: true\nautodeploy: false', '6:5 autodeploy stands here twice, first in line 5'),
    [`version: 1\n${withEntry('')}`, ['2:1 version stands here twice, first in line 1']],
    at5(
      `environment: {${Array.from({ length: 501 }, (_, index) => `A${index}: x`).join(', ')}}`,
      '5:18 environment may have 500 variables at most',
    ),
    at5(
      `environment: { ${'A'.repeat(201)}: x }`,
      `5:20 environment: The variable ${'A'.repeat(40)}… cannot be set. A name has 200 characters at most.`,
    ),
    at5('labels: *common', '5:13 aliases (*) are not supported; write the value out'),
    at5('description: &a x\nlabels: [*a]', '6:14 aliases (*) are not supported; write the value out'),
    at5('<<: { autodeploy: true }', '5:5 merge keys (<<) are not supported; write the values out'),
    at5('description: !secret abc', '5:18 tags (!) are not supported'),
    at5('description: !!str abc', '5:24 tags (!) are not supported'),
    at5('description: !!binary aGVsbG8=', '5:27 tags (!) are not supported'),
    at5('? [a, b]\n: c', '5:7 a key must be plain text'),
    at5('description: "\u0007"', '5:19 control characters are not allowed'),
    at5(
      `labels: ${'['.repeat(30)}${']'.repeat(30)}`,
      '5:14 labels[0] must be text',
      '5:31 this is nested too deeply',
    ),
    // An entry.
    ['version: 1\nstacks: [a]\n', ['2:10 a stack must be a map that begins with "name:"']],
    ['version: 1\nstacks:\n  -\n', ['3:3 a stack must be a map that begins with "name:"']],
    ['version: 1\nstacks:\n  - name: a\n', ['3:5 vendor is missing']],
    [`version: 1\nstacks:\n  - ${vendor}\n`, ['3:5 name is missing']],
    [`version: 1\nstacks:\n  - name:\n    ${vendor}\n`, ['3:5 name has no value']],
    [`version: 1\nstacks:\n  - name: 12\n    ${vendor}\n`, ['3:11 name must be text; put it in quotes']],
    [
      `version: 1\nstacks:\n  - name: "!!!"\n    ${vendor}\n`,
      ['3:11 name is not right: needs a letter or a digit'],
    ],
    [`version: 1\nstacks:\n  - name: {a: b}\n    ${vendor}\n`, ['3:11 name must be text']],
    [
      `${withEntry('')}  - name: NETWORK -- prod\n    ${vendor}\n`,
      ['6:11 the stack network-prod stands here twice, first in line 3'],
    ],
    // Its keys.
    at5('auto_deploy: true', '5:5 unknown key auto_deploy; did you mean autodeploy?'),
    at5('projectRoot: infra', '5:5 unknown key projectRoot; did you mean project_root?'),
    at5('enviroment: {}', '5:5 unknown key enviroment; did you mean environment?'),
    at5('repository: acme/infra', `5:5 unknown key repository; known here are ${known}`),
    at5('__proto__: {}', `5:5 unknown key __proto__; known here are ${known}`),
    at5(`${'x'.repeat(100)}: 1`, `5:5 unknown key ${'x'.repeat(60)}…; known here are ${known}`),
    // Its values, by the rules of the API.
    at5('autodeploy: "true"', '5:17 autodeploy must be true or false, without quotes'),
    at5('checks: all', '5:13 checks is not right: Invalid option: expected one of "each"|"aggregate"'),
    at5(
      'deployment_environment: " prod"',
      '5:29 deployment_environment is not right: without control characters, and no space at its ends',
    ),
    at5('autodeploy: yes', '5:17 autodeploy must be true or false'),
    at5('labels: prod', '5:13 labels must be a list'),
    at5('labels: [1]', '5:14 labels[0] must be text; put it in quotes'),
    at5('labels:\n  - ok\n  - true', '7:9 labels[1] must be text; put it in quotes'),
    at5(
      'project_root: ../other',
      '5:19 project_root is not right: a path inside the repository, with forward slashes and without ".."',
    ),
    at5('project_root: a//b', '5:19 project_root is not right: no empty segments'),
    at5('branch: "a b"', '5:13 branch is not right: not a branch name'),
    at5('branch: 2.0', '5:13 branch must be text; put it in quotes'),
    at5('hooks: npm ci', '5:12 hooks must be a map'),
    at5('hooks: { befor_init: [a] }', '5:14 unknown key befor_init; did you mean before_init?'),
    at5('hooks: { beforeInit: [a] }', '5:14 unknown key beforeInit; did you mean before_init?'),
    at5('hooks:\n  before_init: npm ci', '6:20 hooks.before_init must be a list'),
    at5(
      'hooks:\n  before_init:\n    - ""',
      '7:11 hooks.before_init[0] is not right: Too small: expected string to have >=1 characters',
    ),
    at5('hooks:\n  after_run: ["a\\0b"]', '6:19 hooks.after_run[0] is not right: without NUL characters'),
    // The vendor.
    ['version: 1\nstacks:\n  - name: a\n    vendor: pulumi\n', ['4:13 vendor must be a map']],
    [
      'version: 1\nstacks:\n  - name: a\n    vendor: {}\n',
      ['4:13 vendor is not right: exactly one of pulumi'],
    ],
    [
      'version: 1\nstacks:\n  - name: a\n    vendor: { pulumy: {} }\n',
      ['4:13 vendor is not right: exactly one of pulumi', '4:15 unknown key pulumy; did you mean pulumi?'],
    ],
    [
      'version: 1\nstacks:\n  - name: a\n    vendor: { pulumi: {} }\n',
      ['4:23 vendor.pulumi.login_url is missing', '4:23 vendor.pulumi.stack_name is missing'],
    ],
    [
      loginUrl('s3://b').replace('stack_name', 'stackName'),
      ['4:23 vendor.pulumi.stack_name is missing', '4:46 unknown key stackName; did you mean stack_name?'],
    ],
    [
      loginUrl('file:///etc'),
      [`4:36 vendor.pulumi.login_url is not right: a stack reaches no other directory of this host. ${urls}`],
    ],
    [
      loginUrl('http://state.example'),
      [
        '4:36 vendor.pulumi.login_url is not right: http: would send the access token and the state in clear. Use the https: address.',
      ],
    ],
    // The environment.
    at5('environment: [A]', '5:18 environment must be a map of names and values'),
    at5('environment: text', '5:18 environment must be a map of names and values'),
    at5('environment:\n  A:', '6:7 A has no value; write "" for an empty one'),
    at5('environment:\n  A: ~', '6:7 A has no value; write "" for an empty one'),
    at5('environment:\n  A: [1]', '6:10 A must be text'),
    at5('environment: { PATH: /bin }', `5:20 environment: The variable PATH cannot be set. ${help}`),
    at5('environment: { LD_PRELOAD: x }', `5:20 environment: The variable LD_PRELOAD cannot be set. ${help}`),
    at5(
      'environment: { PULUMI_STACK: x }',
      `5:20 environment: The variable PULUMI_STACK cannot be set. ${help}`,
    ),
    at5('environment: { a-b: x }', `5:20 environment: The variable a-b cannot be set. ${help}`),
    at5(
      `environment: { A: "${'x'.repeat(65_537)}" }`,
      '5:20 environment: The value of A is too long or holds a NUL character.',
    ),
    // All of it at once.
    [
      `version: 3
stacks:
  - name: a
    ${vendor}
    labels: no
    hooks: { after_lunch: [] }
  - name: A
    ${vendor}
    environment: { HOME: x }
  - ${vendor}
`,
      [
        '1:10 version must be 1, without quotes; this server knows no other',
        '5:13 labels must be a list',
        '6:14 unknown key after_lunch; did you mean after_run?',
        `9:20 environment: The variable HOME cannot be set. ${help}`,
        '10:5 name is missing',
      ],
    ],
  ])('%j', (text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });

  test('a file that is too large, and one that is no text', () => {
    expect(problemsOf(Buffer.alloc(maxFileBytes + 1, '#'))).toEqual([
      `1:1 the file has ${maxFileBytes + 1} bytes; ${maxFileBytes} are the most that is read`,
    ]);
    expect(problemsOf(Buffer.alloc(maxFileBytes, '#'))).toHaveLength(1);
    expect(problemsOf(Buffer.from([...Buffer.from('version: 1\nx: '), 0xff, 0xfe]))).toEqual([
      '2:4 the file is not UTF-8 text',
    ]);
    expect(problemsOf(Buffer.from(withEntry(''), 'utf16le'))[0]).toMatch(/control characters|not UTF-8/);
  });
});

describe('whatever is pushed as a repository file', () => {
  /** What a hostile or unlucky author could make expensive: depth, errors, keys, anchors. */
  const repeated = (text: string) => text.repeat(Math.floor(maxFileBytes / text.length));
  const manyKeys = Array.from({ length: 8000 }, (_, index) => `k${index}: 1`).join('\n');
  test.each<readonly [string, string]>([
    ...[
      '[',
      '{a: ',
      '- ',
      '? ',
      '[,',
      '[? ',
      '"a" ',
      '!a ',
      ': ',
      'a: - ',
      '- &a *a\n',
      '%a\n',
      '---\n',
      '\t- a\n',
      '\n',
    ].map((text) => [text, repeated(text)] as const),
    ['many keys', manyKeys],
    ['many unknown keys of a stack', withEntry(manyKeys)],
    ['a bomb of aliases', `a: &a [x,x]\n${repeated('b: &b [*a,*a,*a,*a]\n')}`],
  ])(
    'as %j without end, is judged in bounded time',
    (_what, text) => {
      // Of this thread, not by the clock: a busy machine must not fail it.
      const before = process.threadCpuUsage();
      expect(problemsOf(text).length).toBeGreaterThan(0);
      const { user, system } = process.threadCpuUsage(before);
      // Far above what it takes (about a second); what is quadratic takes minutes.
      expect((user + system) / 1_000_000).toBeLessThan(10);
    },
    60_000,
  );

  /** Seconds of this thread. */
  function timed<T>(work: () => T): { result: T; seconds: number } {
    const before = process.threadCpuUsage();
    const result = work();
    const { user, system } = process.threadCpuUsage(before);
    return { result, seconds: (user + system) / 1_000_000 };
  }
  const longKey = 'k'.repeat(60_000);
  const numbered = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => line(index)).join('');
  test.each<readonly [string, string, number]>([
    ['stacks that are none', `version: 1\nstacks:\n${'  - a\n'.repeat(500)}`, 500],
    ['unknown keys', withEntry(numbered(8000, (index) => `nam${index}: 1\n`)), 8000],
    [
      'labels that are no text',
      withEntry(`labels: [${'1,'.repeat(99)}1]
hooks: { after_run: [${'1,'.repeat(49)}1] }`),
      150,
    ],
    ['names of variables', withEntry(`environment: {${numbered(450, (index) => `a-${index}: b, `)}}`), 450],
    ['values of variables', withEntry(`environment: {${numbered(450, (index) => `a${index}: , `)}}`), 450],
    ['keys that stand twice', withEntry('a: 1\n'.repeat(10_000)), 10_000],
    ['tags', withEntry(`labels: [${'!a b,'.repeat(10_000)}]`), 10_000],
  ])('of many %s the first are told, and how many there are', (_what, text, count) => {
    const { result, seconds } = timed(() => problemsOf(text));
    expect(result).toHaveLength(101);
    expect(result.at(-1)).toMatch(new RegExp(` and ${count - 100} more problems are not shown$`));
    expect(seconds).toBeLessThan(5);
  });

  test.each([
    ['unknown key', `${longKey}: 1`],
    ['key twice', `description: {${longKey}: 1, ${longKey}: 2}`],
    ['variable without value', `environment: { ${longKey}: }`],
    ['name of a variable', `environment: { ${longKey}: x }`],
    ['directive', ''],
  ])('messages stay short: %s', (_what, more) => {
    const text = more === '' ? `%YAML 1.1${longKey}\n---\n${withEntry('')}` : withEntry(more);
    const parsed = parse(text);
    const problems = parsed.kind === 'invalid' ? parsed.problems : [];
    expect(problems.length).toBeGreaterThan(0);
    expect(Math.max(...problems.map(({ message }) => message.length))).toBeLessThanOrEqual(1000);
  });

  test('a long key above many others takes no more than its place', () => {
    const keys = numbered(8000, (index) => `${index}: 1, `);
    const before = process.memoryUsage().rss;
    const { result, seconds } = timed(() => problemsOf(withEntry(`labels: {${longKey}: {${keys}}}`)));
    expect(result).toEqual(['5:13 labels must be a list']);
    expect(seconds).toBeLessThan(5);
    expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000);
  });

  const words = fc.constantFrom(
    ...[
      'version',
      'stacks',
      'name',
      'vendor',
      'pulumi',
      'login_url',
      'hooks',
      'before_init',
      'environment',
      'file:///state',
    ],
    ...[
      '1',
      'true',
      '~',
      '-',
      ':',
      '\n',
      '  ',
      '{',
      '}',
      '[',
      ']',
      ',',
      '"',
      "'",
      '&a',
      '*a',
      '<<',
      '!t',
      '|',
      '>',
      '#',
      '---',
      '\t',
      '\0',
      'é',
    ],
  );
  const texts = fc.array(words, { maxLength: 60 }).map((parts) => parts.join(' '));
  const lines = fc.array(fc.tuple(fc.nat(4), words, words), { maxLength: 20 });
  const indented = lines.map((all) =>
    all.map(([depth, a, b]) => `${'  '.repeat(depth)}${a}: ${b}`).join('\n'),
  );

  test.each([
    ['bytes', fc.uint8Array({ maxLength: 300 })],
    ['words of the format', texts.map((text) => Buffer.from(text))],
    ['lines of the format', indented.map((text) => Buffer.from(withEntry(text)))],
    ['JSON', fc.json().map((text) => Buffer.from(`version: 1\nstacks: [${text}]\n`))],
  ])('%s: never throws, and names places that exist', (_what, contents) => {
    fc.assert(
      fc.property(contents, (content) => {
        const parsed = parse(content);
        if (parsed.kind === 'wanted') return parsed.stacks.length > 0;
        const count = Buffer.from(content).toString().split('\n').length;
        return (
          parsed.problems.length > 0 &&
          parsed.problems.every(
            ({ line, column, message }) => line >= 1 && line <= count && column >= 1 && message !== '',
          )
        );
      }),
      { numRuns: 300 },
    );
  });
});
