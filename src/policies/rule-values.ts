import type { z } from 'zod';
import type { Judgement } from './judgement.ts';
import type { RuleType } from './kinds.ts';
import { notificationObjects } from './notification-objects.ts';

/**
 * Values of rules as the engine gives them: JSON, a set as an array. `problemOf` says once whether a value has the type
 * that is read; the readers below are for judgements, which have passed that.
 */
type Values = Readonly<Record<string, unknown>>;

const wanted: Readonly<Record<RuleType, string>> = {
  boolean: 'true or false',
  messages: 'a set of messages, each a string or an object with a string `msg`',
  strings: 'a set of strings',
  string: 'a string',
  objects: 'a set of objects',
  sets: 'an object whose values are sets of strings',
};

/** For people; null when the value is of the type. */
export function problemOf(rule: string, type: RuleType, value: unknown): string | null {
  const is = `${rule} is ${described(value)}, not ${wanted[type]}`;
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? null : is;
    case 'string':
      return typeof value === 'string' ? null : is;
    case 'messages':
      return ofSet(rule, type, value, (item) => messageOf(item) !== null);
    case 'strings':
      return ofSet(rule, type, value, isString);
    case 'objects':
      return ofSet(rule, type, value, isObject) ?? problemOfObjects(rule, value as readonly unknown[]);
    case 'sets': {
      if (!isObject(value)) return is;
      const wrong = Object.entries(value).find(([, set]) => !Array.isArray(set) || !set.every(isString));
      return wrong ? `${rule}[${JSON.stringify(wrong[0])}] is not a set of strings` : null;
    }
  }
}

const most = { strings: 1000, characters: 500 } as const;

/** For people; null unless a value of the type has more than is read. Messages are shortened where they are shown. */
export function excessOf(rule: string, type: RuleType, value: unknown): string | null {
  if (type !== 'strings' && type !== 'string') return null;
  const strings = type === 'string' ? [value] : (value as readonly unknown[]);
  if (strings.length > most.strings) {
    return `${rule} has ${strings.length} strings in it; ${most.strings} are the most`;
  }
  const long = strings.find((text) => isString(text) && text.length > most.characters);
  if (!isString(long)) return null;
  return `${rule} has a string of ${long.length} characters; ${most.characters} are the most`;
}

function ofSet(
  rule: string,
  type: RuleType,
  value: unknown,
  fits: (item: unknown) => boolean,
): string | null {
  if (!Array.isArray(value)) {
    // In Rego v1 `deny[x] if ...` is an object; who comes from v0 means a set.
    const hint = isObject(value) ? `: write \`${rule} contains ... if ...\`` : '';
    return `${rule} is ${described(value)}, not ${wanted[type]}${hint}`;
  }
  const odd = value.find((item) => !fits(item));
  return odd === undefined ? null : `${rule} has ${described(odd)} in it; it is to be ${wanted[type]}`;
}

const schemas: ReadonlyMap<string, z.ZodType> = new Map(Object.entries(notificationObjects));

function problemOfObjects(rule: string, items: readonly unknown[]): string | null {
  const schema = schemas.get(rule);
  for (const item of schema ? items : []) {
    const [issue] = schema?.safeParse(item).error?.issues ?? [];
    if (issue) return `${[rule, ...issue.path].join('.')}: ${issue.message}`;
  }
  return null;
}

const isString = (value: unknown): value is string => typeof value === 'string';
const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function described(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a set or an array';
  return typeof value === 'object'
    ? 'an object'
    : `the ${typeof value} ${JSON.stringify(value).slice(0, 100)}`;
}

function messageOf(item: unknown): string | null {
  if (isString(item)) return item;
  const msg = isObject(item) ? item['msg'] : undefined;
  return isString(msg) ? msg : null;
}

const ownValue = (values: Values, rule: string): unknown =>
  Object.hasOwn(values, rule) ? values[rule] : undefined;

type Said = Pick<Judgement, 'values'>;

export const isTrue = ({ values }: Said, rule: string): boolean => ownValue(values, rule) === true;

/** Null: it says nothing. */
export function stringOf({ values }: Said, rule: string): string | null {
  const value = ownValue(values, rule);
  return isString(value) ? value : null;
}

export const stringsOf = (said: Said, rule: string): readonly string[] =>
  itemsOf(said, rule).filter(isString);

/** Items of a set, of whatever type. */
export function itemsOf({ values }: Said, rule: string): readonly unknown[] {
  const value = ownValue(values, rule);
  return Array.isArray(value) ? value : [];
}

/** Whole, without limits: see shownMessages. */
export const messagesOf = (said: Said, rule: string): readonly string[] =>
  itemsOf(said, rule).flatMap((item) => messageOf(item) ?? []);

/** The sets of a rule of type `sets`, by key. */
export function setsOf({ values }: Said, rule: string): readonly (readonly [string, readonly string[]])[] {
  const value = ownValue(values, rule);
  if (!isObject(value)) return [];
  return Object.entries(value).map(([key, set]) => [key, Array.isArray(set) ? set.filter(isString) : []]);
}
