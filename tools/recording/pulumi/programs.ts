import { javascript, type PulumiStory, preview, program, ref, select, stash, up } from './story.ts';

/** A dynamic resource without a world of its own: each resource says by its properties how it behaves. */
const thing = `
const provider = {
  async create(inputs) {
    if (inputs.fails) throw new Error('the disk is full');
    if (inputs.slow) {
      console.log('creating slowly');
      await new Promise((done) => setTimeout(done, 3000));
    }
    return { id: inputs.name, outs: inputs };
  },
  async diff(id, olds, news) {
    const changes = olds.content !== news.content || olds.name !== news.name;
    return { changes, replaces: olds.name === news.name ? [] : ['name'] };
  },
  async update(id, olds, news) { return { outs: news }; },
  async delete(id, props) { if (props.sticks) throw new Error('it sticks'); },
  async read(id, props) {
    if (props.wanders) return { id, props: { ...props, seen: 'elsewhere' } };
    if (props.vanishes) return { id: '', props: {} };
    return { id, props: props.drifts ? { ...props, content: 'drifted' } : props };
  },
};
let last;
function thing(name, props) {
  // One after the other, so that two recordings have their steps in the same order.
  const options = last ? { dependsOn: last } : {};
  last = new (class extends pulumi.dynamic.Resource {})(provider, name, { name, content: 1, ...props }, options);
}`;
const things = (...calls: string[]) =>
  javascript([thing, ...calls.map((call) => `thing(${call});`)].join('\n'));

export const dynamic: PulumiStory = {
  name: 'dynamic',
  stages: [
    select,
    up(things("'a'", "'b', { vanishes: true }", "'c', { drifts: true }", "'d', { sticks: true }")),
    preview('drift'),
    {
      run: 'up',
      record: 'step-fails',
      files: things("'a'", "'c'", "'d', { sticks: true }", "'e', { fails: true }"),
    },
    { run: 'up', record: 'replacement-half-done', files: things("'a'", "'c'", "'d', { name: 'd2' }") },
    preview('leftover'),
    {
      run: 'up',
      record: 'interrupted',
      interruptAt: 'creating slowly',
      files: things("'s1', { slow: true }", "'s2', { slow: true }"),
    },
  ],
};

/** The apply of a plan breaks off at its second step: the rest of the plan is not what it ended for. */
const planned = things("'a', { content: 2 }", "'b', { name: 'b2', fails: true }", "'c'");
export const brokenOff: PulumiStory = {
  name: 'broken-off',
  stages: [
    select,
    up(things("'a'", "'b'")),
    { run: 'preview', files: planned },
    { run: 'up', record: 'planned-step-fails', plan: 'confirmed' },
  ],
};

const component = `
class Group extends pulumi.ComponentResource {
  constructor(name, options) {
    super('sample:index:Group', name, {}, options);
    const inner = new pulumi.Stash(name + '-inner', { input: name }, { parent: this });
    this.registerOutputs({ size: 1, inner: inner.output });
  }
}
new Group('all');
exports.done = true;`;

/** What the refresh finds is no reason for the provider to change anything. */
export const wandering: PulumiStory = {
  name: 'wandering',
  stages: [select, up(things("'a'", "'b', { wanders: true }")), preview('drift-without-step')],
};

export const programs: PulumiStory = {
  name: 'programs',
  stages: [
    select,
    preview('component', javascript(component)),
    preview('program-throws', javascript("throw new Error('no such region');")),
    preview('program-exits', javascript('process.exit(3);')),
    preview('program-exits-early', javascript('process.exit(0);')),
    preview('program-killed', javascript("process.kill(process.pid, 'SIGKILL');")),
  ],
};

/** The compiler's words stand before those of pulumi. */
export const uncompiled: PulumiStory = {
  name: 'uncompiled',
  stages: [
    select,
    preview('go-uncompiled', {
      'Pulumi.yaml': 'name: sample\nruntime: go\n',
      'go.mod': 'module sample.example/program\n\ngo 1.25.0\n',
      'main.go': 'package main\n\nfunc main() {\n\tunused := 1\n\tmissing()\n}\n',
    }),
  ],
};

const one = stash('one', '"1"');
const outputs = `outputs:\n  one: ${ref('one.output')}\n`;
const reference = `other:\n  type: pulumi:pulumi:StackReference\n  properties: {name: organization/sample/dev}\n  options: {dependsOn: [${ref('one')}]}`;

/** Resources that are only read. */
export const reads: PulumiStory = {
  name: 'reads',
  stages: [
    select,
    up(program([one], outputs)),
    preview('read-first', program([one, reference])),
    up(),
    preview('read-again'),
    preview('discard', program([one], outputs)),
  ],
};

const provider = (name: string) => `${name}:\n  type: pulumi:providers:pulumi`;
const provided = (name: string) => stash('one', '"1"', `provider: ${ref(name)}`);

export const providers: PulumiStory = {
  name: 'providers',
  stages: [
    select,
    preview('explicit-provider', program([provider('mine'), provided('mine')])),
    up(),
    preview('explicit-provider-again'),
    preview('other-provider', program([provider('mine'), provider('yours'), provided('yours')])),
  ],
};
