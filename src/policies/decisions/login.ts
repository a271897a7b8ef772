import type { Judgement } from '../judgement.ts';
import { isTrue, setsOf } from '../rule-values.ts';
import { anyIs, failedOnes, inOrder, linesOf, united } from './judgements.ts';

/** `undecided`: no rule holds, which is a denial in the end. */
export type LoginOutcome = 'admin' | 'allowed' | 'denied' | 'undecided';

const grantsRoles = (said: Pick<Judgement, 'values'>): boolean =>
  setsOf(said, 'roles').some(([, names]) => names.length > 0);

/** What one policy says of who logs in; the roles that it gives are its messages. */
export function loginOf(said: Pick<Judgement, 'values'>): {
  outcome: LoginOutcome;
  messages: readonly string[];
} {
  const roles = setsOf(said, 'roles').flatMap(([account, names]) =>
    names.map((name) => `${account}: ${name}`),
  );
  if (isTrue(said, 'deny')) return { outcome: 'denied', messages: [] };
  if (isTrue(said, 'admin')) return { outcome: 'admin', messages: roles };
  if (isTrue(said, 'allow') || grantsRoles(said)) return { outcome: 'allowed', messages: roles };
  return { outcome: 'undecided', messages: [] };
}

export interface LoginDecision {
  /** `failed` keeps out as `denied` does. */
  readonly outcome: Exclude<LoginOutcome, 'undecided'> | 'failed';
  /** Names of roles by login of the account in lower case, sorted; empty when nobody is let in. */
  readonly roles: ReadonlyMap<string, readonly string[]>;
  /** Each with the name of its policy. */
  readonly messages: readonly string[];
}

/** Of at least one policy: without any, everybody is let in who was before. */
export function combineLogin(judgements: readonly Judgement[]): LoginDecision {
  const noRoles = new Map<string, readonly string[]>();
  const failures = failedOnes(judgements);
  if (failures.length > 0) return { outcome: 'failed', roles: noRoles, messages: failures.flatMap(linesOf) };
  const messages = inOrder(judgements).flatMap(linesOf);
  const granted = (['denied', 'admin', 'allowed'] as const).find((outcome) => anyIs(judgements, outcome));
  if (granted === undefined || granted === 'denied') return { outcome: 'denied', roles: noRoles, messages };
  const roles = new Map<string, readonly string[]>();
  for (const [account, names] of inOrder(judgements).flatMap((judgement) => setsOf(judgement, 'roles'))) {
    const login = account.toLowerCase();
    if (names.length > 0) roles.set(login, united([roles.get(login) ?? [], names]));
  }
  return { outcome: granted, roles, messages };
}
