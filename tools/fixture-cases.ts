/**
 * What tools/record-fixtures.ts makes the real pulumi do. A case is a story on one fresh stack; stages with a
 * `record` become a folder of test/fixtures/pulumi. Nothing in a case needs the network or a cloud.
 */
export interface Case {
  readonly name: string;
  readonly stages: readonly Stage[];
}

export interface Stage {
  /** Name of the fixture; without it the stage only prepares the next one. */
  readonly record?: string;
  readonly run: 'login' | 'select-as-specified' | 'select' | 'preview' | 'up' | 'destroy-preview' | 'destroy';
  /** Files of the checkout, written before the command; null removes one. */
  readonly files?: Readonly<Record<string, string | null>>;
  /** For this command only; null removes a variable that every command has. */
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly loginUrl?: string;
  readonly stackName?: string;
  /** For up: the plan of the last preview of the case. */
  readonly plan?: 'confirmed' | 'followed';
  /** Another process holds the stack's lock. */
  readonly isLocked?: boolean;
  /** SIGINT as soon as the output shows this text. */
  readonly interruptAt?: string;
  /** Nobody judges its exit code when it is recorded; a stage that only prepares must succeed. */
  readonly mayFail?: boolean;
}

const yaml = (resources: string, rest = '') =>
  `name: sample\nruntime: yaml\nresources:\n${resources.replace(/^/gm, '  ')}\n${rest}`;
const stash = (name: string, input: string, options = '') =>
  `${name}:\n  type: pulumi:Stash\n  properties: {input: ${input}}${options && `\n  options: {${options}}`}`;
const program = (resources: string, rest?: string) => ({ 'Pulumi.yaml': yaml(resources, rest) });
const javascript = (body: string) => ({
  'Pulumi.yaml': 'name: sample\nruntime: {name: nodejs, options: {typescript: false}}\n',
  'package.json': '{"name": "sample", "main": "index.js"}\n',
  'index.js': `const pulumi = require('@pulumi/pulumi');\n${body}\n`,
});

/** A dynamic resource whose world is the folder /tmp-like `world` beside the program. */
const fileProvider = `
const provider = {
  async create(inputs) {
    if (inputs.fail) throw new Error('the disk is full');
    if (inputs.slow) {
      const fs = require('node:fs');
      console.log('creating slowly');
      await new Promise((done) => setTimeout(done, 3000));
    }
    return { id: inputs.name, outs: inputs };
  },
  async diff(id, olds, news) {
    const changes = JSON.stringify(olds.content) !== JSON.stringify(news.content) || olds.name !== news.name;
    return { changes, replaces: olds.name === news.name ? [] : ['name'], deleteBeforeReplace: false };
  },
  async update(id, olds, news) { return { outs: news }; },
  async delete(id, props) { if (props.sticky) throw new Error('it sticks'); },
  async read(id, props) {
    if (props.vanishes) return { id: '', props: {} };
    return { id, props: props.drifts ? { ...props, content: 'drifted' } : props };
  },
};
class File extends pulumi.dynamic.Resource {
  constructor(name, props, options) { super(provider, name, props, options); }
}`;
const files = (body: string) => javascript(`${fileProvider}\n${body}`);

const select: Stage = { run: 'select', files: { 'Pulumi.yaml': 'name: sample\nruntime: yaml\n' } };
const preview = (record: string, files: Stage['files'] = {}): Stage => ({ run: 'preview', record, files });
const up = (files: Stage['files'] = {}): Stage => ({ run: 'up', files });

const one = stash('one', '"1"');
const secret = stash('keys', '{open: "a", hidden: {fn::secret: "deep"}}');
const outputs = `outputs:\n  one: "\${one.output}"\n`;

