import type { Actor, Role } from '../../access/actor.ts';
import { isGrantedApart } from '../../access/grants.ts';
import type { Place } from '../../access/permissions.ts';
import type { Guard } from './guard.ts';

/**
 * The roles of one caller on many stacks, for one answer. Each repository is asked for once, a few at a time; what a
 * person may do is a question to GitHub, so that an answer may ask so many and no more.
 */
export interface StackRoles {
  /** Null: not for this caller. Of `following`, which is asked for next, the first ones are asked for along with it. */
  roleOn(place: Place, following?: readonly Place[]): Promise<Role | null>;
  /** Nobody is asked any more. */
  isKnown(place: Place): boolean;
  /** True once it should ask no more: the answer ends where it is, and leads on. */
  isSpent(): boolean;
}

/** Questions to GitHub that are under way at once. */
export const askedAtOnce = 8;
/** A person that waits for them waits some seconds; GitHub allows some thousand an hour. */
export const maxAsked = 100;

export function stackRoles(guard: Guard, actor: Actor): StackRoles {
  const known = new Map<string, Promise<Role | null>>();
  const isLimited = guard.isAskedLive(actor);

  const keyOf = (place: Place): string =>
    actor.kind === 'person' && isGrantedApart(actor, place)
      ? `${placeKey(place)} ${place.id}`
      : placeKey(place);

  function ask(place: Place): Promise<Role | null> {
    const asked = known.get(keyOf(place)) ?? guard.roleOn(actor, place);
    known.set(keyOf(place), asked);
    return asked;
  }

  return {
    async roleOn(place, following = []) {
      if (!known.has(keyOf(place))) {
        const unknown = following.filter((each) => !known.has(keyOf(each)));
        const first = new Map([place, ...unknown].map((each) => [keyOf(each), each]));
        await Promise.all([...first.values()].slice(0, askedAtOnce).map(ask));
      }
      return ask(place);
    },
    isKnown: (place) => known.has(keyOf(place)),
    isSpent: () => isLimited && known.size >= maxAsked,
  };
}

/** With the account: a token sees one. */
export const placeKey = ({ account, repository }: Place): string => `${repository.id} ${account}`;
