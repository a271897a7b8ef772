import { z } from 'zod';
import { decodeBody } from '../policies/check-source.ts';
import type { ApiClient } from './api-client.ts';
import { listAll } from './api-objects.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure, usageFailure } from './failure.ts';
import { readNamed } from './named-file.ts';

export const policiesPath = '/api/v1/policies';

export const policyObject = z.object({
  id: z.string(),
  account: z.string().nullable(),
  name: z.string(),
  description: z.string(),
  kind: z.string(),
  labels: z.array(z.string()),
  regoVersion: z.number(),
  body: z.string(),
  rules: z.array(z.string()),
  version: z.number(),
  updatedAt: z.number(),
  updatedBy: z.string(),
  hints: z.array(z.string()).optional(),
});
export type PolicyObject = z.infer<typeof policyObject>;

export const versionObject = z.object({
  version: z.number(),
  regoVersion: z.number(),
  digest: z.string(),
  createdAt: z.number(),
  createdBy: z.string(),
});

export const saidObject = z.object({
  outcome: z.string(),
  messages: z.array(z.string()),
  failure: z.object({ code: z.string(), message: z.string(), line: z.number().optional() }).optional(),
  durationMs: z.number(),
});
export type SaidObject = z.infer<typeof saidObject>;

export const decisionObject = saidObject.extend({
  id: z.string(),
  at: z.number(),
  policy: z.object({ version: z.number() }),
  subject: z.string(),
  run: z.string().optional(),
  stack: z.object({ account: z.string(), id: z.string() }).optional(),
});

export const simulatedRunObject = saidObject.extend({
  run: z.string(),
  stack: z.object({ account: z.string(), id: z.string() }),
  recorded: z.string().nullable(),
});

export const sampleObject = z.object({
  id: z.string(),
  at: z.number(),
  policyVersion: z.number(),
  subject: z.string(),
  outcome: z.string(),
});

/** How a policy is written on the command line. */
export const policyArgument = ['<policy>', 'its id, or its name when no other account has it'] as const;

export const pathOfPolicy = (id: string): string => `${policiesPath}/${encodeURIComponent(id)}`;

/** The id of a policy that is named. */
export async function policyIdOf(client: ApiClient, name: string): Promise<string> {
  if (/^[0-9A-Z]{26}$/.test(name)) return name;
  const policies = policyObject.array().parse(await listAll(client.call, policiesPath));
  const [found, ...others] = policies.filter((policy) => policy.name.toLowerCase() === name.toLowerCase());
  if (!found) {
    const hint = 'See `slipway policy list`.';
    const message = `There is no policy ${name} that you may see.`;
    const json = { code: 'not-found', detail: message, hint };
    throw new CliFailure(exitCodes.notFound, message, { hint, json });
  }
  if (others.length === 0) return found.id;
  const ids = [found, ...others].map(({ id, account }) => `${id} (${account ?? 'the server'})`).join(', ');
  throw usageFailure(`${name} is the name of several policies: ${ids}`);
}

/** The source in a file. */
export async function readBody(path: string): Promise<string> {
  const body = decodeBody(await readNamed(path));
  if (body === null) throw new CliFailure(exitCodes.failed, `${path}: it is not UTF-8`);
  return body;
}
