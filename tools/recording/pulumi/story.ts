import type { FileChanges } from '../workspace.ts';

/**
 * A story on one fresh stack that the real pulumi lives through; stages with a `record` become a folder of
 * test/fixtures/pulumi. Nothing here needs the network or a cloud.
 */
export interface PulumiStory {
  readonly name: string;
  /**
   * Commands for a shell in the checkout, once it has the files of the first stage, in this process's own environment.
   * Without them the checkout has the SDK for JavaScript.
   */
  readonly prepare?: readonly string[];
  readonly stages: readonly Stage[];
}

export interface Stage {
  /** Name of the fixture; without it the stage only prepares the next one. */
  readonly record?: string;
  readonly run: 'login' | 'select-as-specified' | 'select' | 'preview' | 'up' | 'destroy-preview' | 'destroy';
  /** Files of the checkout, written before the command; null removes one. */
  readonly files?: FileChanges;
  /** For this command only; null removes a variable that every command has. */
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly loginUrl?: string;
  readonly stackName?: string;
  /** For up: the plan of the last preview of the case, or a file that is none. */
  readonly plan?: 'confirmed' | 'followed' | 'garbage';
  /** Only what lies beside pulumi is on PATH: no Node, no Go. */
  readonly hasBarePath?: boolean;
  /** The network is a proxy that refuses every connection, as the sandbox's does for a host that is not allowed. */
  readonly isEgressRefused?: boolean;
  /** Logs in at a service that answers every request with 401. */
  readonly isTokenRefused?: boolean;
  /** Another process holds the stack's lock. */
  readonly isLocked?: boolean;
  /** The saved plan is recorded too. */
  readonly keepsPlan?: boolean;
  /** SIGINT as soon as the output shows this text. */
  readonly interruptAt?: string;
}

/** For stages that only prepare, or that the outcome of the one before made necessary. */
export const select: Stage = { run: 'select', files: { 'Pulumi.yaml': 'name: sample\nruntime: yaml\n' } };

export function preview(record: string, files: Stage['files'] = {}): Stage {
  return { run: 'preview', record, files };
}

export function up(files: Stage['files'] = {}): Stage {
  return { run: 'up', files };
}

/** A program in YAML; `resources` and `rest` are YAML without indentation. */
export function program(resources: readonly string[], rest = ''): Record<string, string> {
  const indented = resources.join('\n').replace(/^/gm, '  ');
  return { 'Pulumi.yaml': `name: sample\nruntime: yaml\nresources:\n${indented}\n${rest}` };
}

/** The one resource that every pulumi has built in. */
export function stash(name: string, input: string, options = ''): string {
  const head = `${name}:\n  type: pulumi:Stash\n  properties: {input: ${input}}`;
  return options === '' ? head : `${head}\n  options: {${options}}`;
}

/** A reference in a YAML program. */
export function ref(path: string): string {
  return `"\${${path}}"`;
}

/** With a secret inside. It waits for another resource, so that steps come in the same order each time. */
export function keys(after: string, hidden = 'deep', options = ''): string {
  const wait = `dependsOn: [${ref(after)}]`;
  return stash('keys', `{open: "a", hidden: {fn::secret: ${hidden}}}`, `${wait}${options}`);
}

export function javascript(body: string): Record<string, string> {
  return {
    'Pulumi.yaml': 'name: sample\nruntime: {name: nodejs, options: {typescript: false}}\n',
    'package.json': '{"name": "sample", "main": "index.js"}\n',
    'index.js': `const pulumi = require('@pulumi/pulumi');\n${body}\n`,
  };
}
