import type { FileChanges } from '../workspace.ts';
import type { Behaviour } from './state-service.ts';

/**
 * A story on one fresh stack that the real program lives through; stages with a `record` become a folder of
 * test/fixtures/terraform and of test/fixtures/opentofu. Whatever is secret has `hush-` in it.
 */
export interface TerraformStory {
  readonly name: string;
  readonly stages: readonly Stage[];
}

export interface Stage {
  /** Name of the fixture; without it the stage only prepares the next one. */
  readonly record?: string;
  readonly run: 'initialize' | 'plan' | 'destroy-plan' | 'apply' | 'destroy';
  /** Files of the checkout, written before the command; null removes one. */
  readonly files?: FileChanges;
  /** For this stage only. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly settings?: Settings;
  /** For apply and destroy, which follow the last plan otherwise. */
  readonly plan?: 'none';
  /** The way to every registry is a proxy that lets nobody through, as the sandbox's for a host that is not allowed. */
  readonly isEgressRefused?: boolean;
  /** Another process is at work on the state: it applies `slow` and waits inside. */
  readonly isLocked?: boolean;
  /** The service that `service.tfbackend` leads to, and how it behaves. */
  readonly service?: Behaviour;
  /** One interrupt for each of these texts, once the output shows it. */
  readonly interruptAt?: readonly string[];
}

export interface Settings {
  readonly stateUrl?: string | null;
  readonly workspace?: string;
  readonly backendConfigFile?: string;
  readonly variableFile?: string;
}

export const initialize: Stage = { run: 'initialize' };

export function plan(record: string, files: Stage['files'] = {}): Stage {
  return { run: 'plan', record, files };
}

export function apply(record?: string): Stage {
  return { run: 'apply', ...(record !== undefined && { record }) };
}

/** Plans and applies without recording anything. */
export function bring(files: Stage['files'] = {}): readonly Stage[] {
  return [{ run: 'plan', files }, { run: 'apply' }];
}

/** The whole program in one file. */
export function program(...blocks: readonly string[]): Record<string, string> {
  return { 'main.tf': `${blocks.join('\n\n')}\n` };
}

/** The one resource that both programs have built in. `rest` is more of its block. */
export function data(name: string, input: string, rest = ''): string {
  const lines = [`  input = ${input}`, ...(rest === '' ? [] : [rest])];
  return `resource "terraform_data" "${name}" {\n${lines.join('\n')}\n}`;
}

export function output(name: string, value: string, isSensitive = false): string {
  return `output "${name}" {\n  value = ${value}\n${isSensitive ? '  sensitive = true\n' : ''}}`;
}
