import { networkHint } from '../network-hint.ts';
import type { Rule } from './explanation.ts';

const inEnvironment = "in the stack's environment";
const setPassphrase = `Set PULUMI_CONFIG_PASSPHRASE ${inEnvironment}, as a secret that all runs see`;
const correctFile = 'Correct the file and push.';

/** What keeps pulumi from getting to work: login, stack, project file, configuration. */
export const setUpRules: readonly Rule[] = [
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
    // Before the next: it is the host's metadata service that cannot be reached then.
    pattern: /could not log in to the state backend "(.*?)": .*(?:get credentials: |default credentials)/,
    explain: ([, url]) => ({
      message: `There are no credentials for ${url}.`,
      hint: `Set those of the bucket's provider ${inEnvironment}, e.g. AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or GOOGLE_CREDENTIALS.`,
    }),
  },
  {
    pattern:
      /could not log in to the state backend "(.*?)": .*(?:: Forbidden$|dial tcp|no such host|i\/o timeout)/m,
    explain: ([, url]) => ({ message: `${url} cannot be reached from a run.`, hint: networkHint }),
  },
  {
    pattern: /could not log in to the state backend "(.*?)": .*Invalid region: region was not/,
    explain: ([, url]) => ({
      message: `${url} does not say in which region the bucket is.`,
      hint: `Add it to the login URL (?region=eu-central-1), or set AWS_REGION ${inEnvironment}.`,
    }),
  },
  {
    pattern: /could not log in to the state backend "(.*?)": .*Options\.AccountName is required/,
    explain: ([, url]) => ({
      message: `There is no storage account for ${url}.`,
      hint: `Set AZURE_STORAGE_ACCOUNT and its credentials ${inEnvironment}.`,
    }),
  },
  {
    pattern: /could not log in to the state backend "(.*?)": (.*)/,
    explain: ([, url, reason]) => ({
      message: `Could not log in to ${url}: ${reason}`,
      hint: `Check loginUrl in the settings of the stack, and the credentials ${inEnvironment}.`,
    }),
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
    explain: ([, reason]) => ({ message: `Pulumi.yaml is not valid: ${reason}`, hint: correctFile }),
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
    pattern: /organization name must be 'organization'/,
    explain: () => ({
      message: 'This state backend knows no organizations: the only name for one is "organization".',
      hint: 'Correct stackName in the settings of the stack: <stack>, or organization/<project>/<stack>.',
    }),
  },
  {
    pattern: /could not create secrets manager for new stack: (invalid YAML file: .*)/,
    explain: ([, reason]) => ({
      message: `Pulumi.<stack>.yaml is not valid: ${reason}`,
      hint: correctFile,
    }),
  },
  {
    pattern: /malformed state value/,
    explain: () => ({
      message: 'The encryptionsalt in Pulumi.<stack>.yaml is not valid.',
      hint: 'Commit the line as `pulumi stack init` wrote it, or take it out: the salt in the state is used then.',
    }),
  },
  {
    pattern: /validating stack config: (?:bad value|cipher: message authentication failed)/,
    explain: () => ({
      message: 'A secret in Pulumi.<stack>.yaml cannot be decrypted: it was encrypted for another stack.',
      hint: 'Set it again with `pulumi config set --secret` and commit Pulumi.<stack>.yaml.',
    }),
  },
  {
    pattern: /Pulumi CLI version (\S+) does not satisfy the version range "(.*)"/,
    explain: ([, version, range]) => ({
      message: `The project asks for pulumi ${range}; this server has ${version}.`,
      hint: 'Install that version on the server, or change requiredPulumiVersion in Pulumi.yaml.',
    }),
  },
  {
    pattern: /project 'main' could not be read: .*/,
    explain: () => ({
      message: '`main` in Pulumi.yaml leads to a place that is not there.',
      hint: 'Correct `main`, relative to Pulumi.yaml, and push.',
    }),
  },
  {
    pattern: /no stack selected; please use/,
    explain: () => ({
      message: 'The Pulumi stack does not exist in this state backend.',
      hint: 'Check loginUrl and stackName in the settings of the stack, then retry the run.',
    }),
  },
  {
    pattern: /Stack '.*' is missing configuration values? (.+)/,
    explain: ([, names]) => ({
      message: `The stack has no value for the configuration ${names}.`,
      hint: 'Set it with `pulumi config set` and commit Pulumi.<stack>.yaml.',
    }),
  },
];
