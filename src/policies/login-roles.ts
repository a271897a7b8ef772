import { type GrantedRole, type Grants, higherRole, type Role, roles } from '../access/actor.ts';
import type { LoginDecision } from './decisions/login.ts';
import type { EvaluationFailure } from './engine.ts';
import type { Judgement } from './judgement.ts';
import { setsOf } from './rule-values.ts';

/** Roles as login policies name them: sets of role names by `account` or `account/stack`. */
interface Scope {
  readonly account: string;
  readonly stack: string | null;
}

/** Why the roles of a policy cannot be given; null when they can. `isKnown` is asked with a login in lower case. */
export async function problemOfRoles(
  said: Pick<Judgement, 'values'>,
  isKnown: (account: string) => Promise<boolean>,
): Promise<EvaluationFailure | null> {
  for (const [key, names] of setsOf(said, 'roles')) {
    const place = `roles[${JSON.stringify(key)}]`;
    const scope = scopeOf(key);
    if (!scope) return wrong(`${place} names no account and no stack (account/stack)`);
    const odd = names.find((name) => !isRole(name));
    if (odd !== undefined) return wrong(`${place} has ${JSON.stringify(odd)}; roles are ${roles.join(', ')}`);
    if (!(await isKnown(scope.account))) return wrong(`${place}: the App is in no account of that name`);
  }
  return null;
}

/** What a decision that lets somebody in gives them; null: nothing beyond what GitHub says. */
export function grantsOf(
  { outcome, roles: wanted }: Pick<LoginDecision, 'outcome' | 'roles'>,
  judgements: readonly Judgement[],
): Grants | null {
  const admin = outcome === 'admin';
  const given = [...wanted].flatMap(([key, names]) => grantedRole(key, names) ?? []);
  if (!admin && given.length === 0) return null;
  const giving = judgements.filter((each) => each.outcome === 'admin' || setsOf(each, 'roles').length > 0);
  return { admin, roles: given, policies: giving.map(({ policy }) => policy.name).toSorted() };
}

function grantedRole(key: string, names: readonly string[]): GrantedRole | null {
  const scope = scopeOf(key);
  const role = names.filter(isRole).reduce<Role | null>(higherRole, null);
  return scope && role && { ...scope, role };
}

function scopeOf(key: string): Scope | null {
  const [, account, stack = null] = /^([^/]+)(?:\/([^/]+))?$/.exec(key.toLowerCase()) ?? [];
  return account === undefined ? null : { account, stack };
}

const isRole = (name: string): name is Role => roles.some((role) => role === name);

const wrong = (message: string): EvaluationFailure => ({ code: 'wrong_type', message });
