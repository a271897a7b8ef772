import { randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { UserError } from '../../user-error.ts';
import type { AppDefinition } from '../app-definition.ts';
import { convertManifest, type MadeApp } from './conversion.ts';
import type { CredentialsFile } from './credentials-file.ts';
import { manifestOf, registrationUrl } from './manifest.ts';
import { createOneTimeWords, isSameWord, newSecretWord } from './one-time.ts';
import { beginPage, donePage, plainPage, troublePage } from './pages.ts';

/** What is known of the App afterwards; nothing of it is secret. */
export interface RegisteredApp {
  readonly appId: number;
  readonly name: string;
  readonly url: string;
  /** Where it is installed on repositories. */
  readonly installUrl: string;
  readonly envPath: string;
  readonly privateKeyPath: string;
}

export interface FlowOptions {
  readonly definition: AppDefinition;
  readonly name: string;
  /** Null: the App will belong to the person. */
  readonly organisation: string | null;
  readonly publicUrl: string;
  readonly github: { readonly webUrl: string; readonly apiUrl: string };
  /** Of this flow, as the browser sees it. */
  readonly origin: string;
  readonly credentials: CredentialsFile;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

export interface Flow {
  /** The one way in. */
  readonly link: string;
  readonly registered: Promise<RegisteredApp>;
  fetch(request: Request): Response | Promise<Response>;
}

/** What is left to do. Only one request works on it at a time. */
type Step =
  | { readonly kind: 'register' }
  | { readonly kind: 'convert'; readonly code: string }
  | { readonly kind: 'save'; readonly app: MadeApp }
  | { readonly kind: 'done'; readonly app: RegisteredApp };

/**
 * Registering the App by its manifest, for the one person who has the link: a form to GitHub, GitHub's way back with
 * a code, the code exchanged for credentials, these written. What fails on the way can be tried again without
 * another App. No page holds a credential.
 */
export function createFlow(options: FlowOptions): Flow {
  const { origin, github, credentials } = options;
  const word = newSecretWord();
  const states = createOneTimeWords();
  const { promise: registered, resolve } = Promise.withResolvers<RegisteredApp>();
  const beginPath = `/${word}`;
  let step: Step = { kind: 'register' };
  let isBusy = false;

  const app = new Hono<{ Variables: { nonce: string } }>();

  app.use(async (c, next) => {
    const nonce = randomBytes(16).toString('base64');
    c.set('nonce', nonce);
    // Another name for this address would let a foreign page read ours (DNS rebinding).
    if (c.req.header('host') === new URL(origin).host) await next();
    else c.res = c.text('This is not the address that was given out.', 421);
    for (const [name, value] of headersOf(nonce, github.webUrl)) c.res.headers.set(name, value);
  });

  app.get('/callback', async (c) => {
    const { code, state } = c.req.query();
    if (state === undefined || !states.spend(state)) return foreign(c);
    if (isBusy || step.kind !== 'register') return late(c);
    if (code === undefined)
      return c.html(plainPage(c.var.nonce, 'That did not work', 'GitHub sent no code.'), 400);
    step = { kind: 'convert', code };
    return goOn(c);
  });

  app.get('/:word', (c) => {
    if (!isSameWord(c.req.param('word'), word)) return c.notFound();
    if (step.kind === 'register' && !isBusy) return begin(c);
    return late(c);
  });

  app.post('/:word/again', (c) => {
    if (!isSameWord(c.req.param('word'), word)) return c.notFound();
    return isBusy || step.kind === 'register' || step.kind === 'done' ? late(c) : goOn(c);
  });

  app.notFound((c) => c.text('Not found', 404));

  type PageContext = Context<{ Variables: { nonce: string } }>;

  function begin(c: PageContext) {
    const { definition, name, organisation, publicUrl } = options;
    const manifest = manifestOf({ definition, name, publicUrl, redirectUrl: `${origin}/callback` });
    const facts = [
      ['name', name],
      ['owner', organisation ?? 'you'],
      ['on', github.webUrl],
      ['webhooks to', publicUrl],
      [
        'permissions',
        Object.entries(definition.permissions)
          .map(([key, level]) => `${key} ${level}`)
          .join(', '),
      ],
      ['events', definition.events.join(', ')],
    ] as const;
    const url = registrationUrl(github.webUrl, organisation, states.issue());
    return c.html(beginPage(c.var.nonce, { registrationUrl: url, manifest, facts }));
  }

  async function goOn(c: PageContext) {
    isBusy = true;
    try {
      if (step.kind === 'convert') {
        step = { kind: 'save', app: await convertManifest(github.apiUrl, step.code, options.signal) };
      }
      if (step.kind === 'save') step = { kind: 'done', app: await save(step.app) };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      // The code is worth nothing any more.
      if (step.kind === 'convert' && error.code !== 'github-unavailable') step = { kind: 'register' };
      const againPath = step.kind === 'register' ? null : `${beginPath}/again`;
      return c.html(troublePage(c.var.nonce, error, againPath, beginPath), 502);
    } finally {
      isBusy = false;
    }
    return done(c);
  }

  async function save(made: MadeApp): Promise<RegisteredApp> {
    const { privateKeyPath } = await credentials.save(made);
    const { id: appId, name, pageUrl: url } = made;
    const installUrl = `${url}/installations/new`;
    return { appId, name, url, installUrl, envPath: credentials.envPath, privateKeyPath };
  }

  function done(c: PageContext) {
    if (step.kind !== 'done') return late(c);
    const { app: made } = step;
    resolve(made);
    const files = [made.envPath, made.privateKeyPath];
    return c.html(donePage(c.var.nonce, { ...made, files }));
  }

  function foreign(c: PageContext) {
    const text = 'This way back belongs to no form that was opened here, or it was taken already.';
    return c.html(plainPage(c.var.nonce, 'Refused', text), 403);
  }

  function late(c: PageContext) {
    const text = 'An App is being registered already, or was.';
    return c.html(plainPage(c.var.nonce, 'Too late', text), 409);
  }

  return { link: `${origin}${beginPath}`, registered, fetch: (request) => app.fetch(request) };
}

function headersOf(nonce: string, webUrl: string): readonly (readonly [string, string])[] {
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    // Browsers hold redirects of a form to this too.
    `form-action 'self' ${new URL(webUrl).origin}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return [
    ['content-security-policy', policy.join('; ')],
    ['cache-control', 'no-store'],
    // GitHub sees where the form came from, but not the word in the path.
    ['referrer-policy', 'strict-origin'],
    ['x-content-type-options', 'nosniff'],
    ['x-frame-options', 'DENY'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['connection', 'close'],
  ];
}
