import { apply, bring, data, initialize, output, plan, program, type TerraformStory } from './story.ts';

const one = (input: string, rest?: string) => data('one', `"${input}"`, rest);
const two = data('two', '{ first = terraform_data.one.output, list = [1, 2] }');
const outputs = output('one', 'terraform_data.one.output');
/** A change of `trigger` replaces it. */
const keeper = (trigger: string, rest = '') =>
  data('keeper', '"kept"', `  triggers_replace = ["${trigger}"]${rest}`);
const createFirst = '\n  lifecycle {\n    create_before_destroy = true\n  }';

/** A stack from its first plan to its end, with every kind of change on the way. */
export const life: TerraformStory = {
  name: 'life',
  stages: [
    { ...initialize, record: 'init', files: program(one('1'), two, outputs) },
    { run: 'destroy-plan', record: 'destroy-plan-nothing' },
    plan('create'),
    apply('create-apply'),
    plan('no-change'),
    plan('outputs-only', program(one('1'), two, outputs, output('added', '["a", "b"]'))),
    apply('outputs-only-apply'),
    plan('outputs-removed', program(one('1'), two)),
    plan('update', program(one('2'), two, outputs)),
    apply('update-apply'),
    ...bring(program(one('2'), two, outputs, keeper('a'))),
    plan('replace-delete-first', program(one('2'), two, outputs, keeper('b'))),
    apply('replace-delete-first-apply'),
    ...bring(program(one('2'), two, outputs, keeper('b', createFirst))),
    plan('replace-create-first', program(one('2'), two, outputs, keeper('c', createFirst))),
    apply('replace-create-first-apply'),
    plan('delete', program(one('2'), outputs)),
    apply('delete-apply'),
    { run: 'apply', record: 'free-apply', plan: 'none', files: program(one('3'), outputs) },
    { run: 'destroy-plan', record: 'destroy-plan' },
    { run: 'destroy', record: 'destroy' },
    ...bring(program(one('1'))),
    { run: 'destroy', record: 'free-destroy', plan: 'none' },
  ],
};

/** Other addresses for what there is, and things that are not ours, or no longer. */
export const addresses: TerraformStory = {
  name: 'addresses',
  stages: [
    { ...initialize, files: program(one('1'), data('two', '2'), outputs) },
    ...bring(),
    plan(
      'moved',
      program(
        data('uno', '"1"'),
        data('two', '2'),
        output('one', 'terraform_data.uno.output'),
        'moved {\n  from = terraform_data.one\n  to   = terraform_data.uno\n}',
      ),
    ),
    plan(
      'moved-and-changed',
      program(
        data('uno', '"one"'),
        data('two', '2'),
        'moved {\n  from = terraform_data.one\n  to   = terraform_data.uno\n}',
      ),
    ),
    plan(
      'removed',
      program(
        one('1'),
        outputs,
        'removed {\n  from = terraform_data.two\n  lifecycle {\n    destroy = false\n  }\n}',
      ),
    ),
    apply('removed-apply'),
    plan(
      'import',
      program(
        one('1'),
        outputs,
        'import {\n  to = terraform_data.found\n  id = "found-id"\n}',
        'resource "terraform_data" "found" {}',
      ),
    ),
    apply('import-apply'),
    plan(
      'import-and-change',
      program(
        one('1'),
        outputs,
        'import {\n  to = terraform_data.other\n  id = "other-id"\n}',
        data('other', '"new"'),
        'resource "terraform_data" "found" {}',
      ),
    ),
    plan(
      'prevent-destroy',
      program(one('1', '  triggers_replace = [1]\n  lifecycle {\n    prevent_destroy = true\n  }')),
    ),
  ],
};

const child = `variable "size" {
  type = number
}

resource "terraform_data" "inner" {
  count = var.size
  input = "inner \${count.index}"
}

output "all" {
  value = terraform_data.inner[*].output
}
`;
const net = (keys: string) =>
  `module "net" {\n  source   = "./child"\n  for_each = toset(${keys})\n  size     = length(each.key)\n}`;
const listed = (keys: string) =>
  `resource "terraform_data" "each" {\n  for_each = toset(${keys})\n  input    = each.value\n}`;

/** Addresses with every kind of key. */
export const modules: TerraformStory = {
  name: 'modules',
  stages: [
    {
      ...initialize,
      record: 'init-modules',
      files: {
        ...program(net('["a", "bc"]'), listed(String.raw`["süß", "日本", "with \"quotes\"", "a.b/c[0]"]`)),
        'child/main.tf': child,
      },
    },
    plan('modules-create'),
    apply('modules-apply'),
    plan(
      'modules-change',
      program(net('["a", "de"]'), listed(String.raw`["süß", "with \"quotes\"", "a$b%c"]`)),
    ),
    plan('modules-removed', program(listed('["süß"]'))),
  ],
};
