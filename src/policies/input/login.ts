import type { z } from 'zod';
import type { Memberships } from '../../access/login.ts';
import type { Arrival, LoginRequest } from '../../access/login-judge.ts';
import { nanosecondsOf } from './moment.ts';
import type * as schemas from './schemas/login.ts';

export interface LoginFacts extends Pick<Arrival, 'person' | 'isAdmin'> {
  readonly memberships: Memberships;
  readonly request: LoginRequest;
}

/** What login policies judge. */
export function loginInput(facts: LoginFacts): z.infer<typeof schemas.loginInput> {
  const { person, isAdmin, memberships, request } = facts;
  const accounts = inLowerCase(memberships.accounts);
  return {
    request: { remote_ip: request.address, timestamp_ns: nanosecondsOf(request.atMs) },
    session: {
      login: person.login.toLowerCase(),
      id: person.userId,
      email: person.email,
      member: accounts.length > 0,
      admin: isAdmin,
    },
    accounts,
    teams: memberships.teams === null ? null : inLowerCase(memberships.teams),
  };
}

const inLowerCase = (names: readonly string[]): string[] =>
  names.map((name) => name.toLowerCase()).toSorted();
