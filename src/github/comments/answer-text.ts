import type { Role } from '../../access/actor.ts';
import { includesRole } from '../../access/roles.ts';
import { type Verb, verbFacts, verbs } from '../../runs/comments/verbs.ts';
import type { AnswerBody, CommandAnswer, StackConcern, StackOutcome } from '../../runs/conversation.ts';
import { codeSpan } from '../feedback/shown-text.ts';
import { named, refusalText, runLink } from './refusal-text.ts';
import { standingText } from './standing-text.ts';

export const maxAnswerLength = 20_000;
const longestReason = 300;

/**
 * The answer to a command as markdown, at most `maxAnswerLength` characters. Whatever came from people or programs stands
 * in code: it mentions nobody, links nowhere and is no markdown. Every line stands for itself, so that it can be cut
 * at any of them.
 */
export function answerText(answer: CommandAnswer): string {
  return cut([headOf(answer), '', ...linesOf(answer)]);
}

/** Whether there is nothing in it but runs that begin, of which there will be more to say soon. */
export const hasOnlyBegun = (answer: CommandAnswer): boolean =>
  answer.kind === 'acted' && answer.outcomes.every(({ kind }) => kind === 'made');

function headOf({ by, verb, glob }: CommandAnswer): string {
  const command = ['/slipway', ...(verb === null ? [] : [verb]), ...(glob === null ? [] : [glob])].join(' ');
  return `${codeSpan(command, longestReason)} of ${named(by)}:`;
}

function linesOf(answer: AnswerBody & { readonly verb: Verb | null }): readonly string[] {
  switch (answer.kind) {
    case 'help':
      return helpLines();
    case 'misunderstood':
      return [misunderstoodText(answer)];
    case 'forbidden':
      return [forbiddenText(answer, answer.verb)];
    case 'refused':
      return [`**Refused.** ${refusalText(answer.refusal)}`];
    case 'acted':
      return answer.outcomes.map(outcomeText);
    case 'status':
      return answer.stacks.map(standingText);
    case 'explained':
      return explainedLines(answer);
  }
}

function helpLines(): readonly string[] {
  return [
    'The first line of a new comment is read. `STACK` is the id of a stack or a glob such as `network-*`; without it, the stacks that the pull request concerns.',
    '',
    ...verbs.map((verb) => `- \`/slipway ${verbFacts[verb].usage}\`: ${verbFacts[verb].does}`),
  ];
}

function misunderstoodText({ reason, didYouMean }: Extract<AnswerBody, { kind: 'misunderstood' }>): string {
  const meant = didYouMean === null ? '' : ` Did you mean \`/slipway ${didYouMean}\`?`;
  return `**Not understood:** ${codeSpan(reason, longestReason)}.${meant} \`/slipway help\` lists what there is.`;
}

type Forbidden = Extract<AnswerBody, { kind: 'forbidden' }>;

function forbiddenText({ needs, role }: Forbidden, verb: Verb | null): string {
  const what = verb === null ? 'Commands need' : `\`${verb}\` needs`;
  const has = role === null ? 'You have no role here' : `Your role is ${role}`;
  return `**Refused.** ${what} ${accessFor[needs]}. ${has}.`;
}

/** What GitHub calls it that makes somebody one. */
const accessFor: Readonly<Record<Role, string>> = {
  reader: 'read access to the repository (on a public one: triage access)',
  writer: 'write access to the repository',
  admin: 'admin access to the repository',
};

function outcomeText(outcome: StackOutcome): string {
  return `- ${named(outcome.stack)}: ${wordsOf(outcome)}`;
}

function wordsOf(outcome: StackOutcome): string {
  switch (outcome.kind) {
    case 'made':
      return `${runLink(outcome.run)} was made${outcome.isUntrusted ? ', without secrets' : ''}.`;
    case 'moved':
      return `the ${runLink(outcome.run)}.`;
    case 'reviewed':
      return `${outcome.verdict === 'approve' ? 'approved' : 'rejected'} the ${runLink(outcome.run)}. The approval policies go by it.`;
    case 'locked':
      return 'locked: only your own runs start.';
    case 'unlocked':
      return 'unlocked.';
    case 'refused':
      return `**refused.** ${refusalText(outcome.refusal)}`;
  }
}

function explainedLines({
  role,
  stacks,
  changesRepositoryFile,
}: Extract<AnswerBody, { kind: 'explained' }>): readonly string[] {
  const concerned = stacks.filter(({ isConcerned }) => isConcerned);
  const others = stacks.filter(({ isConcerned }) => !isConcerned);
  const fileNote =
    'The pull request changes `.github/slipway.yml`. The file counts as it is on the default branch: the change takes effect once it is merged.';
  return [
    rightsText(role),
    ...(changesRepositoryFile ? ['', fileNote] : []),
    '',
    ...[...concerned, ...others].map(concernText),
  ];
}

function concernText({ stack, isConcerned, isUntrusted, reason }: StackConcern): string {
  const how = isConcerned ? `**concerned**${isUntrusted ? ', without secrets' : ''}` : 'not concerned';
  return `- ${named(stack)}: ${how}: ${codeSpan(reason, longestReason)}`;
}

function rightsText(role: Role): string {
  const missing = verbs.filter((verb) => !includesRole(role, verbFacts[verb].needs));
  if (missing.length > 0) {
    const list = missing.map((verb) => `\`${verb}\``).join(', ');
    return `Your role is ${role}. You may not ${list}: that needs ${accessFor.writer}.`;
  }
  if (role === 'admin') return 'Your role is admin: you may give every command.';
  return `Your role is ${role}: you may give every command. To unlock what somebody else has locked needs ${accessFor.admin}.`;
}

function cut(lines: readonly string[]): string {
  const whole = lines.join('\n');
  if (whole.length <= maxAnswerLength) return whole;
  const ending = (count: number) =>
    `\n\n…and ${count} more lines, which do not fit. Name fewer stacks to see them.`;
  const room = maxAnswerLength - ending(lines.length).length;
  let length = 0;
  const kept = lines.findIndex((line) => {
    length += line.length + 1;
    return length > room;
  });
  return lines.slice(0, kept).join('\n') + ending(lines.length - kept);
}
