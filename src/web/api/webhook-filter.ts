import { z } from '@hono/zod-openapi';
import { runStates } from '../../runs/run.ts';
import { nearestWord } from '../../stacks/nearest-word.ts';
import { type EventFilter, everyEvent } from '../../webhooks/webhook.ts';
import { runTypes } from './run-object.ts';

/** The filter of a webhook as the API writes it: a list that is left out or null stands for all. */
export const filterInput = z
  .strictObject({ states: listOf('state', runStates), runTypes: listOf('run type', runTypes) })
  .nullable()
  .openapi('WebhookFilterInput', { description: 'Which state changes are sent; null: all.' });

export const filterSchema = z
  .object({ states: z.array(z.enum(runStates)).optional(), runTypes: z.array(z.enum(runTypes)).optional() })
  .nullable()
  .openapi('WebhookFilter', {
    description: 'A list that is left out stands for all; null: every state change.',
  });

/** An empty list would be a webhook that never fires, and is refused: that is what `enabled` is for. */
function listOf<const T extends string>(what: string, known: readonly T[]) {
  const name = z.enum(known, { error: ({ input }) => unknownName(what, input, known) });
  return z.array(name).min(1, `name at least one ${what}, or leave the list out for all`).max(100).nullish();
}

function unknownName(what: string, input: unknown, known: readonly string[]): string {
  const meant = typeof input === 'string' ? nearestWord(input, known) : null;
  return meant === null
    ? `not a ${what}; there are ${known.join(', ')}`
    : `not a ${what}; did you mean ${meant}?`;
}

export function filterOf(input: z.infer<typeof filterInput>): EventFilter {
  if (input === null) return everyEvent;
  const unique = <T>(list: readonly T[] | null | undefined) => (list ? [...new Set(list)] : null);
  return { states: unique(input.states), runTypes: unique(input.runTypes) };
}

export function filterObject({ states, runTypes: types }: EventFilter): z.infer<typeof filterSchema> {
  if (states === null && types === null) return null;
  return { ...(states && { states: [...states] }), ...(types && { runTypes: [...types] }) };
}
