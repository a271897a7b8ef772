import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createPulumiVendor } from '../../../src/vendors/pulumi/vendor.ts';
import { foundTool, withTool } from './found-tool.ts';
import type { Program, Resource, Subject, Text } from './sample.ts';

/** Pulumi with programs in YAML (as JSON, which is YAML too), and files by a provider of the tests. */
export async function pulumiSubject(): Promise<Subject> {
  const node = '/opt/node/bin/node';
  const vendor = await createPulumiVendor({
    pulumiPath: foundTool('pulumi', process.env['PULUMI_PATH']),
    insideDirectory: '/opt/pulumi',
    extraTools: [{ source: process.execPath, target: node, pathEntry: dirname(node) }],
  });
  return {
    vendor: withTool(vendor),
    settings: (name) => ({ pulumi: { loginUrl: `file:///state/${name}`, stackName: 'dev' } }),
    variables: { PULUMI_CONFIG_PASSPHRASE: 'a passphrase of the contract' },
    source,
    tokenVariable: 'TOKEN',
    tokenHooks: ['printf %s "$TOKEN" | pulumi config set --secret token'],
    brokenSource: {
      files: { 'Pulumi.yaml': 'name: contract\nruntime: yaml\nresources: [\n' },
      place: /line \d/,
    },
    nameOf: (urn) => (urn.includes('::pulumi:pulumi:Stack::') ? null : (urn.split('::').at(-1) ?? null)),
    rootResources: 1,
    recorded,
    printOutput: (name) => `pulumi stack output ${name}`,
  };
}

const provider = readFileSync(join(import.meta.dirname, 'pulumi-resource-world.cjs'), 'utf8');
const ref = (path: string) => `$\{${path}}`;

function source({ resources = [], outputs = {}, reads }: Program): Record<string, string> {
  const text = JSON.stringify({
    name: 'contract',
    runtime: 'yaml',
    config: JSON.stringify([resources, outputs]).includes('"variable"')
      ? { token: { type: 'string', secret: true } }
      : {},
    // Always: it deletes what programs do not name any more.
    plugins: { providers: [{ name: 'world', path: '.' }] },
    ...(reads !== undefined && { variables: { read: { 'fn::readFile': reads } } }),
    resources: Object.fromEntries(resources.map((resource) => [resource.name, declare(resource)])),
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, say(value)])),
  });
  return { 'Pulumi.yaml': text, 'pulumi-resource-world': provider };
}

function declare(resource: Resource): unknown {
  const after = 'after' in resource ? { options: { dependsOn: [ref(resource.after)] } } : {};
  switch (resource.kind) {
    case 'value':
      return {
        type: 'pulumi:Stash',
        properties: { input: say(resource.value) },
        ...(resource.replaced && {
          options: {
            replaceOnChanges: ['input'],
            deleteBeforeReplace: resource.replaced === 'delete-first',
          },
        }),
      };
    case 'file':
      return {
        type: 'world:File',
        properties: { path: say(resource.path), content: say(resource.content) },
        ...after,
      };
    case 'endless':
      return { type: 'world:Wait', properties: { path: resource.pipe }, ...after };
    case 'freezing':
      return { type: 'world:Freeze', properties: { path: resource.pipe }, ...after };
  }
}

function say(text: Text): unknown {
  if (typeof text === 'string') return text;
  if ('secret' in text) return { 'fn::secret': text.secret };
  return 'variable' in text ? ref('token') : ref(`${text.of}.input`);
}

function recorded(stateDirectory: string): Record<string, string | null> {
  const file = join(stateDirectory, '.pulumi/stacks/contract/dev.json');
  const { checkpoint } = JSON.parse(readFileSync(file, 'utf8')) as Checkpoint;
  return Object.fromEntries(
    (checkpoint.latest?.resources ?? [])
      .filter(({ urn }) => !/::pulumi:(pulumi:Stack|providers:\w+)::/.test(urn))
      .map(({ urn, inputs = {} }) => {
        const text = inputs['input'] ?? inputs['content'];
        return [urn.split('::').at(-1) ?? '', typeof text === 'string' ? text : null];
      }),
  );
}

interface Checkpoint {
  readonly checkpoint: {
    readonly latest?: {
      readonly resources?: readonly {
        readonly urn: string;
        readonly inputs?: Readonly<Record<string, unknown>>;
      }[];
    };
  };
}
