import { apply, data, initialize, output, plan, program, type TerraformStory } from './story.ts';

const one = data('one', '"1"');
const remoteState = (rest = '') => `data "terraform_remote_state" "other" {
  backend = "local"
  config  = { path = "other.tfstate" }${rest}
}`;
const otherState = {
  version: 4,
  terraform_version: '1.6.0',
  serial: 1,
  lineage: '11111111-1111-4111-8111-111111111111',
  outputs: {
    region: { value: 'here', type: 'string' },
    // Neither program marks what it reads from another state.
    key: { value: 'remote-key', type: 'string', sensitive: true },
  },
  resources: [],
};
const fromOther = data('user', 'data.terraform_remote_state.other.outputs.region');

/** Data sources, checks, and values of every kind. */
export const readings: TerraformStory = {
  name: 'readings',
  stages: [
    {
      ...initialize,
      files: { ...program(remoteState(), fromOther), 'other.tfstate': `${JSON.stringify(otherState)}\n` },
    },
    plan('data-read'),
    apply('data-read-apply'),
    plan('data-no-change'),
    plan('data-deferred', program(remoteState('\n  depends_on = [terraform_data.one]'), fromOther, one)),
    apply('data-deferred-apply'),
    plan(
      'data-not-marked',
      program(remoteState(), data('user', 'data.terraform_remote_state.other.outputs')),
    ),
    plan(
      'check-passes',
      program(
        one,
        'check "health" {\n  assert {\n    condition     = terraform_data.one.input == "1"\n    error_message = "Not healthy."\n  }\n}',
      ),
    ),
    plan(
      'check-fails',
      program(
        one,
        'check "health" {\n  assert {\n    condition     = terraform_data.one.input == "2"\n    error_message = "Not healthy."\n  }\n}',
      ),
    ),
    plan(
      'check-unknown',
      program(
        one,
        'check "health" {\n  assert {\n    condition     = terraform_data.one.id == ""\n    error_message = "Not healthy."\n  }\n}',
      ),
    ),
    plan(
      'odd-values',
      program(
        data(
          'odd',
          '{ big = 12345678901234567890, small = 0.1, none = null, empty = [], truth = true, text = "a\\nb\\u0000" }',
        ),
        data('nothing', 'null'),
        output('odd', '{ nested = [terraform_data.odd.output, null] }'),
      ),
    ),
    plan(
      'unknown-inside',
      program(
        data('source', '1'),
        data(
          'partly',
          '{ known = "a", id = terraform_data.source.id, list = [terraform_data.source.id, "b"] }',
        ),
      ),
    ),
  ],
};
