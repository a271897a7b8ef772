import { nearestWord } from '../stacks/nearest-word.ts';
import { type FieldIssue, UserError } from '../user-error.ts';
import type { DeclaredRule, PolicyEngine, SourceError } from './engine.ts';
import { kinds, type RuleType } from './kinds.ts';
import type { PolicyKind, PolicySource } from './policy.ts';

/** Bytes of a body in UTF-8. */
export const bodyLimitBytes = 64 * 1024;

export interface CheckedPolicy {
  /** Of the rules that the kind reads, those that the source declares. */
  readonly rules: readonly string[];
  /** What is allowed and yet most likely not meant. */
  readonly hints: readonly string[];
}

export type CheckedSource =
  | ({ readonly kind: 'valid' } & CheckedPolicy)
  | { readonly kind: 'invalid'; readonly errors: readonly [SourceError, ...SourceError[]] }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** The text of a body; null when the bytes are not UTF-8. */
export function decodeBody(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Whether a source can be a policy of a kind: what is asked before one is saved, and by `slipway policy check`. */
export async function checkSource(
  engine: Pick<PolicyEngine, 'check'>,
  kind: PolicyKind,
  source: PolicySource,
  signal?: AbortSignal,
): Promise<CheckedSource> {
  const { body } = source;
  if (!body.isWellFormed()) return invalid({ message: 'the body is not valid Unicode text' });
  const size = Buffer.byteLength(body);
  if (size > bodyLimitBytes) {
    return invalid({ message: `the body has ${size} bytes; a policy has ${bodyLimitBytes} at most` });
  }
  const checked = await engine.check(source, signal);
  if (checked.kind === 'unavailable') return checked;
  if (checked.kind === 'invalid') {
    const [first = { message: 'the policy was refused without a reason' }, ...rest] = checked.errors;
    return invalid(first, ...rest);
  }
  if (checked.package !== 'slipway') {
    return invalid({ message: `the package is ${checked.package}; write: package slipway`, line: 1 });
  }
  const read = kinds[kind].rules;
  const own = checked.rules.filter(({ name }) => Object.hasOwn(read, name));
  const hints = misspelt(kind, checked.rules);
  if (own.length === 0) {
    const message = `no rule of ${kind} policies is declared; those are ${Object.keys(read).join(', ')}`;
    return invalid({ message }, ...hints);
  }
  const [wrong, ...more] = own.flatMap((rule) => wrongType(rule, read[rule.name]));
  if (wrong) return invalid(wrong, ...more);
  return {
    kind: 'valid',
    rules: own.map(({ name }) => name),
    hints: hints.map(({ line, message }) => `line ${line}: ${message}`),
  };
}

/** Of a source that can be a policy of a kind. Throws `policy-invalid` and `policy-engine-unavailable`. */
export type SourceCheck = (kind: PolicyKind, source: PolicySource) => Promise<CheckedPolicy>;

export function createSourceCheck(engine: Pick<PolicyEngine, 'check'>): SourceCheck {
  return async (kind, { body, regoVersion }) => {
    const checked = await checkSource(engine, kind, { body, regoVersion });
    switch (checked.kind) {
      case 'valid':
        return { rules: checked.rules, hints: checked.hints };
      case 'invalid':
        throw invalidSource(checked.errors);
      case 'unavailable':
        throw new UserError('policy-engine-unavailable', `No policy can be checked: ${checked.reason}.`, {
          hint: 'Nothing is saved that was not checked. `slipway doctor` says more.',
        });
    }
  };
}

function invalidSource(errors: readonly [SourceError, ...SourceError[]]): UserError {
  const [first] = errors;
  const place = first.line === undefined ? '' : `line ${first.line}: `;
  const issues = errors.map((error): FieldIssue => ({ path: 'body', ...error }));
  return new UserError('policy-invalid', `${place}${first.message}`, { issues });
}

const invalid = (...errors: [SourceError, ...SourceError[]]): CheckedSource => ({ kind: 'invalid', errors });

function misspelt(kind: PolicyKind, rules: readonly DeclaredRule[]): SourceError[] {
  const known = Object.keys(kinds[kind].rules);
  return rules.flatMap(({ name, line }) => {
    const meant = known.includes(name) ? null : nearestWord(name, known);
    if (meant === null) return [];
    return [{ message: `${name} is not a rule of ${kind} policies; did you mean ${meant}?`, line }];
  });
}

interface Expected {
  readonly types: readonly DeclaredRule['type'][];
  readonly words: string;
}

const set: Expected = { types: ['set', 'array'], words: 'a set' };
const expectations: Readonly<Record<RuleType, Expected>> = {
  boolean: { types: ['boolean'], words: 'true or false' },
  string: { types: ['string'], words: 'a string' },
  messages: set,
  strings: set,
  objects: set,
  sets: { types: ['object'], words: 'an object of sets' },
};

function wrongType({ name, line, type }: DeclaredRule, wanted: RuleType | undefined): SourceError[] {
  if (wanted === undefined || type === 'unknown') return [];
  const { types, words } = expectations[wanted];
  if (types.includes(type)) return [];
  const advice = words === set.words && type === 'object' ? `; write: ${name} contains ... if` : '';
  return [{ message: `${name} is ${article(type)} but has to be ${words}${advice}`, line }];
}

const article = (type: DeclaredRule['type']): string => {
  if (type === 'null') return 'null';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
};
