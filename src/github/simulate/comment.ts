import { z } from 'zod';
import { compileGlob } from '../../stacks/glob.ts';
import type { Stack } from '../../stacks/stack.ts';
import { parseCommand, type UnderstoodCommand, type Verb } from '../comments/parse-command.ts';
import { repositoryJson } from '../github-json.ts';
import type { Checkout } from './checkout.ts';
import { type ChangedPaths, type Decision, nothing, type StackDecision } from './decision.ts';
import { changedOf, selectionsOf } from './pull-request.ts';

const payload = z.object({
  action: z.string(),
  issue: z.object({ number: z.number().int(), title: z.string(), pull_request: z.object({}).nullish() }),
  comment: z.object({ body: z.string().nullish() }),
  sender: z.object({ login: z.string(), type: z.string() }),
  repository: repositoryJson,
});
type CommentJson = z.output<typeof payload>;

const open: ReadonlySet<Verb> = new Set(['help', 'status', 'explain']);

/** What a new comment asks for, of whom, and about which stacks. */
export async function simulateComment(
  body: unknown,
  stacks: readonly Stack[],
  checkout: Checkout,
): Promise<Decision> {
  const json = payload.parse(body);
  const { number, pull_request } = json.issue;
  if (json.action !== 'created') return nothing('ignored', `nothing is done for the action ${json.action}`);
  if (!pull_request) return nothing('ignored', `#${number} is not a pull request`);
  if (json.sender.type !== 'User') return nothing('ignored', `${json.sender.login} is not a person`);
  const command = parseCommand(json.comment.body ?? '');
  if (command.kind === 'none') return nothing('ignored', 'the comment is not a command');
  if (command.kind === 'misunderstood') {
    const hint = command.didYouMean === null ? '' : `; did you mean ${command.didYouMean}?`;
    const problem = `${command.reason}${hint}`;
    return {
      ...nothing('ignored', 'the comment is answered, and nothing is done'),
      command: { verb: null, role: null, stacks: null, task: null, problem },
      notes: [wouldAsk(json)],
    };
  }
  const { verb, task } = command;
  const chosen = await chosenStacks(command, json, stacks, checkout);
  return {
    outcome: 'decided',
    reason: null,
    stacks: chosen.stacks,
    changedPaths: chosen.changedPaths,
    command: { verb, role: roleFor(verb), stacks: command.stacks, task, problem: null },
    notes: [wouldAsk(json), ...chosen.notes, 'would be looked up: the runs and the lock of each stack'],
  };
}

function roleFor(verb: Verb): string {
  if (open.has(verb)) return 'reader';
  return verb === 'unlock' ? "writer; admin for somebody else's lock" : 'writer';
}

const wouldAsk = ({ sender, repository }: CommentJson): string =>
  `would be asked: what ${sender.login} may do in ${repository.full_name}`;

interface Chosen {
  readonly stacks: readonly StackDecision[];
  readonly changedPaths: ChangedPaths | null;
  readonly notes: readonly string[];
}

async function chosenStacks(
  command: UnderstoodCommand,
  { issue, repository }: CommentJson,
  stacks: readonly Stack[],
  checkout: Checkout,
): Promise<Chosen> {
  const asked = `would be asked: whether #${issue.number} is open, its head and its base`;
  if (command.stacks !== null) {
    const glob = compileGlob(command.stacks);
    const matches = (id: string) => glob.kind !== 'problem' && glob.matches(id, { left: 1_000_000 });
    const decisions = stacks.map(({ id }) => ({
      stack: id,
      selected: matches(id),
      reason: `${matches(id) ? 'matches' : 'does not match'} ${command.stacks}`,
    }));
    return { stacks: decisions, changedPaths: null, notes: [asked] };
  }
  // The payload says neither head nor base.
  const base = repository.default_branch;
  const changedPaths = await checkout.changedPaths(base, 'HEAD');
  const pullRequest = { number: issue.number, base, title: issue.title, author: '', isFork: false };
  const decisions = selectionsOf(stacks, pullRequest, { changedPaths, bots: [] });
  return {
    stacks: decisions.map(({ stack, selected, reason }) => ({ stack, selected, reason })),
    changedPaths: changedOf(changedPaths),
    notes: [
      asked,
      `taken for granted: HEAD of the checkout is its head, ${base} its base, and it is of no fork`,
    ],
  };
}