export const cases: readonly Case[] = [
  {
    name: 'life',
    stages: [
      { run: 'login', record: 'login' },
      { run: 'select-as-specified', record: 'select-as-specified', files: program(one) },
      { run: 'select', record: 'select-as-released' },
      { run: 'destroy-preview', record: 'destroy-preview-nothing' },
      preview('create', program(`${one}\n${secret}`, outputs)),
      { run: 'up', record: 'create-up', plan: 'confirmed' },
      preview('no-change'),
      preview('output-only', program(`${one}\n${secret}`, `${outputs}  two: added\n`)),
      preview('outputs-removed', program(`${one}\n${secret}`)),
      preview('update', program(`${stash('one', '"2"')}\n${secret}`, outputs)),
      { run: 'up', record: 'update-up', plan: 'followed' },
      preview(
        'replace-create-first',
        program(`${stash('one', '"3"', 'replaceOnChanges: [input]')}\n${secret}`, outputs),
      ),
      preview(
        'replace-delete-first',
        program(`${stash('one', '"3"', 'replaceOnChanges: [input], deleteBeforeReplace: true')}\n${secret}`),
      ),
      preview('protect', program(`${stash('one', '"2"', 'protect: true')}\n${secret}`, outputs)),
      preview(
        'alias',
        program(`${stash('uno', '"2"', 'aliases: [{name: one}]')}\n${secret}`, outputs.replace('{one', '{uno')),
      ),
      preview('rename', program(`${stash('uno', '"2"')}\n${secret}`, outputs.replace('{one', '{uno'))),
      preview(
        'parent',
        program(`${stash('one', '"2"', 'parent: "${keys}", aliases: [{noParent: true}]')}\n${secret}`, outputs),
      ),
      preview('delete', program(one.replace('"1"', '"2"'), outputs)),
      {
        run: 'preview',
        record: 'provider-plugin-missing',
        files: program(`${one}\npet:\n  type: random:RandomPet\n`),
        environment: { PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: 'true' },
      },
      preview('program-syntax', { 'Pulumi.yaml': 'name: sample\nruntime: yaml\nresources: [\n' }),
      preview('program-reference', program(one, 'outputs: {x: "${nothing.here}"}\n')),
      preview('config-missing', {
        'Pulumi.yaml': `config: {size: {type: integer}}\n${yaml(one)}`,
      }),
      { ...preview('passphrase-wrong', program(`${one}\n${secret}`)), environment: { PULUMI_CONFIG_PASSPHRASE: 'no' } },
      { ...preview('passphrase-missing'), environment: { PULUMI_CONFIG_PASSPHRASE: null } },
      { run: 'up', record: 'locked', isLocked: true },
      { run: 'destroy-preview', record: 'destroy-preview' },
      { run: 'up', files: program(`${stash('one', '"2"', 'protect: true')}\n${secret}`, outputs) },
      { run: 'destroy-preview', record: 'destroy-preview-protected' },
      { run: 'up', files: program(`${one}\n${secret}`, outputs) },
      { run: 'destroy', record: 'destroy' },
    ],
  },
  {
    name: 'violations',
    stages: [
      select,
      up(program(`${one}\n${secret}`)),
      { run: 'preview', files: program(`${stash('one', '"2"')}\n${secret}\n${stash('three', '"3"')}`) },
      {
        run: 'up',
        record: 'violation-update',
        plan: 'confirmed',
        files: program(`${stash('one', '"other"')}\n${secret}\n${stash('three', '"3"')}`),
      },
      {
        run: 'up',
        record: 'violation-create',
        plan: 'confirmed',
        files: program(`${stash('one', '"2"')}\n${secret}\n${stash('three', '"3"')}\n${stash('four', '"4"')}`),
      },
      {
        run: 'up',
        record: 'violation-delete',
        plan: 'confirmed',
        files: program(`${stash('one', '"2"')}\n${stash('three', '"3"')}`),
      },
      {
        run: 'up',
        record: 'violation-missing-step',
        plan: 'confirmed',
        files: program(`${stash('one', '"2"')}\n${secret}`),
      },
      {
        run: 'up',
        record: 'violation-secret',
        plan: 'confirmed',
        files: program(`${stash('one', '"2"')}\n${secret.replace('deep', 'changed')}\n${stash('three', '"3"')}`),
      },
      {
        run: 'up',
        record: 'violation-while-applying',
        plan: 'followed',
        files: program(`${stash('one', '"other"')}\n${secret}\n${stash('three', '"3"')}`),
      },
    ],
  },
  {
    name: 'set-up',
    stages: [
      { run: 'login', record: 'login-directory-missing', loginUrl: 'file:///state/gone' },
      { run: 'login', record: 'login-unreachable', loginUrl: 'https://127.0.0.1:1' },
      {
        run: 'login',
        record: 'login-token-missing',
        loginUrl: 'https://127.0.0.1:1',
        environment: { PULUMI_ACCESS_TOKEN: null },
      },
      {
        run: 'login',
        record: 'login-bucket-credentials',
        loginUrl: 's3://bucket?region=eu-central-1',
        environment: { AWS_EC2_METADATA_DISABLED: 'true' },
      },
      { run: 'select', record: 'select-project-missing' },
      preview('project-missing'),
      { ...select, record: 'select-passphrase-missing', files: program(one), environment: { PULUMI_CONFIG_PASSPHRASE: null } },
      { ...select, record: 'stack-name-invalid', stackName: 'a/b/c/d' },
      { ...select, record: 'stack-name-other-project', stackName: 'organization/other/dev' },
      { ...preview('stack-missing'), stackName: 'nowhere' },
      select,
      preview('runtime-unknown', { 'Pulumi.yaml': 'name: sample\nruntime: dotnet\n' }),
      preview('project-file-invalid', { 'Pulumi.yaml': 'runtime: yaml\n' }),
      preview('modules-missing', { ...javascript(''), node_modules: null }),
    ],
  },
  {
    name: 'javascript',
    stages: [
      select,
      preview('component', javascript(`
class Group extends pulumi.ComponentResource {
  constructor(name, options) {
    super('sample:index:Group', name, {}, options);
    const inner = new pulumi.Stash(name + '-inner', { input: name }, { parent: this });
    this.registerOutputs({ size: 1, inner: inner.output });
  }
}
new Group('all');
exports.done = true;`)),
      preview('program-throws', javascript(`throw new Error('no such region');`)),
    ],
  },
  {
    name: 'dynamic',
    stages: [
      select,
      up(files(`
new File('a', { name: 'a', content: 1 });
new File('b', { name: 'b', content: 1, vanishes: true });
new File('c', { name: 'c', content: 1, drifts: true });
new File('d', { name: 'd', content: 1, sticky: true });`)),
      preview('drift'),
      {
        run: 'up',
        mayFail: true,
        record: 'step-fails',
        files: files(`
new File('a', { name: 'a', content: 1 });
new File('d', { name: 'd2', content: 1, sticky: true });
new File('e', { name: 'e', content: 1, fail: true });`),
      },
      preview('leftover', files(`
new File('a', { name: 'a', content: 1 });
new File('d', { name: 'd2', content: 1, sticky: true });`)),
      preview('import', files(`
new File('a', { name: 'a', content: 1 });
new File('d', { name: 'd2', content: 1, sticky: true });
new File('f', { name: 'f', content: 1 }, { import: 'f' });`)),
      { run: 'up', record: 'interrupted', interruptAt: 'creating slowly', files: files(`
const first = new File('s1', { name: 's1', slow: true });
new File('s2', { name: 's2', slow: true }, { dependsOn: first });`) },
    ],
  },
  {
    name: 'read',
    stages: [
      select,
      up(program(one, outputs)),
      preview('read-first', program(`${one}\nother:\n  type: pulumi:pulumi:StackReference\n  properties: {name: organization/sample/dev}`)),
      up(),
      preview('read-again'),
      preview('discard', program(one, outputs)),
    ],
  },
  {
    name: 'provider',
    stages: [
      select,
      preview('explicit-provider', program(`mine:\n  type: pulumi:providers:pulumi\n${stash('one', '"1"', 'provider: "${mine}"')}`)),
    ],
  },
];
