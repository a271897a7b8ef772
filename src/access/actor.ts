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
}

export interface TokenActor {
  readonly kind: 'token';
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** The one account it may see; null = all of them. */
  readonly account: string | null;
}

/** What starts runs: whoever asks, or the server by itself. */
export type Starter = Actor | { readonly kind: 'server' };

export const roles = ['reader', 'writer', 'admin'] as const;
export type Role = (typeof roles)[number];

/** What stands in `actor` of a state change. */
export function actorName(actor: Starter): string {
  if (actor.kind === 'person') return actor.login;
  return actor.kind === 'token' ? actor.name : actor.kind;
}

/** Who it is beyond doubt: a token that is called like a person's login is not that person. */
export function actorKey(actor: Starter): string {
  switch (actor.kind) {
    case 'person':
      return personKey(actor.login);
    case 'token':
      return `token:${actor.id}`;
    case 'operator':
    case 'server':
      return actor.kind;
  }
}

/** Logins are the same in any case. */
export const personKey = (login: string): string => `person:${login.toLowerCase()}`;

/** What stands in `triggeredBy` of a run: a person's e-mail address, a token's name. */
export function triggerName(actor: Starter): string {
  if (actor.kind === 'server') return 'slipway';
  return actor.kind === 'person' ? actor.email : actorName(actor);
}
