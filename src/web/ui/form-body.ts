import type { Context } from 'hono';
import { UserError } from '../../user-error.ts';
import { readBody } from '../request-body.ts';

const maxFormBytes = 1_000_000;

/** What a form posted. Throws `payload-too-large`. */
export async function readForm(c: Context): Promise<URLSearchParams> {
  const body = await readBody(c.req.raw, maxFormBytes);
  if (body !== 'too-large') return new URLSearchParams(Buffer.from(body).toString());
  throw new UserError('payload-too-large', 'The form is too large.', {
    hint: 'Use the API for such values.',
  });
}
