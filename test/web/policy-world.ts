import type { Role } from '../../src/access/actor.ts';
import { anInstallation, apiRequest } from './installation.ts';

export const policiesPath = '/api/v1/policies';
export const denying = 'deny: ["no"]';
export const aPlanPolicy = { name: 'no deletes', kind: 'PLAN', account: 'acme', body: denying };

/** A stack of acme, and those who ask about policies; `globex` is an administrator of another account. */
export async function withPolicies(engine: NonNullable<Parameters<typeof anInstallation>[0]>['engine'] = {}) {
  const installation = anInstallation({ engine });
  const stack = await installation.addStack();
  const { token, web } = installation;

  const as = (bearer: string) => async (method: string, path: string, body?: unknown, headers?: Headers) => {
    const request = apiRequest(method, path, { token: bearer, body });
    for (const [name, value] of headers?.entries() ?? []) request.headers.set(name, value);
    const response = await web.fetch(request);
    const text = await response.text();
    const { status } = response;
    return { status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  };
  const tokenOf = async (role: Role, account: string | null = null) => as(await token(role, account));

  return {
    ...{ installation, stack },
    instance: await tokenOf('admin'),
    admin: await tokenOf('admin', 'acme'),
    writer: await tokenOf('writer', 'acme'),
    reader: await tokenOf('reader', 'acme'),
    globex: await tokenOf('admin', 'globex'),
    /** Of a person: they are no administrators of accounts, whatever their role on repositories. */
    person: async (login: string, method: string, path: string, body?: unknown) => {
      const actor = { kind: 'person', login, email: `${login}@example.com` } as const;
      const response = await web.fetchAs(actor, apiRequest(method, path, { body }));
      const text = await response.text();
      return { status: response.status, body: text === '' ? null : JSON.parse(text) };
    },
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}
