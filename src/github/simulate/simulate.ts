import { z } from 'zod';
import { repositoryFilePath } from '../../stacks/managed.ts';
import type { Stack } from '../../stacks/stack.ts';
import type { VendorRules } from '../../stacks/vendor-settings.ts';
import { UserError } from '../../user-error.ts';
import { notUnderstood } from '../events/event-handler.ts';
import { type RepositoryJson, repositoryJson, toRepository } from '../github-json.ts';
import type { Checkout } from './checkout.ts';
import { simulateComment } from './comment.ts';
import { type Decision, nothing, type Simulation } from './decision.ts';
import type { SimulatedEvent } from './events.ts';
import { knownStacks } from './known-stacks.ts';
import { simulateMergeGroup } from './merge-group.ts';
import { simulatePullRequest } from './pull-request.ts';
import { simulatePush } from './push.ts';

export interface SimulationInput {
  readonly event: SimulatedEvent;
  /** The body of the webhook, parsed. */
  readonly payload: unknown;
  readonly checkout: Checkout;
  /** Stacks beside those of the repository file; undefined for none. */
  readonly otherStacks: unknown;
  readonly vendors: readonly VendorRules[];
}

const envelope = z.looseObject({ repository: repositoryJson, installation: z.unknown().optional() });

/** What the server would decide about an event: by its own functions. Throws UserError for input that cannot be read. */
export async function simulate(input: SimulationInput): Promise<Simulation> {
  const { event, checkout } = input;
  const parsed = envelope.safeParse(input.payload);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UserError(
      'invalid-input',
      `the payload: ${issue?.path.join('.') || 'the whole'}: ${issue?.message}`,
      {
        hint: 'Give the body of a webhook; the page of the App on GitHub shows recent ones.',
      },
    );
  }
  const { repository, installation } = parsed.data;
  const file = await checkout.repositoryFile();
  const stacks = knownStacks({ ...input, repository, file, others: input.otherStacks });
  // Recorded from a repository's own webhook, or from an example: what it says is worth looking at all the same.
  const payload = installation ? parsed.data : { ...parsed.data, installation: { id: 0 } };
  const decision = await decide(event, { payload, repository, stacks, checkout }).catch(understood);
  return {
    event,
    repository: repository.full_name,
    ...decision,
    stacks: decision.stacks.toSorted((left, right) => Number(right.selected) - Number(left.selected)),
    notes: [
      file === null
        ? `there is no ${repositoryFilePath} in the checkout`
        : `${repositoryFilePath} was read as it lies in the checkout; the server reads that of ${repository.default_branch}`,
      ...(installation
        ? []
        : ['the payload names no installation: it did not come to the App, and would be refused']),
      ...decision.notes,
    ],
  };
}

function understood(error: unknown): Decision {
  if (error instanceof z.ZodError) return nothing('failed', notUnderstood(error).note);
  throw error;
}

interface Material {
  readonly payload: unknown;
  readonly repository: RepositoryJson;
  readonly stacks: readonly Stack[];
  readonly checkout: Checkout;
}

function decide(
  event: SimulatedEvent,
  { payload, repository, stacks, checkout }: Material,
): Promise<Decision> {
  switch (event) {
    case 'push':
      return simulatePush(payload, stacks, checkout);
    case 'pull_request':
      return simulatePullRequest(payload, toRepository(repository, 0), stacks, checkout);
    case 'issue_comment':
      return simulateComment(payload, toRepository(repository, 0), stacks, checkout);
    case 'merge_group':
      return simulateMergeGroup(payload, stacks, checkout);
  }
}
