/** What scenario tests say about policies in one line, by the API as a user would. */
import { z } from 'zod';
import type { SlipwayApi } from '../../demo/slipway-api.ts';

const policySchema = z.looseObject({
  id: z.string(),
  version: z.number(),
  digest: z.string(),
  rules: z.array(z.string()),
});
export type ScenarioPolicy = z.infer<typeof policySchema>;

const decisionSchema = z.looseObject({
  policy: z.looseObject({ id: z.string(), name: z.string(), version: z.number(), digest: z.string() }),
  subject: z.string(),
  run: z.string().optional(),
  outcome: z.string(),
  messages: z.array(z.string()),
  failure: z.looseObject({ code: z.string(), message: z.string() }).optional(),
  durationMs: z.number(),
  inputDigest: z.string(),
  engine: z.string(),
});

const noticeSchema = z.looseObject({ severity: z.string(), title: z.string() });

type Kind = 'PLAN' | 'PUSH' | 'APPROVAL' | 'TRIGGER' | 'NOTIFICATION';

const sampleSchema = z.looseObject({ id: z.string(), run: z.string().optional(), outcome: z.string() });

export function scenarioPolicies(api: SlipwayApi) {
  const items = async <T extends z.ZodType>(schema: T, path: string) =>
    z.looseObject({ items: z.array(schema) }).parse((await api.expectSuccess('GET', path)).json).items;
  const source = (rego: string) => ({ body: `package slipway\n\n${rego}\n` });

  return {
    /** Judges the stacks with that label; one of notifications judges all. */
    async add(kind: Kind, name: string, rego: string, label: string = name): Promise<ScenarioPolicy> {
      const labels = kind === 'NOTIFICATION' ? [] : [`autoattach:${label}`];
      const about = { name, kind, account: 'acme', labels, ...source(rego) };
      return policySchema.parse((await api.expectSuccess('POST', '/api/v1/policies', about)).json);
    },
    change: async ({ id }: ScenarioPolicy, rego: string): Promise<ScenarioPolicy> =>
      policySchema.parse((await api.expectSuccess('PUT', `/api/v1/policies/${id}`, source(rego))).json),
    /** What policies said of a run, the oldest first. */
    ofRun: (runId: string) => items(decisionSchema, `/api/v1/runs/${runId}/policies`),
    /** What a policy said, the newest first. */
    decisions: ({ id }: ScenarioPolicy) => items(decisionSchema, `/api/v1/policies/${id}/decisions`),
    /** "ERROR The title", by text. */
    async notices(): Promise<string[]> {
      const all = await items(noticeSchema, '/api/v1/notices?account=acme');
      return all.map(({ severity, title }) => `${severity} ${title}`).toSorted();
    },
    samples: ({ id }: ScenarioPolicy) => items(sampleSchema, `/api/v1/policies/${id}/samples`),
    /** What a policy saw. */
    async input(sampleId: string): Promise<unknown> {
      const { json } = await api.expectSuccess('GET', `/api/v1/samples/${sampleId}`);
      return sampleSchema.extend({ input: z.unknown() }).parse(json).input;
    },
  };
}

/** One rejection ends a run; so many of others than who started it let it go on, in the states that are named. */
export const approvalsOfOthers = (required: number, ...states: string[]) => `
approve if not input.run.state in {${states.map((state) => `"${state}"`).join(', ')}}

approve if count(others) >= ${required}

others contains review.author if {
	some review in input.reviews.current.approvals
	review.author != input.run.creator_session.login
}

reject_with_note contains sprintf("%s: %s", [review.author, review.note]) if {
	some review in input.reviews.current.rejections
}`;
