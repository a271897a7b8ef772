import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { Admission } from '../../access/admission.ts';
import { type Login, localPath } from '../../access/login.ts';
import type { Origin } from '../../access/origin.ts';
import type { Sessions } from '../../access/sessions.ts';
import { UserError } from '../../user-error.ts';
import type { WebEnv } from '../api.ts';
import { type BrowserSessions, formTokenField, requireOwnPage } from './browser-session.ts';
import { readForm } from './form-body.ts';
import type { Frame, Markup } from './layout.ts';
import { sendPage } from './layout.ts';

export interface LoginRouteParts {
  /** Null: the server has no client id and secret of the GitHub App. */
  readonly login: Login | null;
  readonly sessions: Pick<Sessions, 'logOut'>;
  readonly admission: Admission;
  readonly browserSessions: BrowserSessions;
  readonly publicUrl: () => string;
  readonly frameFor: (session: Frame['session']) => Frame;
}

/** Logging in and out. Everything else of the UI needs a session. */
export function loginRoutes(parts: LoginRouteParts): Hono<WebEnv> {
  const { login, sessions, admission, browserSessions, publicUrl, frameFor } = parts;
  const routes = new Hono<WebEnv>();
  const redirectUrl = () => `${publicUrl()}/login/callback`;

  routes.get('/login', async (c) => {
    const returnTo = localPath(c.req.query('return_to') ?? '/');
    if (await browserSessions.of(c.req.raw)) return c.redirect(returnTo, 303);
    const isUnsaved = c.req.query('unsaved') === 'yes';
    const body = html`${isUnsaved ? unsavedNotice : ''}${login ? loginBody(returnTo) : noLoginBody}`;
    return sendPage(c, frameFor(null), { title: 'Log in', body, isNarrow: true });
  });

  routes.get('/login/github', (c) => {
    if (!login) return c.redirect('/login', 303);
    const { url, memo } = login.begin({
      returnTo: c.req.query('return_to') ?? '/',
      redirectUrl: redirectUrl(),
    });
    browserSessions.memo.set(c, memo);
    return c.redirect(url, 302);
  });

  routes.get('/login/callback', async (c) => {
    if (!login) return c.redirect('/login', 303);
    const memo = browserSessions.memo.read(c);
    // Good for one way back, whatever comes of it.
    browserSessions.memo.clear(c);
    try {
      const { state, code } = c.req.query();
      const { identity, returnTo } = await login.finish({ memo, state, code, redirectUrl: redirectUrl() });
      const before = browserSessions.tokenOf(c.req.raw);
      const userAgent = c.req.header('user-agent') ?? '';
      browserSessions.set(c, await admission.admit(identity, { userAgent, before, origin: originOf(c) }));
      return c.redirect(returnTo, 303);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const status = error.code === 'login-refused' ? 403 : 502;
      const page = { title: 'Not logged in', body: refusedBody(error), isNarrow: true };
      return sendPage(c, frameFor(null), page, status);
    }
  });

  routes.post('/logout', async (c) => {
    const session = await browserSessions.of(c.req.raw);
    if (session) {
      const form = await readForm(c);
      requireOwnPage(c.req.raw, session, form.get(formTokenField));
      const where = form.get('everywhere') === 'yes' ? 'everywhere' : 'here';
      await sessions.logOut(session, originOf(c), where);
    }
    browserSessions.clear(c);
    return c.redirect('/login', 303);
  });

  return routes;
}

const originOf = (c: Context<WebEnv>): Origin => ({ ...c.env.origin, via: 'ui' });

const unsavedNotice = html`<div class="notice person" role="alert"><p>You were no longer logged in, and nothing of what you sent was saved or done.</p>
<p>Log in, then do it once more. If a tab still has the form, copy what you typed from there.</p></div>`;

const loginBody = (returnTo: string): Markup => html`<h1>Log in</h1>
<p>GitHub says who you are, and what you may see and do here follows from your role in each repository.</p>
<p><a class="button primary" href="/login/github?return_to=${encodeURIComponent(returnTo)}">Log in with GitHub</a></p>`;

const noLoginBody = html`<h1>Log in</h1>
<div class="notice person"><p>This server cannot log anybody in yet: it has no client secret of its GitHub App.</p>
<p>Make one on the page of the App, then set <code>GITHUB_CLIENT_ID</code> and <code>GITHUB_CLIENT_SECRET</code> and start
the server again. API and command line work without it.</p></div>`;

const refusedBody = ({ message, hint }: UserError): Markup => html`<h1>Not logged in</h1>
<div class="notice bad"><p>${message}</p>${hint === undefined ? '' : html`<p>${hint}</p>`}</div>
<p><a class="button primary" href="/login">To the login page</a></p>`;
