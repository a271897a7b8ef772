import { resolve } from 'node:path';
import type { Config } from './config.ts';
import { placeOf } from './github/local-clone.ts';
import { parseInput } from './stacks/stack-input.ts';
import { UserError } from './user-error.ts';
import { type NeededVariable, neededVariables } from './vendors/pulumi/needed-variables.ts';
import { readPulumiProject } from './vendors/pulumi/project.ts';
import { pulumiRules } from './vendors/pulumi/rules.ts';

export interface ProjectQuestion {
  readonly directory: string;
  /** The git remote that leads to GitHub. */
  readonly remote: string;
  /** owner/name, instead of what the remote says. */
  readonly repository?: string;
  /** Instead of the backend that the project names. */
  readonly loginUrl?: string;
  /** Instead of every stack that has a file. */
  readonly stackNames?: readonly string[];
}

/** A project on the disk as the stacks that it would be; `vendor` as the API takes it. */
export interface FoundProject {
  readonly name: string;
  readonly runtime: string;
  readonly repository: string;
  readonly projectRoot: string;
  readonly stacks: readonly { readonly name: string; readonly vendor: Readonly<Record<string, unknown>> }[];
  readonly beforeInit: readonly string[];
  readonly variables: readonly NeededVariable[];
}

/** Reads a Pulumi project in a clone. Throws a UserError that says what is missing, and by which option it can be said. */
export async function findProject(config: Config, question: ProjectQuestion): Promise<FoundProject> {
  const { name, runtime, files, ...project } = await readPulumiProject(question.directory);
  const git = { webUrl: config.githubAddress.webUrl, path: config.tools.path, caBundle: null };
  const { repository, path } = await placeOf(resolve(question.directory), question, git);
  const loginUrl = question.loginUrl ?? project.loginUrl;
  if (loginUrl === null) {
    throw new UserError('backend-missing', 'The project does not say where its state is (backend.url).', {
      hint: 'Say it with --login-url: where `pulumi whoami --verbose` shows the backend, or file:///state to begin anew.',
    });
  }
  const stackNames = question.stackNames ?? project.stacks.map((stack) => stack.name);
  if (stackNames.length === 0) {
    throw new UserError(
      'stacks-missing',
      'The project has no stack with a file of its own (Pulumi.<stack>.yaml).',
      {
        hint: 'Name its stacks with --stack-name, as `pulumi stack ls` shows them.',
      },
    );
  }
  const chosen = stackNames.map((stack) => {
    const { loginUrl: url, stackName } = parseInput(pulumiRules.schema, { loginUrl, stackName: stack }) as {
      loginUrl: string;
      stackName: string;
    };
    return { name: `${name}-${stack.split('/').at(-1)}`, vendor: { pulumi: { loginUrl: url, stackName } } };
  });
  const known = project.stacks.filter((stack) =>
    stackNames.some((full) => full.split('/').at(-1) === stack.name),
  );
  return {
    ...{ name, runtime, repository, projectRoot: path, stacks: chosen },
    beforeInit: runtime === 'nodejs' && files.includes('package-lock.json') ? ['npm ci'] : [],
    variables: neededVariables(loginUrl, known.length > 0 ? known : [{ secretsProvider: null }]),
  };
}
