import { z } from 'zod';

/**
 * The body of a webhook for receivers: docs/webhook-payload.schema.json is made from this, and a test holds
 * the two equal. States and types are strings here, because a receiver must survive one it does not know.
 */
const count = (description: string) => z.int().nonnegative().describe(description);
const word = z.string().regex(/^[A-Z][A-Z_]*$/);

const commit = z
  .strictObject({
    authorLogin: z.string().describe('GitHub login of the author; empty when GitHub knows none.'),
    authorName: z.string().describe('Name of the author as the commit has it.'),
    hash: z.string().describe('Hash of the commit.'),
    message: z.string().describe('Whole message of the commit; shortened when the body would pass 256 KiB.'),
    timestamp: z.int().describe('Time of the commit, in Unix seconds.'),
    url: z.string().describe('Page of the commit.'),
  })
  .describe('Commit of the run. All six keys are always there.');

const delta = z
  .strictObject({
    added: count('Resources to be created, replacements included.'),
    changed: count('Resources to be updated in place.'),
    deleted: count('Resources to be deleted, replacements included.'),
    resources: count('Resources that the stack has afterwards.'),
  })
  .describe('Summary of the changes. Absent until a preview finished, then there with every later state.');

const run = z
  .strictObject({
    id: z.string().min(1).describe('Identifier of the run.'),
    branch: z.string().describe('Branch of the run.'),
    commit,
    createdAt: count('Creation of the run, in Unix seconds.'),
    delta: delta.optional(),
    triggeredBy: z.string().describe('E-mail address of the person, or name of the token, behind the run.'),
    type: word
      .describe('Type of the run. More types may follow.')
      .meta({ examples: ['PROPOSED', 'TRACKED', 'TASK', 'DESTROY'] }),
  })
  .describe('The run that changed its state.');

const stack = z
  .strictObject({
    id: z.string().min(1).describe('Identifier of the stack, unique in the account.'),
    name: z.string().describe('Name of the stack.'),
    description: z.string().describe('Description of the stack; may be empty.'),
    labels: z.array(z.string()).describe('Labels of the stack; may be empty.'),
  })
  .describe('The stack of the run.');

export const payloadSchema = z
  .strictObject({
    account: z.string().min(1).describe('Name of the account that the stack belongs to.'),
    state: word.describe('State of the run at the time of the notification. More states may follow.').meta({
      examples: [
        'QUEUED',
        'READY',
        'PREPARING',
        'INITIALIZING',
        'PLANNING',
        'PENDING_REVIEW',
        'UNCONFIRMED',
        'CONFIRMED',
        'PREPARING_APPLY',
        'APPLYING',
        'DESTROYING',
        'PERFORMING',
        'FINISHED',
        'FAILED',
        'STOPPED',
        'DISCARDED',
        'CANCELED',
      ],
    }),
    stateVersion: z
      .int()
      .min(1)
      .describe('Ordinal number of the state, from 1. Order notifications of a run by it.'),
    timestamp: count('Time of the state change, in Unix seconds.'),
    run,
    stack,
  })
  .meta({
    title: 'Slipway webhook payload',
    description: 'Sent by POST to each enabled webhook of a stack whenever one of its runs changes state.',
  });

export type Payload = z.infer<typeof payloadSchema>;

/** JSON Schema 2020-12, as published. */
export function payloadJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(payloadSchema, {
    target: 'draft-2020-12',
    override({ jsonSchema }) {
      // Zod's limits of a JavaScript number say nothing about the field.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
}
