import { apiRequest, type Installation } from './installation.ts';

export interface SeenEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: unknown;
}

/** The events of a stream as they come; null at its end. `heads` are sent with the request. */
export async function followed(
  { web }: Pick<Installation, 'web'>,
  path: string,
  token: string,
  heads: Record<string, string> = {},
) {
  const request = apiRequest('GET', path, { token });
  for (const [name, value] of Object.entries(heads)) request.headers.set(name, value);
  const response = await web.fetch(request);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  let seenText = '';
  async function next(): Promise<SeenEvent | null> {
    for (;;) {
      const end = buffer.indexOf('\n\n');
      if (end >= 0) {
        const lines = buffer.slice(0, end).split('\n');
        buffer = buffer.slice(end + 2);
        const field = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        const event = field('event');
        if (event !== undefined) return { id: field('id'), event, data: JSON.parse(field('data') ?? 'null') };
        continue;
      }
      const chunk = await reader?.read();
      if (!chunk || chunk.done) return null;
      buffer += chunk.value;
      seenText += chunk.value;
    }
  }
  return { response, next, text: () => seenText, stop: () => reader?.cancel() };
}
