import type { PersonActor, Role } from './actor.ts';

/** GitHub's answer to "what may this person do here", asked live. Implemented by github/. */
export interface Permissions {
  /**
   * The role of a person on a repository, null for none, and for a login that is somebody else's by now. On a public
   * repository `read` alone is nobody's merit: there a reader has triage or more.
   * `fresh` true for everything that changes something; false may be up to 10 seconds old.
   */
  roleOf(
    person: Pick<PersonActor, 'login' | 'userId'>,
    repository: RepositoryRef,
    fresh: boolean,
  ): Promise<Role | null>;
}

/** Where somebody has a role; a stack is such a place. */
export interface Place {
  /** Login of the owner. */
  readonly account: string;
  readonly repository: RepositoryRef;
  /** Of one stack, unique in the account; left out: the repository as a whole. */
  readonly id?: string;
}

export interface RepositoryRef {
  readonly id: number;
  readonly fullName: string;
  readonly installationId: number;
  readonly isPrivate: boolean;
}
