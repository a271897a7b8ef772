import { networkHint } from '../network-hint.ts';
import type { Rule } from './explanation.ts';

const noSecondHost =
  'It is looked for beside the pulumi program; install the complete distribution of pulumi on the server.';

/** What ends a preview or an update: plugins, languages, protection, plans. */
export const operationRules: readonly Rule[] = [
  {
    pattern: /no resource plugin 'pulumi-resource-(.+?)'/,
    explain: ([, name]) => ({
      message: `The provider plugin ${name} is not installed.`,
      hint: 'Let pulumi download it, or install it in a before_init hook with `pulumi plugin install`.',
    }),
  },
  {
    pattern:
      /could not find latest version for provider (\S+):|Could not automatically download and install resource plugin 'pulumi-resource-(.+?)'/,
    explain: ([, latest, exact]) => ({
      message: `The provider plugin ${latest ?? exact} could not be downloaded.`,
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
    pattern: /^error: error in compiling Go: unable to run `go build`/m,
    explain: ({ input, index }) => {
      const lines = input
        .slice(0, index)
        .split('\n')
        .filter((line) => line.trim() !== '');
      // The compiler begins with the package; what came before is about something else.
      const words = lines.slice(lines.findIndex((line) => line.startsWith('# ')) + 1);
      return { message: ['The program does not compile.', ...words].join('\n') };
    },
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
      hint: 'Retry the run to go on from there.',
    }),
  },
  {
    pattern: /^panic: [^\n]*(?:\n[^\n]*)*error reading from server: (?:EOF|[^\n]*connection reset by peer)/m,
    explain: () => ({
      message: 'The language host crashed while it read the program.',
      hint: 'Check `main` and `runtime` in Pulumi.yaml. The log of the run has the trace, for a report to its makers.',
    }),
  },
];
