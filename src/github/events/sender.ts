import { z } from 'zod';
import type { Actor } from '../../access/actor.ts';

export const senderJson = z.object({ id: z.number().int(), login: z.string().min(1), type: z.string() });
type SenderJson = z.output<typeof senderJson>;

/** The payload has no address of the sender; this one is theirs for certain. */
export const senderEmail = ({ id, login }: Pick<SenderJson, 'id' | 'login'>): string =>
  `${id}+${login}@users.noreply.github.com`;

export const senderActor = (sender: SenderJson): Extract<Actor, { kind: 'person' }> => ({
  kind: 'person',
  login: sender.login,
  userId: sender.id,
  email: senderEmail(sender),
});
