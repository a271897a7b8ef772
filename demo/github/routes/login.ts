/** Login by the App: authorize (approved at once), tokens with PKCE, and what the user may see. */
import { createHash, randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { requireUser, roleOf } from '../access.ts';
import { ApiError, notFound } from '../api-error.ts';
import type { ApiEnv } from '../pipeline.ts';
import { idParam, pageOf } from '../request.ts';
import type { Account, GithubState, Repository } from '../state.ts';
import { teamsSeenBy, teamView } from '../teams.ts';
import { fullUser } from '../views/account.ts';
import { installationView } from '../views/installation.ts';
import { repositoryView } from '../views/repository.ts';
import { roleFlags } from './repositories.ts';

interface Grant {
  account: Account;
  redirectUri: string | undefined;
  challenge: string | undefined;
  expiresAtMs: number;
}

const codeLifeMs = 10 * 60 * 1000;
const tokenLifeSeconds = 8 * 60 * 60;

/** `whoSignsIn`: the person who, in front of the imagined browser, says yes. */
export function loginRoutes(state: GithubState, whoSignsIn: () => Account): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const codes = new Map<string, Grant>();
  const refreshTokens = new Map<string, Account>();

  routes.get('/login/oauth/authorize', (c) => {
    const { client_id: clientId, redirect_uri: redirectUri, state: opaque, ...pkce } = c.req.query();
    const { code_challenge: challenge, code_challenge_method: method } = pkce;
    if (clientId !== state.app.clientId) throw notFound();
    if (redirectUri === undefined) return c.text('The stand-in needs a redirect_uri.', 400);
    const target = new URL(redirectUri);
    if (opaque !== undefined) target.searchParams.set('state', opaque);
    if (challenge !== undefined && method !== 'S256') {
      target.searchParams.set('error', 'invalid_request');
    } else {
      const code = randomBytes(10).toString('hex');
      codes.set(code, {
        account: whoSignsIn(),
        redirectUri,
        challenge,
        expiresAtMs: state.nowMs() + codeLifeMs,
      });
      target.searchParams.set('code', code);
    }
    return c.redirect(target.toString(), 302);
  });

  routes.post('/login/oauth/access_token', (c) => {
    const body = c.get('recorded').body;
    const form: Record<string, unknown> = { ...c.req.query(), ...(typeof body === 'object' ? body : {}) };
    const answer = exchange(form);
    if (c.req.header('accept')?.includes('json')) return c.json(answer);
    const text = new URLSearchParams();
    for (const [key, value] of Object.entries(answer)) text.set(key, String(value));
    return c.body(text.toString(), 200, { 'content-type': 'application/x-www-form-urlencoded' });
  });

  /** GitHub answers 200 to a refusal too; `error` tells. */
  function exchange(form: Record<string, unknown>): Record<string, string | number> {
    if (form['client_id'] !== state.app.clientId || form['client_secret'] !== state.app.clientSecret) {
      return { error: 'incorrect_client_credentials' };
    }
    if (form['grant_type'] === 'refresh_token') {
      const token = String(form['refresh_token']);
      const account = refreshTokens.get(token);
      refreshTokens.delete(token);
      return account ? issue(account) : { error: 'bad_refresh_token' };
    }
    const code = String(form['code']);
    const grant = codes.get(code);
    codes.delete(code);
    if (!grant || grant.expiresAtMs <= state.nowMs()) return { error: 'bad_verification_code' };
    const redirect = form['redirect_uri'];
    if (redirect !== undefined && redirect !== grant.redirectUri) return { error: 'redirect_uri_mismatch' };
    if (!challengeMet(grant, form['code_verifier'])) return { error: 'bad_verification_code' };
    return issue(grant.account);
  }

  function issue(account: Account): Record<string, string | number> {
    const token = `ghu_${randomBytes(18).toString('hex')}`;
    const refreshToken = `ghr_${randomBytes(38).toString('hex')}`;
    state.userTokens.set(token, account);
    refreshTokens.set(refreshToken, account);
    return {
      access_token: token,
      expires_in: tokenLifeSeconds,
      refresh_token: refreshToken,
      refresh_token_expires_in: 15_897_600,
      scope: '',
      token_type: 'bearer',
    };
  }

  routes.get('/user', (c) => c.json(fullUser(state, requireUser(c))));

  routes.get('/user/installations', (c) => {
    const account = requireUser(c);
    const seen = [...state.installations.values()].filter(({ id }) => visible(account, id).length > 0);
    const installations = pageOf(c, seen).map((each) => installationView(state, each));
    return c.json({ total_count: seen.length, installations });
  });

  routes.get('/user/teams', (c) => {
    const teams = teamsSeenBy(state, requireUser(c));
    if (teams === null) throw new ApiError(403, 'Resource not accessible by integration');
    return c.json(pageOf(c, teams).map((each) => teamView(state, each)));
  });

  routes.get('/user/installations/:id/repositories', (c) => {
    const account = requireUser(c);
    const seen = visible(account, idParam(c, 'id'));
    const repositories = pageOf(c, seen).map((each) => {
      return { ...repositoryView(state, each), permissions: roleFlags(roleOf(each, account)) };
    });
    return c.json({ total_count: seen.length, repository_selection: 'selected', repositories });
  });

  function visible(account: Account, installationId: number): Repository[] {
    const ids = state.installations.get(installationId)?.repositoryIds ?? [];
    const repositories = [...ids].flatMap((id) => state.repositories.get(id) ?? []);
    return repositories.filter((repository) => roleOf(repository, account) !== null);
  }

  return routes;
}

function challengeMet(grant: Grant, verifier: unknown): boolean {
  if (grant.challenge === undefined) return true;
  if (typeof verifier !== 'string') return false;
  return createHash('sha256').update(verifier).digest('base64url') === grant.challenge;
}
