import { html } from 'hono/html';
import type { Markup } from '../../layout.ts';
import type { Form } from '../../page-routes.ts';

/** What the object was when the form was loaded, so that nobody's change in between is overwritten unseen. */
export const etagField = (etag: string | null): Markup | string =>
  etag === null ? '' : html`<input type="hidden" name="etag" value="${etag}">`;

export const ifMatchOf = ({ field }: Pick<Form, 'field'>): string | null => field('etag') || null;
