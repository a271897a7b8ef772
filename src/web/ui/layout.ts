import type { Context } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Session } from '../../access/sessions.ts';
import { assetPath } from './assets.ts';

/** What the `html` template makes: everything put into it is escaped, unless it is markup itself. */
export type Markup = ReturnType<typeof html>;

export interface Page {
  readonly title: string;
  /** Which entry of the navigation it belongs to. */
  readonly section?: 'stacks' | 'runs' | 'policies' | 'notices' | 'system' | 'account';
  readonly body: Markup;
  /** What this page needs beside the style of all. */
  readonly styles?: readonly string[];
  /** Loaded as modules. */
  readonly scripts?: readonly string[];
  readonly isNarrow?: boolean;
}

/** What every page of an answer shows around its content. */
export interface Frame {
  readonly session: Session | null;
  /** False with SANDBOX=none, which must be shown wherever a run is shown. */
  readonly isSandboxed: boolean;
  /** Whether there is a system page for them. */
  readonly isInstanceAdmin: boolean;
}

/** Nothing is loaded from elsewhere, nothing runs that is not a file of ours. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function sendPage(c: Context, frame: Frame, page: Page, status: ContentfulStatusCode = 200) {
  c.header('content-security-policy', contentSecurityPolicy);
  return c.html(documentOf(frame, page), status);
}

function documentOf(frame: Frame, page: Page): Markup {
  const { title, section, body, styles = [], scripts = [], isNarrow = false } = page;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Slipway</title>
<link rel="icon" href="${assetPath('icon.svg')}">
${['style.css', ...styles].map((name) => html`<link rel="stylesheet" href="${assetPath(name)}">`)}
${['time.js', 'forms.js', ...scripts].map((name) => html`<script type="module" src="${assetPath(name)}"></script>`)}
</head>
<body>
<a class="skip" href="#main">To the content</a>
${frame.isSandboxed ? '' : html`<div class="banner" role="note">This server runs the tools without a sandbox.</div>`}
<header class="top">${navigation(frame, section)}</header>
<main id="main"${isNarrow ? html` class="narrow"` : ''}>
${body}
</main>
</body>
</html>`;
}

function navigation({ session, isInstanceAdmin }: Frame, section: Page['section']): Markup {
  const entry = (name: Page['section'], href: string, words: string) =>
    html`<a href="${href}"${section === name ? html` aria-current="page"` : ''}>${words}</a>`;
  if (!session) return html`<nav aria-label="Main"><a class="brand" href="/">Slipway</a></nav>`;
  return html`<nav aria-label="Main">
<a class="brand" href="/">Slipway</a>
${entry('stacks', '/', 'Stacks')}
${entry('runs', '/runs', 'Runs')}
${entry('policies', '/policies', 'Policies')}
${entry('notices', '/notices', 'Notices')}
${isInstanceAdmin ? entry('system', '/system', 'System') : ''}
<span class="end">
${entry('account', '/account', session.record.login)}
<form method="post" action="/logout">${formToken(session)}<button class="link">Log out</button></form>
</span>
</nav>`;
}

/** Every form that changes something has it first. */
export const formToken = (session: Session): Markup =>
  html`<input type="hidden" name="form_token" value="${session.formToken}">`;
