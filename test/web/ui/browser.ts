import { createLogin } from '../../../src/access/login.ts';
import type { Person } from '../../../src/access/sessions.ts';
import { anInstallation } from '../installation.ts';

const origin = 'https://slipway.example.com';
const ada: Person = { userId: 5, login: 'ada', email: 'ada@example.com' };

const memberships = async () => ({ accounts: ['acme'], teams: ['acme/platform'] });

/** GitHub's part is played; everything else is the server. */
export function openBrowser(change: Parameters<typeof anInstallation>[0] = {}, person: Partial<Person> = {}) {
  const login = createLogin({
    authorizeUrl: ({ state }) => `https://github.example/login/oauth/authorize?state=${state}`,
    identify: async () => ({ person: { ...ada, ...person }, memberships }),
  });
  const installation = anInstallation({ login, ...change });
  const jar = new Map<string, string>();

  /** As a browser does: cookies are kept and sent, redirects are looked at. */
  async function visit(path: string, init: RequestInit = {}, address?: string) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = new Headers(init.headers);
    if (cookie !== '') headers.set('cookie', cookie);
    const request = new Request(`${origin}${path}`, { ...init, headers });
    const answer = await installation.web.fetch(request, address);
    for (const line of answer.headers.getSetCookie()) keep(line);
    return { answer, text: await answer.text(), location: answer.headers.get('location') };
  }

  function keep(line: string) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/max-age=0/i.test(line)) jar.delete(name);
    else jar.set(name, value);
  }

  async function logIn(returnTo = '/') {
    const out = await visit(`/login/github?return_to=${encodeURIComponent(returnTo)}`);
    const state = new URL(out.location ?? '').searchParams.get('state');
    return visit(`/login/callback?code=good&state=${state}`);
  }

  /** What the forms of this session carry. */
  async function formToken() {
    const token = jar.get('__Host-slipway') ?? '';
    const session = await installation.sessions.authenticate(token);
    return session?.formToken ?? '';
  }

  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    visit(path, { method: 'POST', body: new URLSearchParams(fields), headers });

  return {
    ...{ installation, jar, visit, logIn, formToken, post },
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}
