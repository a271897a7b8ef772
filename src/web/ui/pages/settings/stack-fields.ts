/** The settings of a stack as a form shows them: names are those of the API. */
export interface SettingField {
  readonly name: SettingName;
  readonly label: string;
  /** What it means, and what follows from it. */
  readonly help: string;
  /** `lines`: a list, an entry on each line. `switch`: yes or no. */
  readonly kind: 'line' | 'text' | 'lines' | 'switch';
}

export type SettingName =
  | 'name'
  | 'description'
  | 'labels'
  | 'branch'
  | 'projectRoot'
  | 'additionalProjectGlobs'
  | 'autodeploy'
  | 'planBinding'
  | 'promotion'
  | 'allowForks'
  | 'trustedBots'
  | 'publicDetails'
  | 'unaffectedChecks';

export interface SettingGroup {
  readonly title: string;
  readonly fields: readonly SettingField[];
}

export const nameField: SettingField = {
  ...{ name: 'name', label: 'Name', kind: 'line' },
  help: 'As people read it. The id of the stack, which is in addresses and checks, was made of its first name and stays.',
};

export const branchField: SettingField = {
  ...{ name: 'branch', label: 'Branch', kind: 'line' },
  help: 'A push to it starts a run that can be applied. Pushes to other branches and pull requests into it are previewed.',
};

export const projectRootField: SettingField = {
  ...{ name: 'projectRoot', label: 'Project root', kind: 'line' },
  help: 'The directory of the program, from the root of the repository; empty for the root itself. A push that changes nothing below it starts nothing.',
};

export const settingGroups: readonly SettingGroup[] = [
  {
    title: 'What it is',
    fields: [
      nameField,
      {
        ...{ name: 'description', label: 'Description', kind: 'text' },
        help: 'Stands below the name in the list of stacks.',
      },
      {
        ...{ name: 'labels', label: 'Labels', kind: 'lines' },
        help: 'To find it by, one on each line.',
      },
    ],
  },
  {
    title: 'What starts runs',
    fields: [
      branchField,
      projectRootField,
      {
        ...{ name: 'additionalProjectGlobs', label: 'Further paths', kind: 'lines' },
        help: 'Changes there concern the stack too. A glob on each line, from the root of the repository, e.g. modules/**',
      },
    ],
  },
  {
    title: 'What is applied',
    fields: [
      {
        ...{ name: 'autodeploy', label: 'Apply without confirmation', kind: 'switch' },
        help: 'A run of the branch applies its plan at once. Nobody looks at it before.',
      },
      {
        ...{ name: 'planBinding', label: 'Apply only what was planned', kind: 'switch' },
        help: 'When the program or the world changed since the plan, the run fails and nothing is touched. Without it the tool plans anew while it applies, and does what it finds then.',
      },
      {
        ...{ name: 'promotion', label: 'Commits of other branches can be applied', kind: 'switch' },
        help: 'With it a pull request can be deployed before it is merged. Who may write to any branch decides then what is applied.',
      },
    ],
  },
  {
    title: 'Pull requests',
    fields: [
      {
        ...{ name: 'allowForks', label: 'Preview pull requests of forks', kind: 'switch' },
        help: 'Their code runs on this server, in the sandbox and without secrets.',
      },
      {
        ...{ name: 'trustedBots', label: 'Trusted bots', kind: 'lines' },
        help: 'Their changes are previewed with secrets, as those of people are. A login on each line, e.g. renovate[bot]',
      },
    ],
  },
  {
    title: 'What GitHub shows',
    fields: [
      {
        ...{ name: 'publicDetails', label: 'Show plans on a public repository', kind: 'switch' },
        help: 'Checks and comments there are read by everybody. Without it they hold counts, states and links; on a private repository it changes nothing.',
      },
      {
        ...{ name: 'unaffectedChecks', label: 'A check for commits that do not concern it', kind: 'switch' },
        help: 'A neutral one. Without it, a commit that does not touch the stack waits for ever where its check is required.',
      },
    ],
  },
];

export const checksField = {
  name: 'checks',
  label: 'Checks',
  choices: [
    { value: 'each', words: 'One for each run', help: 'Each stack can be required by itself.' },
    {
      value: 'aggregate',
      words: 'One for a commit, with all stacks that say so',
      help: 'Fewer checks where a repository has many stacks.',
    },
  ],
} as const;

export const deploymentField = {
  name: 'deploymentEnvironment',
  label: 'Environment of its deployments on GitHub',
  choices: [
    { value: 'default', words: 'Named like the id of the stack' },
    { value: 'none', words: 'No deployments' },
    { value: 'named', words: 'Another one:' },
  ],
} as const;
