import { slow } from './failures.ts';
import { data, initialize, program, type Stage, type TerraformStory } from './story.ts';

const backend = 'terraform {\n  backend "http" {}\n}';
const settings = { stateUrl: null, backendConfigFile: 'service.tfbackend' };
const one = data('one', '"1"');

const at = (service: NonNullable<Stage['service']>, stage: Stage): Stage => ({ ...stage, service, settings });

/** The state lies with a service, as that of most programs does. */
export const remote: TerraformStory = {
  name: 'remote',
  stages: [
    at('plain', { ...initialize, record: 'remote-init', files: program(backend, one) }),
    at('plain', { run: 'plan', record: 'remote-create' }),
    at('plain', { run: 'apply', record: 'remote-apply' }),
    at('locked', { run: 'plan', record: 'remote-locked-plan' }),
    at('plain', { run: 'plan', files: program(backend, data('one', '"2"')) }),
    at('locked', { run: 'apply', record: 'remote-locked-apply' }),
    at('plain', { run: 'plan', files: program(backend, one, slow) }),
    at('slow', {
      run: 'apply',
      record: 'interrupted-twice',
      interruptAt: ['(local-exec): waiting', 'Interrupt received'],
    }),
  ],
};
