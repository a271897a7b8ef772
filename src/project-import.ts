import { resolve } from 'node:path';
import type { Config } from './config.ts';
import { type ClonePlace, placeOf } from './github/local-clone.ts';
import { parseInput } from './stacks/stack-input.ts';
import { UserError } from './user-error.ts';
import { type NeededVariable, neededVariables } from './vendors/pulumi/needed-variables.ts';
import { readPulumiProject } from './vendors/pulumi/project.ts';
import { pulumiRules } from './vendors/pulumi/rules.ts';
import { neededByBackend, readTerraformProject, type TerraformProject } from './vendors/terraform/project.ts';
import { settingsSchema } from './vendors/terraform/settings.ts';

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
  /** Of Terraform: where the state is instead of the program's own backend. */
  readonly stateUrl?: string;
  /** Of Terraform: a stack for each; left out: one, for the workspace `default`. */
  readonly workspaces?: readonly string[];
}

/** A project on the disk as the stacks that it would be; `vendor` as the API takes it. */
export interface FoundProject {
  readonly repository: string;
  readonly projectRoot: string;
  readonly stacks: readonly { readonly name: string; readonly vendor: Readonly<Record<string, unknown>> }[];
  readonly beforeInit: readonly string[];
  readonly variables: readonly NeededVariable[];
}

/**
 * Reads a project of Pulumi or a program of Terraform in a clone. Throws a UserError that says what is missing, and by
 * which option it can be said.
 */
export async function findProject(config: Config, question: ProjectQuestion): Promise<FoundProject> {
  const program = await readTerraformProject(question.directory);
  const place = () =>
    placeOf(resolve(question.directory), question, {
      ...{ webUrl: config.githubAddress.webUrl, path: config.tools.path, caBundle: null },
    });
  return program ? ofTerraform(program, question, place) : ofPulumi(question, place);
}

type Place = () => Promise<ClonePlace>;

async function ofPulumi(question: ProjectQuestion, place: Place): Promise<FoundProject> {
  const { name, runtime, files, ...project } = await readPulumiProject(question.directory);
  const { repository, path } = await place();
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
    ...{ repository, projectRoot: path, stacks: chosen },
    beforeInit: runtime === 'nodejs' && files.includes('package-lock.json') ? ['npm ci'] : [],
    variables: neededVariables(loginUrl, known.length > 0 ? known : [{ secretsProvider: null }]),
  };
}

async function ofTerraform(
  { tool, backend }: TerraformProject,
  { stateUrl, workspaces = [], stackNames, loginUrl }: ProjectQuestion,
  place: Place,
): Promise<FoundProject> {
  if (stackNames || loginUrl !== undefined) {
    throw new UserError('not-of-this-tool', '--stack-name and --login-url are for projects of Pulumi.', {
      hint: 'For programs of Terraform there are --workspace and --state-url.',
    });
  }
  const { repository, path } = await place();
  const name = (path || repository).split('/').at(-1) ?? '';
  if (backend === null && stateUrl === undefined) {
    throw new UserError(
      'backend-missing',
      'The program does not say where its state is: it has no backend block.',
      {
        hint: 'Give it one, or have a new state kept on the server, by a name that no other stack of the repository has: --state-url file:///state/<name>',
      },
    );
  }
  const settings = stateUrl === undefined ? {} : { stateUrl };
  const judged = (given: object) => ({ [tool]: parseInput(settingsSchema, given) });
  const stacks =
    workspaces.length === 0
      ? [{ name, vendor: judged(settings) }]
      : workspaces.map((workspace) => ({
          name: `${name}-${workspace}`,
          vendor: judged({ ...settings, workspace }),
        }));
  const variables = stateUrl === undefined ? neededByBackend(backend) : [];
  return { repository, projectRoot: path, stacks, beforeInit: [], variables };
}
