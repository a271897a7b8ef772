/**
 * Texts of the real CLI that a person can do something about. Each has a recording in test/fixtures/pulumi, so a
 * new wording of a newer pulumi shows up as a failing test after tools/record-fixtures.ts ran.
 */
export interface Explanation {
  readonly message: string;
  readonly hint?: string;
}

/** The first that fits, or null: then pulumi's own words must do. */
export function explainText(text: string): Explanation | null {
  for (const { pattern, explain } of rules) {
    const match = pattern.exec(text);
    if (match !== null) return explain(match);
  }
  return null;
}

interface Rule {
  readonly pattern: RegExp;
  explain(match: RegExpExecArray): Explanation;
}

const inEnvironment = "in the stack's environment";
const setPassphrase = `Set PULUMI_CONFIG_PASSPHRASE ${inEnvironment}, as a secret that all runs see`;
const networkHint =
  'Runs reach only what SANDBOX_NETWORK and SANDBOX_ALLOWED_HOSTS let through; ask the operator of this server.';
const noSecondHost =
  'It is looked for beside the pulumi program; install the complete distribution of pulumi on the server.';

const rules: readonly Rule[] = [
  {
    pattern: /the stack is currently locked by \d+ lock\(s\)[^\n]*((?:\n {2}[^\n]+)*)/,
    explain: ([, locks = '']) => {
      const holders = [...locks.matchAll(/: (created by .+)$/gm)].map(([, holder]) => holder);
      return {
        message: `Another pulumi holds the lock of the stack's state${holders.length > 0 ? ` (${holders.join('; ')})` : ''}. Nothing was changed.`,
        hint: 'If it is still at work, wait and retry. If it was killed, run the task `pulumi cancel` and retry.',
      };
    },
  },
  {
    pattern: /passphrase must be set with PULUMI_CONFIG_PASSPHRASE/,
    explain: () => ({
      message: 'No passphrase is set for the secrets of this stack.',
      hint: `${setPassphrase}.`,
    }),
  },
  {
    pattern: /incorrect passphrase/,
    explain: () => ({
      message: 'Wrong passphrase: the secrets of this stack were encrypted with another one.',
      hint: `${setPassphrase}; it must be the one the stack was created with.`,
    }),
  },
  {
    pattern: /PULUMI_ACCESS_TOKEN must be set for login/,
    explain: () => ({
      message: 'No access token is set for the state backend.',
      hint: `Set PULUMI_ACCESS_TOKEN ${inEnvironment}, as a secret that all runs see.`,
    }),
  },
  {
    pattern: /could not log in to the state backend "(.*?)": Unauthorized/,
    explain: ([, url]) => ({
      message: `${url} does not accept the access token.`,
      hint: `Set another PULUMI_ACCESS_TOKEN ${inEnvironment}.`,
    }),
  },
  {
    pattern: /could not log in to the state backend "(.*?)": .*: Forbidden$/m,
    explain: ([, url]) => ({ message: `${url} cannot be reached from a run.`, hint: networkHint }),
  },
  {
    pattern: /could not log in to the state backend "(.*?)": .*get credentials: /,
    explain: ([, url]) => ({
      message: `There are no credentials for ${url}.`,
      hint: `Set those of the bucket's provider ${inEnvironment}, e.g. AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
    }),
  },
  {
    pattern: /could not log in to the state backend "(.*?)": (.*)/,
    explain: ([, url, reason]) => ({ message: `Could not log in to ${url}: ${reason}` }),
  },
  {
    // The second is what `stack select` says in the same place.
    pattern: /no Pulumi\.yaml project file found|--stack flag, pass the fully qualified name/,
    explain: () => ({
      message: 'There is no Pulumi.yaml in the project root.',
      hint: "Check the stack's project root, and that the file is committed.",
    }),
  },
  {
    pattern: /could not (?:unmarshal|validate) '.*?': ([^\n]*(?:\n\t[^\n]*)*)/,
    explain: ([, reason]) => ({ message: `Pulumi.yaml is not valid: ${reason}` }),
  },
  {
    pattern: /provided project name "(.*)" doesn't match Pulumi\.yaml/,
    explain: ([, project]) => ({
      message: `The stack name says the project is "${project}", Pulumi.yaml says another.`,
      hint: 'Correct stackName in the settings of the stack, or leave the project out of it.',
    }),
  },
  {
    pattern: /(a stack name (?:may|cannot) .*)/,
    explain: ([, reason]) => ({
      message: `The name of the Pulumi stack is not valid: ${reason}.`,
      hint: 'Correct stackName: <stack>, or <organization>/<project>/<stack>.',
    }),
  },
  {
    pattern: /no stack selected; please use/,
    explain: () => ({ message: 'The Pulumi stack does not exist in this state backend.' }),
  },
  {
    pattern: /Stack '.*' is missing configuration values? (.+)/,
    explain: ([, names]) => ({
      message: `The stack has no value for the configuration ${names}.`,
      hint: 'Set it with `pulumi config set` and commit Pulumi.<stack>.yaml.',
    }),
  },
  {
    pattern: /no resource plugin 'pulumi-resource-(.+?)'/,
    explain: ([, name]) => ({
      message: `The provider plugin ${name} is not installed.`,
      hint: 'Let pulumi download it, or install it in a before_init hook with `pulumi plugin install`.',
    }),
  },
  {
    pattern: /could not find latest version for provider (\S+):/,
    explain: ([, name]) => ({
      message: `The provider plugin ${name} could not be downloaded.`,
      hint: networkHint,
    }),
  },
  {
    pattern: /no language plugin 'pulumi-language-(.+?)'/,
    explain: ([, name]) => ({ message: `This server has no language host for ${name}.`, hint: noSecondHost }),
  },
  {
    pattern: /could not find (node) on the \$PATH|(any of \["python3"|unable to find program: go)/,
    explain: ([, node, other]) => {
      const language = node ? 'Node.js' : other?.includes('python') ? 'Python' : 'Go';
      return {
        message: `${language} is not on the PATH of runs.`,
        hint: 'Install it on the server below /usr.',
      };
    },
  },
  {
    pattern: /the Pulumi SDK has not been installed\. Have you run (npm|pip) install/,
    explain: ([, manager]) => ({
      message: 'The Pulumi SDK is not installed in the workspace.',
      hint: `Add a before_init hook: ${manager === 'npm' ? '`npm ci`' : '`python3 -m venv venv && venv/bin/pip install -r requirements.txt`'}.`,
    }),
  },
  {
    pattern: /resource "(.*?)" cannot be deleted\s+because it is protected/,
    explain: ([, urn = '']) => ({
      message: `${urn.split('::').slice(3).join('::')} is protected and cannot be deleted.`,
      hint: 'Take `protect` off in the program and apply that first.',
    }),
  },
  {
    pattern: /cannot unmarshal .* of type .*(?:DeploymentPlan|ResourcePlan)/,
    explain: () => ({
      message: 'The saved plan cannot be read by this pulumi.',
      hint: 'Start a new run: the plan was made by another version.',
    }),
  },
  {
    pattern: /unknown flag: (\S+)/,
    explain: ([, flag]) => ({
      message: `This pulumi does not know the flag ${flag}.`,
      hint: 'Install a newer pulumi on the server.',
    }),
  },
  {
    pattern: /error: (?:update|destroy|preview) canceled/,
    explain: () => ({
      message: 'It was interrupted: what was under way was finished and saved, the rest not begun.',
    }),
  },
];
