import { html } from 'hono/html';
import type { UserError } from '../../user-error.ts';
import type { Page } from './layout.ts';

/** What happened, why, and what to do. */
export function errorPage(error: UserError, status: number): Page {
  const title = status === 404 ? 'Nothing here' : 'That did not work';
  return {
    title,
    body: html`<h1>${title}</h1>
<div class="notice bad"><p>${error.message}</p>${error.hint === undefined ? '' : html`<p>${error.hint}</p>`}</div>
<p class="small soft">${status} <code>${error.code}</code></p>
<p><a href="/">To the stacks</a></p>`,
  };
}
