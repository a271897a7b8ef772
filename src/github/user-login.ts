import { z } from 'zod';
import { type Identity, type IdentityProvider, loginRefused } from '../access/login.ts';
import { senderEmail } from './events/sender.ts';
import { githubUnavailable } from './github-error.ts';
import { readMemberships } from './memberships.ts';

export interface UserLoginSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly webUrl: string;
  readonly apiUrl: string;
}

const timeoutMs = 15_000;

/** GitHub answers 200 to a refusal too. */
const tokenJson = z.union([
  z.object({ access_token: z.string().min(1) }),
  z.object({ error: z.string().transform((error) => error.slice(0, 100)) }),
]);
const userJson = z.object({
  id: z.number().int().positive(),
  login: z.string().min(1),
  email: z.string().nullish(),
  type: z.string(),
});

/**
 * Who somebody is, by the user flow of the GitHub App. The token that comes of it is used during the login and kept
 * nowhere: what a person may do is asked as the App.
 */
export function createUserLogin(settings: UserLoginSettings): IdentityProvider {
  const { clientId, clientSecret, webUrl, apiUrl } = settings;

  async function ask<T extends z.ZodType>(schema: T, url: string, init: RequestInit): Promise<z.output<T>> {
    try {
      // A redirect would carry the secret elsewhere.
      const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
      if (!answer.ok) throw new Error(`GitHub answered ${answer.status}`);
      return schema.parse(await answer.json());
    } catch (cause) {
      throw githubUnavailable('who you are', cause);
    }
  }

  return {
    authorizeUrl({ state, challenge, redirectUrl }) {
      const url = new URL(`${webUrl}/login/oauth/authorize`);
      url.search = new URLSearchParams({
        ...{ client_id: clientId, redirect_uri: redirectUrl, state },
        ...{ code_challenge: challenge, code_challenge_method: 'S256' },
      }).toString();
      return url.toString();
    },

    async identify({ code, verifier, redirectUrl }): Promise<Identity> {
      const granted = await ask(tokenJson, `${webUrl}/login/oauth/access_token`, {
        method: 'POST',
        headers: { accept: 'application/json', 'user-agent': 'slipway' },
        body: new URLSearchParams({
          ...{ client_id: clientId, client_secret: clientSecret },
          ...{ code, code_verifier: verifier, redirect_uri: redirectUrl },
        }),
      });
      if ('error' in granted) throw loginRefused(`GitHub refused the login: ${granted.error}.`);
      const headers = {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${granted.access_token}`,
        'user-agent': 'slipway',
      };
      const user = await ask(userJson, `${apiUrl}/user`, { headers });
      if (user.type !== 'User') throw loginRefused(`${user.login} is not a person.`);
      const email = user.email || senderEmail(user);
      return {
        person: { userId: user.id, login: user.login, email },
        memberships: () => readMemberships({ apiUrl, headers, timeoutMs }),
      };
    },
  };
}
