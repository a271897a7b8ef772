import { html } from 'hono/html';
import type { UserError } from '../../user-error.ts';
import type { Problem } from '../problem.ts';
import type { Page } from './layout.ts';

export function errorPage({ code, message: detail, hint }: UserError, status: number): Page {
  return problemPage({ code, detail, status, ...(hint !== undefined && { hint }) });
}

/** What happened, why, and what to do. */
export function problemPage({ code, detail, hint, status }: Problem): Page {
  const title = status === 404 ? 'Nothing here' : 'That did not work';
  return {
    title,
    body: html`<h1>${title}</h1>
<div class="notice bad"><p>${detail}</p>${hint === undefined ? '' : html`<p>${hint}</p>`}</div>
<p class="small soft">${status} <code>${code}</code></p>
<p><a href="/">To the stacks</a></p>`,
  };
}
