import { z } from 'zod';
import { type GrantedRole, type Grants, higherRole, type PersonActor, type Role, roles } from './actor.ts';
import type { Place } from './permissions.ts';

/** As they are kept. */
export const grantsSchema: z.ZodType<Grants> = z.object({
  admin: z.boolean(),
  roles: z.array(z.object({ account: z.string(), stack: z.string().nullable(), role: z.enum(roles) })),
  policies: z.array(z.string()),
});

type WithGrants = Pick<PersonActor, 'session'>;

export const isGrantedAdmin = ({ session }: WithGrants): boolean => session?.grants?.admin ?? false;

/** The highest role that the session was given there; null for none. */
export function grantedRole(actor: WithGrants, { account, id }: Place): Role | null {
  return grantsIn(actor, account)
    .filter(({ stack }) => stack === null || stack === id)
    .reduce<Role | null>((held, { role }) => higherRole(held, role), null);
}

/** Whether the session was given anything in that account, be it for one stack. */
export const hasGrantIn = (actor: WithGrants, account: string): boolean =>
  grantsIn(actor, account).length > 0;

/** Whether its rights on this stack need not be those on the rest of the repository. */
export const isGrantedApart = (actor: WithGrants, { account, id }: Place): boolean =>
  id !== undefined && grantsIn(actor, account).some(({ stack }) => stack === id);

function grantsIn({ session }: WithGrants, account: string): readonly GrantedRole[] {
  const wanted = account.toLowerCase();
  return session?.grants?.roles.filter((granted) => granted.account === wanted) ?? [];
}
