import { UserError } from '../user-error.ts';
import { type Actor, higherRole, type PersonActor, type Role } from './actor.ts';
import { grantedRole, isGrantedAdmin } from './grants.ts';
import type { Permissions, Place } from './permissions.ts';

export const includesRole = (held: Role, needed: Role): boolean => higherRole(held, needed) === held;

/** Rights of actors, decided live. One object for API, UI and comment commands, so that none is forgotten. */
export interface Access {
  /**
   * Null when the actor may not even know of it (answer 404).
   * Throws `forbidden` (403) when they may read it but not do what needs `needed`.
   */
  require(actor: Actor, place: Place, needed: Role): Promise<Role | null>;
  /** The role as it is now, null for none: asked live, even for what only reads. */
  roleOf(actor: Actor, place: Place): Promise<Role | null>;
  /** Administration of the instance: policies of all accounts, tokens, the system page. */
  isInstanceAdmin(actor: Actor): boolean;
  /** Whether what they see covers all accounts, in whatever role. */
  seesInstance(actor: Actor): boolean;
}

export function createAccess(options: { admins: readonly string[]; permissions: Permissions }): Access {
  const admins = new Set(options.admins.map((login) => login.toLowerCase()));

  function isInstanceAdmin(actor: Actor): boolean {
    switch (actor.kind) {
      case 'operator':
        return true;
      case 'token':
        return actor.role === 'admin' && actor.account === null;
      case 'person':
        return admins.has(actor.login.toLowerCase()) || isGrantedAdmin(actor);
    }
  }

  async function roleOf(actor: Actor, place: Place, fresh: boolean): Promise<Role | null> {
    if (isInstanceAdmin(actor)) return 'admin';
    if (actor.kind === 'token') {
      const sees = actor.account === null || actor.account.toLowerCase() === place.account.toLowerCase();
      return sees ? actor.role : null;
    }
    return actor.kind === 'person' ? roleOfPerson(actor, place, fresh) : null;
  }

  /** What a session was given counts beside what GitHub says, and takes nothing from it. */
  async function roleOfPerson(person: PersonActor, place: Place, fresh: boolean): Promise<Role | null> {
    const granted = grantedRole(person, place);
    if (granted === 'admin') return granted;
    return higherRole(granted, await options.permissions.roleOf(person, place.repository, fresh));
  }

  return {
    isInstanceAdmin,
    seesInstance: (actor) => isInstanceAdmin(actor) || (actor.kind === 'token' && actor.account === null),
    roleOf: (actor, place) => roleOf(actor, place, true),
    async require(actor, place, needed) {
      const role = await roleOf(actor, place, needed !== 'reader');
      if (role === null) return null;
      if (!includesRole(role, needed)) {
        throw new UserError('forbidden', `This needs the role ${needed}; yours is ${role}.`);
      }
      return role;
    },
  };
}
