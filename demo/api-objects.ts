/** The objects of the API as far as the demo and the scenarios look at them; more fields are no error. */
import { z } from 'zod';

export const runSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  state: z.string(),
  stateVersion: z.number(),
  branch: z.string(),
  commit: z.looseObject({ hash: z.string() }),
  triggeredBy: z.string(),
  delta: z
    .object({ added: z.number(), changed: z.number(), deleted: z.number(), resources: z.number() })
    .optional(),
  note: z.string().optional(),
  outcome: z.string().optional(),
  blockedBy: z.looseObject({ kind: z.string(), run: z.string().optional() }).optional(),
});
export type RunObject = z.infer<typeof runSchema>;

export const stackSchema = z.looseObject({ account: z.string(), id: z.string(), name: z.string() });
export type StackObject = z.infer<typeof stackSchema>;

export const stateSchema = z.object({
  state: z.string(),
  stateVersion: z.number(),
  timestamp: z.number(),
  actor: z.string(),
  note: z.string().optional(),
});
export type StateChange = z.infer<typeof stateSchema>;

export const commandSchema = z.object({
  phase: z.string(),
  label: z.string(),
  argv: z.array(z.string()),
  startedAtMs: z.number(),
  durationMs: z.number(),
  exitCode: z.number().nullable(),
});
export type CommandRecord = z.infer<typeof commandSchema>;

export const vendorSchema = z.looseObject({ name: z.string(), installed: z.boolean() });
