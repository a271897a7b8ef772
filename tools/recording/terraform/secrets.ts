import { apply, data, initialize, output, plan, program, type TerraformStory } from './story.ts';

const variables = `variable "password" {
  type      = string
  sensitive = true
}

variable "pair" {
  type = object({
    user = string
    key  = string
  })
  sensitive = true
  default = {
    user = "hush-user"
    key  = "hush-key"
  }
}

variable "open" {
  default = "shown"
}`;

/** In a template. */
const password = '$'.concat('{var.password}');

const uses = (open: string) => [
  variables,
  data('plain', '"shown"'),
  data('whole', 'var.password'),
  data('nested', `{ open = "${open}", list = ["a", var.password, { deep = var.pair.key }] }`),
  data('text', `"postgres://user:${password}@db/shop"`),
  data('encoded', 'jsonencode({ pair = var.pair, open = "shown" })'),
  // Once applied, the output of terraform_data is no longer marked.
  data('copied', '[terraform_data.whole.output, terraform_data.nested.output]'),
  data('unmarked', `nonsensitive("${password}-plain")`),
  data('kept', '"kept"', '  triggers_replace = [var.password, "shown"]'),
  output('password', 'var.password', true),
  output('pair', '[var.pair]', true),
  output('whole', 'nonsensitive(terraform_data.whole.input)'),
];

const values = (value: string) => ({ 'values.tfvars': `password = "${value}"\n` });
const settings = { variableFile: 'values.tfvars' };

/** Secrets in variables, in what is nested and what is moved on; every plan shows some of them. */
export const secrets: TerraformStory = {
  name: 'secrets',
  stages: [
    { ...initialize, files: { ...program(...uses('one')), ...values('hush-first-password') } },
    { ...plan('secrets-create'), settings },
    apply('secrets-apply'),
    { ...plan('secrets-no-change'), settings },
    { ...plan('secrets-change', values('hush-second-password')), settings },
    {
      ...plan('secrets-open-change', { ...program(...uses('two')), ...values('hush-first-password') }),
      settings,
    },
    {
      ...plan(
        'secrets-becomes-plain',
        program(
          variables,
          data('whole', 'nonsensitive(var.password)'),
          output('password', 'nonsensitive(var.password)'),
        ),
      ),
      settings,
    },
    { run: 'destroy-plan', record: 'secrets-destroy-plan', settings, files: program(...uses('one')) },
    {
      ...plan('secrets-in-error', program(variables, data('broken', `tonumber("${password}")`))),
      settings,
    },
    {
      ...plan('secrets-from-environment', program(variables, data('whole', 'var.password'))),
      environment: { TF_VAR_password: 'hush-from-environment' },
    },
  ],
};
