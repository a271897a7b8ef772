import { apply, bring, data, initialize, plan, program, type TerraformStory } from './story.ts';

const backend = (type: string) => `terraform {\n  backend "${type}" {}\n}`;
const one = data('one', '"1"');
const exec = (command: string) =>
  `  provisioner "local-exec" {
    command = "${command}"
  }`;

/** Waits until somebody else lets it go on: the file `go` in the checkout. */
export const slow = data('slow', '"slow"', exec('echo waiting; until [ -e go ]; do sleep 0.05; done'));

const createFirst = '  lifecycle {\n    create_before_destroy = true\n  }';

/** Both are replaced: what was before of the first can only go when the second is there. */
const pair = (trigger: string, rest = '') => [
  data('first', '"1"', `  triggers_replace = ["${trigger}"]\n${createFirst}`),
  data('second', '"2"', `  triggers_replace = [terraform_data.first.id]\n${rest}\n${createFirst}`),
];

/** What is left when an apply ends in the middle. */
export const halfDone: TerraformStory = {
  name: 'half-done',
  stages: [
    { ...initialize, files: program(one) },
    ...bring(),
    plan('failing-create', program(one, data('two', '"2"', exec('echo no disk left >&2; exit 3')))),
    apply('failing-create-apply'),
    plan('tainted', program(one, data('two', '"2"'))),
    apply(),
    ...bring(program(...pair('a'))),
    plan('failing-replacement', program(...pair('b', exec('exit 1')))),
    apply('failing-replacement-apply'),
    plan('deposed', program(...pair('b'))),
    apply('deposed-apply'),
    ...bring(program(one)),
    { run: 'plan', files: program(one, slow) },
    { ...apply('interrupted'), interruptAt: ['(local-exec): waiting'] },
    plan('after-interrupt'),
  ],
};

/** The state changed between plan and apply, or somebody else holds it. */
export const contention: TerraformStory = {
  name: 'contention',
  stages: [
    { ...initialize, files: program(one) },
    { run: 'plan' },
    { run: 'apply', plan: 'none', files: program(data('one', '"other"')) },
    { ...apply('stale-plan'), files: program(one) },
    { run: 'plan', record: 'locked-plan', isLocked: true, files: program(one, slow) },
    ...bring(program(one)),
    { run: 'plan', files: program(one, data('two', '"2"')) },
    { ...apply('locked-apply'), isLocked: true, files: program(one, slow) },
  ],
};

const needs = (name: string) => `terraform {
  required_providers {
    ${name} = {
      source = "hashicorp/${name}"
    }
  }
}`;

/** Everything that keeps the tool from getting to work. */
export const setUp: TerraformStory = {
  name: 'set-up',
  stages: [
    { ...initialize, record: 'init-syntax-error', files: { 'main.tf': 'resource "terraform_data" {\n' } },
    {
      ...initialize,
      record: 'init-version-refused',
      files: program('terraform {\n  required_version = ">= 99.0.0"\n}', one),
    },
    {
      ...initialize,
      record: 'init-module-missing',
      files: program('module "gone" {\n  source = "./gone"\n}'),
    },
    {
      ...initialize,
      record: 'init-provider-refused',
      isEgressRefused: true,
      files: program(needs('null'), 'resource "null_resource" "a" {}'),
    },
    {
      ...initialize,
      record: 'init-module-refused',
      isEgressRefused: true,
      files: program('module "far" {\n  source  = "hashicorp/consul/aws"\n  version = "0.1.0"\n}'),
    },
    plan('plan-not-initialized', program(needs('null'), 'resource "null_resource" "a" {}')),
    { ...initialize, record: 'init-workspace', settings: { workspace: 'prod' }, files: program(one) },
    { ...plan('workspace-plan'), settings: { workspace: 'prod' } },
    { ...apply('workspace-apply'), settings: { workspace: 'prod' } },
    { ...initialize, record: 'init-workspace-again', settings: { workspace: 'prod' } },
    { ...plan('workspace-new'), settings: { workspace: 'nowhere' } },
    plan('plan-syntax-error', { 'main.tf': 'resource "terraform_data" "a" {\n  input = \n}\n' }),
    plan('plan-reference-unknown', program(data('one', 'terraform_data.nobody.output'))),
    plan('plan-variable-missing', program('variable "size" {\n  type = number\n}', data('one', 'var.size'))),
    plan(
      'plan-variable-invalid',
      program(
        'variable "size" {\n  type    = number\n  default = 3\n  validation {\n    condition     = var.size < 3\n    error_message = "Too large."\n  }\n}',
      ),
    ),
    { ...plan('plan-variable-file-missing', program(one)), settings: { variableFile: 'gone.tfvars' } },
    plan(
      'plan-precondition-fails',
      program(
        data(
          'one',
          '1',
          '  lifecycle {\n    precondition {\n      condition     = 1 > 2\n      error_message = "One is not enough."\n    }\n  }',
        ),
      ),
    ),
  ],
};

/** Slipway keeps no state: the program has to say where it is. */
export const backends: TerraformStory = {
  name: 'backends',
  stages: [
    ...[
      { record: 'init-backend-missing', files: program(one) },
      { record: 'init-backend-unknown', files: program(backend('cupboard'), one) },
      { record: 'init-backend-incomplete', files: program(backend('http'), one) },
    ].map((stage) => ({ ...initialize, ...stage, settings: { stateUrl: null } })),
    {
      ...initialize,
      record: 'init-backend-file-missing',
      settings: { stateUrl: null, backendConfigFile: 'gone.tfbackend' },
      files: program(backend('local'), one),
    },
    {
      ...plan('plan-backend-not-initialized', program(backend('http'), one)),
      settings: { stateUrl: null },
    },
  ],
};
