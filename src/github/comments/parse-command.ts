import type { AddressedCommand, MisunderstoodCommand } from '../../runs/comments/command.ts';
import { verbs } from '../../runs/comments/verbs.ts';
import { compileGlob } from '../../stacks/glob.ts';
import { nearestWord } from '../../stacks/nearest-word.ts';

/**
 * What a new comment asks for. Pure, and strict: whoever can read a public repository can comment there, and what is
 * not plainly a command must not become one.
 */
export type CommentCommand =
  /** Not addressed to us: no answer, no reaction. */
  { readonly kind: 'none' } | AddressedCommand;

const address = '/slipway';
/** Ids of stacks are shorter; and it is shown again in the answer. */
const maxGlobLength = 200;
const maxShown = 60;

export function parseCommand(body: string): CommentCommand {
  const line = firstLine(body);
  if (!line.startsWith(address)) return { kind: 'none' };
  const rest = line.slice(address.length);
  // "/slipways", "/slipway:", "/slipway" and a blank that only looks like one.
  if (rest !== '' && !/^[ \t]/.test(rest)) return { kind: 'none' };

  const [head = '', task] = splitTask(trim(rest));
  const [word = 'help', ...operands] = head.split(/[ \t]+/).filter((part) => part !== '');
  const verb = verbs.find((each) => each === word);
  if (!verb) return misunderstood(`${shown(word)} is not a command`, nearestWord(word, verbs));
  if (verb === 'task' && task === null) {
    return misunderstood('a task needs " -- " and the command behind it');
  }
  if (verb === 'task' && task === '') return misunderstood('there is no command behind "--"');
  if (task?.includes('\0')) return misunderstood('the command has a NUL character');
  if (verb !== 'task' && task !== null) return misunderstood(`${verb} takes no command behind "--"`);
  const [stacks = null, ...more] = operands;
  if (more.length > 0) {
    return misunderstood(`${verb} takes one stack at most, or a glob such as network-*: ${shown(head)}`);
  }
  const problem = stacks === null ? null : problemOf(stacks);
  if (problem !== null) return misunderstood(problem);
  return { kind: 'command', verb, stacks, task };
}

/** The line is trimmed, the body is not: an empty first line ends it. */
function firstLine(body: string): string {
  const [line = ''] = body.split(/\r\n|\n|\r/, 1);
  return trim(line);
}

/**
 * Blanks that a keyboard makes. What else Unicode has of them stays, and then nothing is recognised. No regular
 * expression: `[ \t]+$` takes seconds for a comment that is full of blanks.
 */
function trim(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t';

/** What stands before "--" as a word of its own, and what behind; null without it. */
function splitTask(text: string): readonly [head: string, task: string | null] {
  const separator = /(?:^|[ \t])--(?:[ \t]|$)/.exec(text);
  if (!separator) return [text, null];
  return [text.slice(0, separator.index), trim(text.slice(separator.index + separator[0].length))];
}

function problemOf(glob: string): string | null {
  if (glob.startsWith('-')) return `${shown(glob)}: there are no options`;
  if (glob.length > maxGlobLength) return `the name of a stack is no longer than ${maxGlobLength} characters`;
  const compiled = compileGlob(glob);
  return compiled.kind === 'problem' ? `${shown(glob)} is no stack and no glob: ${compiled.message}` : null;
}

function misunderstood(reason: string, didYouMean: string | null = null): MisunderstoodCommand {
  return { kind: 'misunderstood', reason, didYouMean: verbs.find((verb) => verb === didYouMean) ?? null };
}

const shown = (text: string): string =>
  JSON.stringify(text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);
