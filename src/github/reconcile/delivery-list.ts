import { z } from 'zod';
import type { GithubApp } from '../github-app.ts';
import type { LostDelivery } from './lost-delivery-store.ts';

const listedJson = z.object({
  // Beyond the safe integers it would be the id of another one.
  id: z.number().int(),
  guid: z.string().min(1),
  delivered_at: z.string().transform((text, context) => {
    const ms = Date.parse(text);
    if (Number.isNaN(ms)) context.addIssue({ code: 'custom', message: 'not a time' });
    return ms;
  }),
  event: z.string(),
  repository_id: z.number().int().nullish(),
});

/** One page of attempts to deliver something, newest first; an event that was delivered twice is there twice. */
export interface DeliveryPage {
  readonly listed: readonly LostDelivery[];
  /** How many could not be read. */
  readonly unreadable: number;
  /** Null: it is the last page. */
  readonly next: string | null;
}

/** Asks for a page of what GitHub delivered, or tried to; `cursor` null = the newest. */
export async function readDeliveryPage(
  app: Pick<GithubApp, 'asApp'>,
  cursor: string | null,
  signal: AbortSignal,
): Promise<DeliveryPage> {
  const { rest } = await app.asApp();
  const { data, headers } = await rest.apps.listWebhookDeliveries({
    per_page: 100,
    ...(cursor === null ? {} : { cursor }),
    request: { signal },
  });
  const listed = data.flatMap((json: unknown) => {
    const { data: item } = listedJson.safeParse(json);
    if (!item) return [];
    const { id: deliveryId, guid, event, repository_id, delivered_at: deliveredAtMs } = item;
    return [{ guid, deliveryId, event, repositoryId: repository_id ?? null, deliveredAtMs }];
  });
  return { listed, unreadable: data.length - listed.length, next: nextCursor(headers.link) };
}

function nextCursor(link: string | undefined): string | null {
  const [, address] = /<([^>]+)>;\s*rel="next"/.exec(link ?? '') ?? [];
  return address ? new URL(address).searchParams.get('cursor') : null;
}
