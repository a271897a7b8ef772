import { anInstallation, call } from './installation.ts';

export const path = '/api/v1/stacks/acme/network-prod/webhooks';
export const endpoint = 'https://receiver.example/hook';

/** A stack, and who asks about its webhooks. */
export async function withStack() {
  const installation = anInstallation();
  const stack = await installation.addStack();
  const [admin, reader] = [await installation.token('admin'), await installation.token('reader')];
  const as = (token: string) => (method: string, url: string, body?: unknown) =>
    call(installation, method, url, { token, body });
  const close = () => installation[Symbol.asyncDispose]();
  return { installation, stack, admin: as(admin), reader: as(reader), [Symbol.asyncDispose]: close };
}
