import { javascript, type PulumiStory, preview, program, ref, stash, up } from './story.ts';

const first = stash('first', '"0"');
const wait = `dependsOn: [${ref('first')}]`;
const one = (options = '') => stash('one', '"1"', `${wait}${options}`);
const hidden = (value: string) => `outputs:\n  open: shown\n  hidden: {fn::secret: ${value}}\n`;
const outputs = hidden('known');
const stack = (options: string) => program([first, one(options)], outputs);

/** A change that Pulumi counts as "unchanged": what of it can be seen is in the events or the saved plan. */
const quietly = (record: string, files: Record<string, string>) => ({
  ...preview(record, files),
  keepsPlan: true,
});

export const quiet: PulumiStory = {
  name: 'quiet',
  stages: [
    { run: 'select', files: program([first]) },
    up(stack('')),
    quietly('quiet-nothing', stack('')),
    quietly('quiet-secret-output', program([first, one()], hidden('changed'))),
    quietly(
      'quiet-output-becomes-secret',
      program([first, one()], outputs.replace('shown', '{fn::secret: shown}')),
    ),
    quietly(
      'quiet-output-becomes-plain',
      program([first, one()], outputs.replace('{fn::secret: known}', 'known')),
    ),
    quietly('quiet-input-becomes-secret', program([first, stash('one', '{fn::secret: "1"}', wait)], outputs)),
    quietly('quiet-delete-before-replace', stack(', deleteBeforeReplace: true')),
    quietly('quiet-depends-on', program([first, stash('one', '"1"')], outputs)),
    quietly('quiet-timeouts', stack(', customTimeouts: {create: 5m}')),
    quietly('quiet-retain-on-delete', stack(', retainOnDelete: true')),
    quietly('quiet-ignore-changes', stack(', ignoreChanges: [input]')),
    quietly('quiet-replace-on-changes', stack(', replaceOnChanges: [input]')),
    quietly('quiet-additional-secret-outputs', stack(', additionalSecretOutputs: [output]')),
    quietly('quiet-alias-of-nothing', stack(', aliases: [{name: nobody}]')),
    up(program([first, stash('uno', '"1"', `${wait}, aliases: [{name: one}]`)], outputs)),
    quietly(
      'quiet-alias-settled',
      program([first, stash('uno', '"1"', `${wait}, aliases: [{name: one}]`)], outputs),
    ),
    quietly('quiet-alias-removed', program([first, stash('uno', '"1"', wait)], outputs)),
  ],
};

const group = (value: string) =>
  javascript(`
class Group extends pulumi.ComponentResource {
  constructor(name) {
    super('sample:index:Group', name);
    this.registerOutputs({ key: pulumi.secret('${value}') });
  }
}
new Group('all');`);

export const quietComponent: PulumiStory = {
  name: 'quiet-component',
  stages: [
    { run: 'select', files: program([first]) },
    up(group('known')),
    quietly('quiet-component-nothing', group('known')),
    quietly('quiet-component-secret-output', group('changed')),
  ],
};
