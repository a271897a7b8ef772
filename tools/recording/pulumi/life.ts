import { keys, type PulumiStory, preview, program, ref, select, stash, up } from './story.ts';

const outputs = `outputs:\n  one: ${ref('one.output')}\n`;
const outputsOfUno = outputs.replace('{one.', '{uno.');
const one = (input: number, options?: string) => stash('one', `"${input}"`, options);
const uno = (options?: string) => stash('uno', '"2"', options);

/** A stack from its first preview to its end, with every kind of change on the way. */
export const life: PulumiStory = {
  name: 'life',
  stages: [
    { run: 'login', record: 'login' },
    { run: 'select-as-specified', record: 'select-as-specified', files: program([one(1)]) },
    { run: 'select', record: 'select-as-released' },
    { run: 'destroy-preview', record: 'destroy-preview-nothing' },
    preview('create', program([one(1), keys('one')], outputs)),
    { run: 'up', record: 'create-up', plan: 'confirmed' },
    preview('no-change'),
    preview('output-only', program([one(1), keys('one')], `${outputs}  two: added\n`)),
    preview('outputs-removed', program([one(1), keys('one')])),
    preview('update', program([one(2), keys('one')], outputs)),
    { run: 'up', record: 'update-up', plan: 'followed' },
    preview('replace-create-first', program([one(3, 'replaceOnChanges: [input]'), keys('one')], outputs)),
    preview(
      'replace-delete-first',
      program([one(3, 'replaceOnChanges: [input], deleteBeforeReplace: true'), keys('one')]),
    ),
    preview('protect', program([one(2, 'protect: true'), keys('one')], outputs)),
    preview('alias', program([uno('aliases: [{name: one}]'), keys('uno')], outputsOfUno)),
    preview('rename', program([uno(), keys('uno')], outputsOfUno)),
    preview(
      'parent',
      program([one(2), keys('one', 'deep', `, parent: ${ref('one')}, aliases: [{noParent: true}]`)], outputs),
    ),
    preview('delete', program([one(2)], outputs)),
    {
      ...preview('provider-plugin-missing', program([one(2), 'pet:\n  type: random:RandomPet'])),
      environment: { PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: 'true' },
    },
    preview('program-syntax', { 'Pulumi.yaml': 'name: sample\nruntime: yaml\nresources: [\n' }),
    preview('program-reference', program([one(2)], `outputs: {x: ${ref('nothing.here')}}\n`)),
    preview('config-missing', program([one(2)], 'config: {size: {type: integer}}\n')),
    {
      ...preview('passphrase-wrong', program([one(2), keys('one')])),
      environment: { PULUMI_CONFIG_PASSPHRASE: 'no' },
    },
    { ...preview('passphrase-missing'), environment: { PULUMI_CONFIG_PASSPHRASE: null } },
    { run: 'up', record: 'locked', isLocked: true },
    { run: 'destroy-preview', record: 'destroy-preview' },
    up(program([one(2, 'protect: true'), keys('one')], outputs)),
    { run: 'destroy-preview', record: 'destroy-preview-protected' },
    up(program([one(2), keys('one')], outputs)),
    { run: 'destroy', record: 'destroy' },
  ],
};

const planned = [one(2), keys('one'), stash('three', '"3"', `dependsOn: [${ref('one')}]`)] as const;
const [, plannedKeys, plannedThree] = planned;

/** Programs that were edited between a preview and the apply of its plan. */
export const violations: PulumiStory = {
  name: 'violations',
  stages: [
    select,
    up(program([one(1), keys('one')])),
    { run: 'preview', files: program(planned) },
    {
      run: 'up',
      record: 'violation-update',
      plan: 'confirmed',
      files: program([one(99), plannedKeys, plannedThree]),
    },
    {
      run: 'up',
      record: 'violation-create',
      plan: 'confirmed',
      files: program([...planned, stash('four', '"4"', `dependsOn: [${ref('three')}]`)]),
    },
    { run: 'up', record: 'violation-delete', plan: 'confirmed', files: program([one(2), plannedThree]) },
    { run: 'up', record: 'violation-missing-step', plan: 'confirmed', files: program([one(2), plannedKeys]) },
    {
      run: 'up',
      record: 'violation-secret',
      plan: 'confirmed',
      // The program is stopped at the second, always before it comes to the third.
      files: program([
        one(2),
        keys('one', 'wholly-new-secret'),
        stash('three', '"3"', `dependsOn: [${ref('keys')}]`),
      ]),
    },
    {
      run: 'up',
      record: 'violation-while-applying',
      plan: 'followed',
      files: program([one(99), plannedKeys, plannedThree]),
    },
    { run: 'up', record: 'plan-unreadable', plan: 'garbage' },
  ],
};
