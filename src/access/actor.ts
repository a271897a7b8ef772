/** Who asks. A person is known by GitHub login, a program by its token, the operator by the machine itself. */
export type Actor =
  | PersonActor
  | TokenActor
  /** Whoever can run the CLI on the server's own data directory. */
  | { readonly kind: 'operator' };

export interface PersonActor {
  readonly kind: 'person';
  readonly login: string;
  /** GitHub's numeric id, where it is known: logins change hands. */
  readonly userId?: number;
  readonly email: string;
  /** Of who is logged in to the UI; whoever acts on GitHub has none. */
  readonly session?: { readonly id: string; readonly grants: Grants | null };
}

/** What login policies give a session on top of what GitHub says. It is gone with the session. */
export interface Grants {
  /** Of the instance. */
  readonly admin: boolean;
  readonly roles: readonly GrantedRole[];
  /** Names of the policies that gave something, for people. */
  readonly policies: readonly string[];
}

export interface GrantedRole {
  /** Login, in lower case. */
  readonly account: string;
  /** Id of one stack of the account; null: all of them, and its repositories. */
  readonly stack: string | null;
  readonly role: Role;
}

export interface TokenActor {
  readonly kind: 'token';
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** The one account it may see; null = all of them. */
  readonly account: string | null;
}

/** What starts runs: whoever asks, a trigger policy, or the server by itself. */
export type Starter =
  | Actor
  | { readonly kind: 'policy'; readonly id: string; readonly name: string }
  | { readonly kind: 'server' };

export const roles = ['reader', 'writer', 'admin'] as const;
export type Role = (typeof roles)[number];

const rank = (role: Role | null): number => (role === null ? -1 : roles.indexOf(role));
/** Null is no role. */
export const higherRole = (one: Role | null, other: Role | null): Role | null =>
  rank(one) >= rank(other) ? one : other;

/** What stands in `actor` of a state change. */
export function actorName(actor: Starter): string {
  switch (actor.kind) {
    case 'person':
      return actor.login;
    case 'token':
      return actor.name;
    case 'policy':
      // Not the bare name: people choose it, and could call a policy like a person.
      return `policy ${actor.name}`;
    case 'operator':
    case 'server':
      return actor.kind;
  }
}

/** Who it is beyond doubt: a token that is called like a person's login is not that person. */
export function actorKey(actor: Starter): string {
  switch (actor.kind) {
    case 'person':
      return personKey(actor.login);
    case 'token':
      return `token:${actor.id}`;
    case 'policy':
      return `policy:${actor.id}`;
    case 'operator':
    case 'server':
      return actor.kind;
  }
}

/** Logins are the same in any case. */
export const personKey = (login: string): string => `person:${login.toLowerCase()}`;

/** What stands in `triggeredBy` of a run: a person's e-mail address, the name of a token or a policy. */
export function triggerName(actor: Starter): string {
  if (actor.kind === 'server') return 'slipway';
  return actor.kind === 'person' ? actor.email : actorName(actor);
}
