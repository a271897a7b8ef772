import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Actor } from '../../access/actor.ts';
import type { Origin } from '../../access/origin.ts';
import type { Session } from '../../access/sessions.ts';
import type { Clock } from '../../clock.ts';
import { UserError } from '../../user-error.ts';
import type { WebEnv } from '../api.ts';
import { problemStatuses } from '../problem.ts';
import { type BrowserSessions, formTokenField, requireOwnPage } from './browser-session.ts';
import type { RefusedStatus } from './draft.ts';
import { errorPage } from './error-page.ts';
import { readForm } from './form-body.ts';
import { ApiRefusal, createInProcessApi, type InProcessApi } from './in-process-api.ts';
import { type Frame, type Page, sendPage } from './layout.ts';

/** What a page is made with: who looks, and the API with that person's rights. */
export interface View {
  readonly session: Session;
  readonly api: InProcessApi;
  readonly nowMs: number;
  /** Where pages of repositories are, e.g. https://github.com */
  readonly githubUrl: string;
  /** Of this server, without a trailing slash. */
  readonly publicUrl: string;
  /** Whether what belongs to the instance is there for them. */
  readonly isInstanceAdmin: boolean;
  param(name: string): string;
  query(name: string): string | undefined;
}

export interface Form extends View {
  /** Of a field that is there once; "" without it. */
  field(name: string): string;
  /** Of a field that can be there several times. */
  fields(name: string): readonly string[];
}

export interface GoTo {
  /** A path of ours. */
  readonly goTo: string;
}

/** Where the browser goes after a form, or the page with the form again and what is wrong with it. */
export type FormResult = GoTo | { readonly page: Page; readonly status: 200 | RefusedStatus };

export interface PageRouteParts {
  readonly browserSessions: BrowserSessions;
  readonly fetchAs: (actor: Actor, origin: Origin, request: Request) => Promise<Response>;
  readonly frameFor: (session: Frame['session']) => Frame;
  readonly clock: Clock;
  readonly githubUrl: string;
  readonly publicUrl: () => string;
  /** Throws when these are too many of the session. */
  readonly countPage: (session: Session) => void;
}

/** Pages and forms of the UI: each asks who it is, shows a refusal as a page, and takes only forms of its own. */
export interface PageRoutes {
  readonly routes: Hono<WebEnv>;
  page(path: string, render: (view: View) => Promise<Page | GoTo>): void;
  form(path: string, submit: (form: Form) => Promise<FormResult>): void;
}

export function createPageRoutes(parts: PageRouteParts): PageRoutes {
  const { browserSessions, fetchAs, frameFor, clock, githubUrl } = parts;
  const routes = new Hono<WebEnv>();
  const pages = new Set<string>();

  function viewOf(c: Context<WebEnv>, session: Session): View {
    const origin: Origin = { ...c.env.origin, via: 'ui' };
    return {
      session,
      api: createInProcessApi((request) => fetchAs(session.actor, origin, request)),
      nowMs: clock.nowMs(),
      githubUrl,
      publicUrl: parts.publicUrl(),
      isInstanceAdmin: frameFor(session).isInstanceAdmin,
      param: (name) => c.req.param(name) ?? '',
      query: (name) => c.req.query(name),
    };
  }

  /** A refusal is an answer, too. What is no refusal goes on to the server's own handler. */
  async function answered(c: Context, session: Session, work: () => Promise<Response>): Promise<Response> {
    try {
      parts.countPage(session);
      return await work();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const status = error instanceof ApiRefusal ? error.status : (problemStatuses[error.code] ?? 422);
      return sendPage(c, frameFor(session), errorPage(error, status), status as ContentfulStatusCode);
    }
  }

  return {
    routes,

    page(path, render) {
      pages.add(path);
      routes.get(path, async (c) => {
        const session = await browserSessions.of(c.req.raw);
        if (!session) return c.redirect(loginFor(addressOf(c.req.raw)), 303);
        return answered(c, session, async () => {
          const made = await render(viewOf(c, session));
          return 'goTo' in made ? c.redirect(made.goTo, 303) : sendPage(c, frameFor(session), made);
        });
      });
    },

    form(path, submit) {
      routes.post(path, async (c) => {
        const session = await browserSessions.of(c.req.raw);
        if (!session) return c.redirect(`${loginFor(pageOf(path, c.req.path, pages))}&unsaved=yes`, 303);
        return answered(c, session, async () => {
          const data = await readForm(c);
          requireOwnPage(c.req.raw, session, data.get(formTokenField));
          const result = await submit({
            ...viewOf(c, session),
            field: (name) => data.get(name) ?? '',
            fields: (name) => data.getAll(name),
          });
          if ('goTo' in result) return c.redirect(result.goTo, 303);
          return sendPage(c, frameFor(session), result.page, result.status);
        });
      });
    },
  };
}

const loginFor = (returnTo: string): string => `/login?return_to=${encodeURIComponent(returnTo)}`;

function addressOf(request: Request): string {
  const { pathname, search } = new URL(request.url);
  return `${pathname}${search}`;
}

/** The page that a form is on: what it is sent to, or the nearest page above. */
function pageOf(form: string, pathname: string, pages: ReadonlySet<string>): string {
  const [template, given] = [form.split('/'), pathname.split('/')];
  while (template.length > 1 && !pages.has(template.join('/'))) {
    template.pop();
    given.pop();
  }
  return given.join('/') || '/';
}
