/** A stored check run, and GitHub's rules for what may be written into one. */
import { z } from 'zod';
import { invalidRequest } from './api-error.ts';
import type { Repository } from './state.ts';

const statuses = ['queued', 'in_progress', 'completed'] as const;
const conclusions = [
  'action_required',
  'cancelled',
  'failure',
  'neutral',
  'success',
  'skipped',
  'timed_out',
] as const;

/** Lengths in characters, as JSON Schema counts them: code points. */
const atMost = (limit: number) =>
  z.string().refine((text) => [...text].length <= limit, {
    error: (issue) =>
      `Only ${limit} characters are allowed; ${[...String(issue.input)].length} were supplied`,
  });

const annotation = z.object({
  path: z.string(),
  start_line: z.number().int(),
  end_line: z.number().int(),
  annotation_level: z.enum(['notice', 'warning', 'failure']),
  message: atMost(65_535),
  title: atMost(255).optional(),
  raw_details: atMost(65_535).optional(),
  start_column: z.number().int().optional(),
  end_column: z.number().int().optional(),
});

const output = z.object({
  // Required together; both schemas of GitHub's say so by making them required.
  title: z.string({ error: '"title" wasn\'t supplied' }),
  summary: z.string({ error: '"summary" wasn\'t supplied' }).pipe(atMost(65_535)),
  text: atMost(65_535).nullish(),
  annotations: z.array(annotation).max(50).optional(),
});

export const checkRunChangeSchema = z.object({
  name: z.string().min(1).optional(),
  details_url: z.string().optional(),
  external_id: z.string().optional(),
  status: z.enum(statuses).optional(),
  conclusion: z.enum(conclusions).optional(),
  started_at: z.string().optional(),
  completed_at: z.string().optional(),
  output: output.optional(),
  actions: z
    .array(z.object({ label: atMost(20), description: atMost(40), identifier: atMost(20) }))
    .max(3, 'no more than 3 items are allowed')
    .optional(),
});

export const checkRunCreateSchema = checkRunChangeSchema.extend({
  name: z.string().min(1),
  head_sha: z.string().regex(/^[0-9a-f]{40}$/, 'not a commit hash'),
});

type Change = z.infer<typeof checkRunChangeSchema>;

export interface CheckRun {
  id: number;
  suiteId: number;
  repository: Repository;
  headSha: string;
  name: string;
  status: (typeof statuses)[number];
  conclusion: (typeof conclusions)[number] | null;
  detailsUrl: string | null;
  externalId: string;
  startedAt: string;
  completedAt: string | null;
  output: { title: string; summary: string; text: string | null } | null;
  annotations: z.infer<typeof annotation>[];
  actions: { label: string; description: string; identifier: string }[];
  /** The bodies of the POST and of every PATCH, in order. */
  history: { atMs: number; body: Change }[];
}

/** Writes what the body names; what it leaves out stays, buttons too: `actions: []` takes them away. */
export function changeCheckRun(run: CheckRun, body: Change, now: { ms: number; iso: string }): void {
  if (body.status === 'completed' && body.conclusion === undefined) {
    throw invalidRequest('A conclusion is needed for the status "completed".');
  }
  run.history.push({ atMs: now.ms, body });
  run.name = body.name ?? run.name;
  run.detailsUrl = body.details_url ?? run.detailsUrl;
  run.externalId = body.external_id ?? run.externalId;
  run.startedAt = body.started_at ?? run.startedAt;
  if (body.conclusion !== undefined) {
    run.status = 'completed';
    run.conclusion = body.conclusion;
    run.completedAt = body.completed_at ?? now.iso;
  } else if (body.status !== undefined) {
    run.status = body.status;
    run.conclusion = null;
    run.completedAt = null;
  }
  if (body.output) {
    const { title, summary, text, annotations } = body.output;
    run.output = { title, summary, text: text ?? null };
    // GitHub appends annotations: more than 50 come in several requests.
    run.annotations.push(...(annotations ?? []));
  }
  if (body.actions) run.actions = body.actions;
}
