import { request } from 'node:http';
import { createServer } from 'node:net';

/** The form of a page, as a browser would send it. */
export interface Form {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

export function formOf(page: string): Form {
  const action = /<form method="post" action="([^"]*)"/.exec(page)?.[1];
  if (action === undefined) throw new Error(`there is no form in: ${page}`);
  const inputs = page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  const fields = Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, unescaped(value)]));
  return { action: unescaped(action), fields };
}

const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** Where GitHub sends the browser after the form. */
export async function sendToGithub({ action, fields }: Form): Promise<string> {
  const response = await fetch(action, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
  return response.headers.get('location') ?? `no way back: ${response.status} ${await response.text()}`;
}

export async function visit(url: string, method = 'GET') {
  const response = await fetch(url, { method });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The status of an answer to a request under another name for the same address. */
export function statusUnderHost(url: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.once('error', reject);
    asked.end();
  });
}

export async function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = createServer();
  probe.once('error', () => resolve(true));
  probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(false)));
  return promise;
}
