import { networkHint } from '../network-hint.ts';
import type { Rule } from './explanation.ts';

const inEnvironment = "in the stack's environment";

/** What keeps the programs from getting to work: versions, downloads, backends, states, variables. */
export const setUpRules: readonly Rule[] = [
  {
    pattern:
      /(?:does not support|is not compatible with) (Terraform|OpenTofu) (?:version |v)(\d\S*?)\. To proceed/,
    explain: ([, label, present], { text }) => {
      const wanted = /(?:required_version|opentofu) = "([^"]*)"/.exec(text)?.[1];
      return {
        message: `The program wants ${label} ${wanted ?? 'of another version'}; this server has ${present}.`,
        hint: 'Change what the program asks for, or have the operator of this server install a version that fits.',
      };
    },
  },
  {
    pattern:
      /(?:list of available versions for provider|Could not resolve provider) (\S+): could not connect to (\S+?):/,
    explain: ([, provider, host]) => ({
      message: `The provider ${provider} could not be looked up: ${host} cannot be reached.`,
      hint: networkHint,
    }),
  },
  {
    pattern: /Failed to retrieve available versions for module "(.*?)" \S+ from (\S+?): /,
    explain: ([, module, host]) => ({
      message: `The module "${module}" could not be looked up: ${host} did not answer as it should.`,
      hint: networkHint,
    }),
  },
  {
    pattern: /Could not download module "(.*?)" \S+ source code from "(.*?)"/,
    explain: ([, module, source = '']) => ({
      message: `The module "${module}" could not be downloaded from ${withoutUser(source)}.`,
      hint: `See that the address is right and that the credentials it takes are ${inEnvironment}. ${networkHint}`,
    }),
  },
  {
    pattern: /slipway: no backend keeps the state of this program/,
    explain: () => ({
      message:
        'No backend keeps the state of this stack: it would lie in the workspace and be gone with the run.',
      hint: 'Give the program a backend block, or set stateUrl of the stack to file:///state, for state kept by Slipway.',
    }),
  },
  {
    pattern: /slipway: the program keeps its state elsewhere/,
    explain: () => ({
      message:
        'The program overrules where its state is kept, which is to be with Slipway (stateUrl): it could be gone with the run.',
      hint: 'Take files named zz_slipway_override out of the project root, and backend blocks out of override files; or leave stateUrl out of the settings of the stack.',
    }),
  },
  {
    pattern: /Can't ask approval for state migration when interactive input is disabled/,
    explain: () => ({
      message: 'A state lies in the project root, as terraform.tfstate, besides the one of the backend.',
      hint: 'Move it into the backend with `init -migrate-state` on your own machine, then take the file out of the repository.',
    }),
  },
  {
    pattern: /Error: No valid credential sources found/,
    explain: () => ({
      message: 'The backend of the state was given no credentials.',
      hint: `Set what it takes ${inEnvironment}, for S3 AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
    }),
  },
  {
    pattern:
      /The attribute "\w+" is required by the backend|Error: (?:Missing|Invalid) \w+ value on \S+ line \d+, in terraform: \d+: backend "/,
    explain: (_, { text }) => {
      const names = text.matchAll(
        /attribute "(\w+)" is required by|The "(\w+)" attribute (?:value must not be empty|or the )/g,
      );
      const lacking = [...new Set([...names].map(([, one, other]) => one ?? other))];
      return {
        message: `The backend of the state lacks settings: ${lacking.join(', ')}.`,
        hint: 'Say them in the backend block, or in a file of the repository that backendConfigFile of the stack names.',
      };
    },
  },
  {
    pattern: /Error refreshing state:? Failed to get state: (\S+) (\S+) giving up/,
    explain: () => ({ message: 'The backend of the state cannot be reached.', hint: networkHint }),
  },
  {
    pattern: /Failed to request discovery document: Get "https:\/\/([^/"]+)/,
    explain: ([, host]) => ({ message: `${host} cannot be reached.`, hint: networkHint }),
  },
  {
    pattern: /Backend initialization required[:,] please run/,
    explain: () => ({
      message: 'The settings of the backend are not those that init was given.',
      hint: 'Hooks after init must leave the backend block and the data directory alone.',
    }),
  },
  {
    pattern: /Error: Failed to read file The file "(.*?)" could not be read/,
    explain: ([, file]) => ({
      message: `The file ${file} is not in the project root.`,
      hint: 'Commit it there, or correct backendConfigFile in the settings of the stack.',
    }),
  },
  {
    pattern: /Given variables file (.*?) does not exist/,
    explain: ([, file]) => ({
      message: `The variable file ${file} is not in the project root.`,
      hint: 'Commit it there, or correct variableFile in the settings of the stack.',
    }),
  },
  {
    pattern: /Error: No value for required variable/,
    explain: (_, { text }) => {
      const names = [...text.matchAll(/root module input variable "(.*?)" is not set/g)].map(
        ([, name]) => name,
      );
      return {
        message: `The program wants values for: ${names.join(', ')}.`,
        hint: `Set ${names.map((name) => `TF_VAR_${name}`).join(', ')} ${inEnvironment}, or give the stack a variable file.`,
      };
    },
  },
  {
    pattern: /Error: Inconsistent dependency lock file .*? - provider (\S+): /,
    explain: ([, provider], { program }) => ({
      message: `.terraform.lock.hcl does not fit the program: ${provider}.`,
      hint: `Run \`${program} init\` on your own machine and commit the file. Hooks must not add providers after init.`,
    }),
  },
  {
    pattern:
      /The state file uses format version (\d+), which is not supported by (\S+ \S+?)\. .*? created by (\S+ \S+?)\.(?= |$)/,
    explain: ([, , present, writer]) => ({
      message: `The state was written by ${writer}, and ${present} cannot read it.`,
      hint: 'Have the operator of this server install a version that can.',
    }),
  },
  {
    pattern: /Unsupported state file format: The state file could not be parsed as JSON/,
    explain: () => ({
      message: 'The state is damaged: it is no JSON.',
      hint: 'Restore it from a copy. Beside a state kept by Slipway lies terraform.tfstate.backup, the one before.',
    }),
  },
  {
    pattern: /workspaces not supported/,
    explain: () => ({
      message: 'The backend of the state has no workspaces.',
      hint: 'Leave the workspace out of the settings of the stack.',
    }),
  },
];

/** A token may stand in front of the host. */
const withoutUser = (source: string) => source.replace(/:\/\/[^/@]*@/, '://');
