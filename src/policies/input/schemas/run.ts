import { z } from 'zod';
import { runStates } from '../../../runs/run.ts';

// What inputs of several kinds have in common. A field is never taken away again; new ones may come.

/**
 * Nanoseconds since 1970, always whole milliseconds: as JSON text such a number is exact, although JavaScript could not
 * count in it.
 */
export const nanoseconds = z.number().meta({ type: 'integer' });

export const request = z
  .object({ timestamp_ns: nanoseconds.describe('When it is judged: the only clock that policies have.') })
  .describe('About the judgement itself.');

const login = (whose: string) =>
  z.string().describe(`Login of ${whose}, in lower case; empty when GitHub knows none.`);

export const commit = z
  .object({
    author: login('its author'),
    author_name: z.string().describe('Name of its author, as the commit has it.'),
    branch: z.string().describe('Branch of the run.'),
    created_at: nanoseconds.describe('Time of the commit.'),
    hash: z.string().describe('Its hash.'),
    message: z.string().describe('Its whole message.'),
    url: z.string().describe('Its page on GitHub.'),
    pull_request_id: z.int().nullable().describe('Number of the pull request of the run; null without one.'),
  })
  .describe('The commit of the run.');

export const session = z
  .object({
    login: z
      .string()
      .describe(
        'Login of a person in lower case; of a program something that no login is: "token:…", "server".',
      ),
    name: z.string().describe('E-mail address of a person, name of a token.'),
    machine: z.boolean().describe('Whether it is a program.'),
  })
  .describe('Who that is.');

const change = z.object({
  action: z
    .enum(['added', 'changed', 'deleted'])
    .describe('A replacement is one that is deleted and one that is added.'),
  phase: z.literal('plan').describe('What is planned, not what was done.'),
  entity: z
    .object({
      address: z.string().describe('How the tool names it: its URN.'),
      name: z.string().describe('Its name in the program.'),
      type: z.enum(['resource', 'output']).describe('`output`: only what is given out changes.'),
      entity_type: z.string().describe('Type of the resource.'),
      entity_vendor: z.string().describe('The tool.'),
    })
    .describe('What changes.'),
});

export const briefRun = z.object({
  id: z.string().describe('Identifier of the run.'),
  type: z.enum(['PROPOSED', 'TRACKED', 'TASK', 'DESTROY']).describe('Type of the run.'),
  state: z.enum(runStates).describe('State of the run.'),
  state_version: z.int().describe('Ordinal number of that state, from 1.'),
  branch: z.string().describe('Branch of the run; `owner:branch` for that of a fork.'),
  commit,
  created_at: nanoseconds.describe('When the run was made.'),
  triggered_by: z
    .string()
    .describe(
      'E-mail address of a person, name of a token, "policy" and the name of a policy, or "slipway".',
    ),
  creator_session: session,
  untrusted: z
    .boolean()
    .describe('It gets no secrets: it comes from a fork, or from a bot that is not trusted.'),
  drift_detection: z.literal(false).describe('Always false: there are no such runs.'),
  based_on_local_workspace: z.literal(false).describe('Always false: there are no such runs.'),
  command: z.string().optional().describe('The command; of a TASK only.'),
  delta: z
    .object({
      added: z.int().describe('Resources to be created, replacements included.'),
      changed: z.int().describe('Resources to be updated in place.'),
      deleted: z.int().describe('Resources to be deleted, replacements included.'),
      resources: z.int().describe('Resources that the stack has afterwards.'),
    })
    .optional()
    .describe('Summary of the changes; once there is a plan.'),
});

export const run = briefRun
  .extend({
    flags: z.array(z.string()).describe('What earlier policies have noted, sorted.'),
    changes: z.array(change).optional().describe('What is planned; absent where that is not known.'),
  })
  .describe('The run.');
