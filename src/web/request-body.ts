import { problem } from './problem.ts';

export const maxJsonBytes = 1024 * 1024;

/** Reads at most `maxBytes`: what is announced or turns out to be larger is not read on. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array | 'too-large'> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return 'too-large';
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    size += value.byteLength;
    if (size > maxBytes) {
      // Not awaited: a stalled sender must not hold up the answer.
      reader.cancel().catch(() => {});
      return 'too-large';
    }
    chunks.push(value);
  }
}

export function bodyTooLarge(maxBytes: number): Response {
  return problem('payload-too-large', {
    detail: `The body is larger than ${maxBytes} bytes.`,
    // What is left of the body would otherwise have to be read before the next request.
    headers: { connection: 'close' },
  });
}

/**
 * The request again, its body read within the limit and known to be JSON; a Response when it is refused.
 * `isRequired`: none is refused, too; else none counts as \`{}\`. Here, before any route: the router's own validation would treat a body of another type as `{}`.
 */
export async function withJsonBody(request: Request, isRequired: boolean): Promise<Request | Response> {
  const body = await readBody(request, maxJsonBytes);
  if (body === 'too-large') return bodyTooLarge(maxJsonBytes);
  if (isRequired && body.byteLength === 0) {
    return problem('invalid-input', { detail: 'This needs a body, and there is none.' });
  }
  const headers = new Headers(request.headers);
  // The length of `{}` is another.
  headers.delete('content-length');
  if (body.byteLength > 0 && !isJson(headers.get('content-type'))) {
    return problem('unsupported-media-type', { detail: 'The body must be application/json.' });
  }
  headers.set('content-type', 'application/json');
  const text = body.byteLength === 0 ? '{}' : decode(body);
  if (text === null || !parses(text)) {
    return problem('not-json', { detail: 'The body is not valid JSON in UTF-8.' });
  }
  return new Request(request.url, { method: request.method, headers, body: text, signal: request.signal });
}

function isJson(contentType: string | null): boolean {
  return contentType?.split(';')[0]?.trim().toLowerCase() === 'application/json';
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
