import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Flavour } from '../../../src/vendors/terraform/flavour.ts';
import { createTerraformVendor } from '../../../src/vendors/terraform/vendor.ts';
import { providerMirror } from '../../support/provider-mirror.ts';
import { tempDirectory } from '../../support/temp-database.ts';
import { foundTool, withTool } from './found-tool.ts';
import type { Program, Resource, Subject, Text } from './sample.ts';

/** Where a server of its own would have a mirror of providers. */
const mirror = '/opt/mirror';

const placeOf = (flavour: Flavour) => foundTool(flavour.program, process.env[flavour.setting]);

/** On this machine; nothing here can install Terraform. */
export const isMissing = (flavour: Flavour): boolean => placeOf(flavour) === null;

/** Terraform or OpenTofu, with programs in their JSON syntax. */
export async function terraformSubject(flavour: Flavour): Promise<Subject & Disposable> {
  const vendor = await createTerraformVendor({
    flavour,
    path: placeOf(flavour),
    insideDirectory: `/opt/${flavour.name}`,
    lockTimeoutSeconds: 1,
  });
  withTool(vendor);
  const directory = tempDirectory();
  // Runs have users of their own.
  chmodSync(directory.path, 0o755);
  writeFileSync(join(directory.path, 'terraformrc'), await providerMirror('local', directory.path, mirror));
  return {
    vendor: {
      ...vendor,
      toolMounts: () => [...vendor.toolMounts(), { source: directory.path, target: mirror }],
    },
    settings: (name) => ({ [flavour.name]: { stateUrl: `file:///state/${name}` } }),
    variables: { TF_CLI_CONFIG_FILE: `${mirror}/terraformrc` },
    source: (program) => ({ 'main.tf.json': JSON.stringify(source(program)) }),
    tokenVariable: 'TF_VAR_token',
    tokenHooks: [],
    brokenSource: {
      files: { 'main.tf': 'resource "terraform_data" "one" {\n  input = [\n}\n' },
      place: /line \d/,
    },
    nameOf: (urn) => (urn === 'outputs' ? null : (urn.split('.').at(-1) ?? null)),
    rootResources: 0,
    recorded,
    printOutput: (name) => `${flavour.program} output ${name}`,
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

const typeOf = ({ kind }: Resource) => (kind === 'file' ? 'local_file' : 'terraform_data');
const expression = (text: string) => `$\{${text}}`;

function source({ resources = [], outputs = {}, reads }: Program): unknown {
  const addressOf = (name: string) => {
    const resource = resources.find((each) => each.name === name);
    if (!resource) throw new Error(`no resource ${name}`);
    return `${typeOf(resource)}.${name}`;
  };
  const say = (text: Text) => {
    if (typeof text === 'string') return text;
    if ('secret' in text) return expression(`sensitive(${JSON.stringify(text.secret)})`);
    return expression('variable' in text ? 'var.token' : `${addressOf(text.of)}.output`);
  };
  const declarations = resources.map((resource) => {
    const after = 'after' in resource && resource.after ? { depends_on: [addressOf(resource.after)] } : {};
    return { [typeOf(resource)]: { [resource.name]: { ...declare(resource, say), ...after } } };
  });
  const isSensitive = (text: Text) => typeof text !== 'string' && !('of' in text);
  const outputOf = (text: Text) => ({ value: say(text), ...(isSensitive(text) && { sensitive: true }) });
  const usesToken = JSON.stringify([resources, outputs]).includes('"variable"');
  // One block each, as a person would write them: an empty one is an error.
  return {
    ...(usesToken && { variable: { token: { type: 'string', sensitive: true } } }),
    ...(reads !== undefined && { locals: { read: expression(`file(${JSON.stringify(reads)})`) } }),
    ...(declarations.length > 0 && { resource: declarations }),
    ...(Object.keys(outputs).length > 0 && {
      output: Object.entries(outputs).map(([name, text]) => ({ [name]: outputOf(text) })),
    }),
  };
}

function declare(resource: Resource, say: (text: Text) => string): Record<string, unknown> {
  switch (resource.kind) {
    case 'value': {
      const input = say(resource.value);
      if (!resource.replaced) return { input };
      const lifecycle = { create_before_destroy: resource.replaced === 'create-first' };
      return { input, triggers_replace: [input], lifecycle };
    }
    case 'file':
      return { filename: say(resource.path), content: say(resource.content) };
    case 'endless': {
      const command = `echo began > ${resource.pipe}; exec sleep infinity`;
      return { provisioner: [{ 'local-exec': { command } }] };
    }
    case 'freezing': {
      const command = `kill -STOP $PPID; echo began > ${resource.pipe}; trap '' INT TERM; while :; do sleep 1; done`;
      return { provisioner: [{ 'local-exec': { command } }] };
    }
  }
}

function recorded(stateDirectory: string): Record<string, string | null> {
  const file = join(stateDirectory, 'root', 'terraform.tfstate');
  // Before the first apply there is none.
  if (!existsSync(file)) return {};
  const { resources } = JSON.parse(readFileSync(file, 'utf8')) as State;
  return Object.fromEntries(
    resources.map(({ name, instances: [instance] }) => {
      const { input, content } = instance?.attributes ?? {};
      return [name, input?.value ?? content ?? null];
    }),
  );
}

interface State {
  readonly resources: readonly {
    readonly name: string;
    readonly instances: readonly {
      readonly attributes: { readonly input?: { readonly value: string }; readonly content?: string };
    }[];
  }[];
}
