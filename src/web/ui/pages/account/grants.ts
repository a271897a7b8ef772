import { html } from 'hono/html';
import type { GrantedRole } from '../../../../access/actor.ts';
import type { Markup } from '../../layout.ts';
import type { View } from '../../page-routes.ts';

/** Where the rights of this session come from, beside GitHub; empty when there is nothing but GitHub. */
export function grantsOf({ session }: Pick<View, 'session'>): Markup | string {
  const { grants } = session.record;
  if (grants === null) return '';
  const { admin, roles, policies } = grants;
  const given = [...(admin ? ['administration of this server'] : []), ...roles.map(inWords)];
  const by = policies.length === 1 ? 'The login policy' : 'The login policies';
  return html`<p class="soft">${by} ${policies.join(', ')} gave this session, on top of what GitHub says: ${given.join('; ')}. It is gone with the session.</p>`;
}

const inWords = ({ account, stack, role }: GrantedRole): string =>
  stack === null ? `${role} in ${account}` : `${role} of ${account}/${stack}`;
