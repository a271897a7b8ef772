import type { z } from 'zod';
import { UserError } from '../../user-error.ts';
import { notFound, type Problem } from '../problem.ts';

/**
 * The JSON API as pages use it: with the rights of the person who looks, in this process. Pages have no other way to
 * what they show or change, so they cannot show or change more than the API would.
 */
export interface InProcessApi {
  /** Throws `ApiRefusal`. */
  get<T extends z.ZodType>(path: string, schema: T): Promise<z.output<T>>;
  /** The same with what `ifMatch` takes, so that a change can be refused that somebody else was faster than. */
  tagged<T extends z.ZodType>(path: string, schema: T): Promise<Tagged<z.output<T>>>;
  /** What is no JSON, as text. Throws `ApiRefusal`. */
  text(path: string): Promise<string>;
  /** Throws `ApiRefusal`. The answer's JSON; null without one. */
  send(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    options?: { readonly ifMatch: string | null },
  ): Promise<unknown>;
}

export interface Tagged<T> {
  readonly value: T;
  /** Null: it has none, and changes of it are not guarded. */
  readonly etag: string | null;
}

/** A problem of the API, for people: with its status and what else it says. */
export class ApiRefusal extends UserError {
  readonly status: number;

  constructor({ status, code, detail, hint, errors: issues = [] }: Problem) {
    super(code, detail, { issues, ...(hint !== undefined && { hint }) });
    this.name = 'ApiRefusal';
    this.status = status;
  }
}

/** Never asked of a name server: it only makes the path an address. */
const origin = 'http://in-process';

export function createInProcessApi(fetch: (request: Request) => Promise<Response>): InProcessApi {
  async function ask(path: string, init: RequestInit): Promise<Response> {
    const request = new Request(`${origin}${path}`, init);
    // An id that is ".." would make it another route's address.
    if (new URL(request.url).pathname !== path.split('?', 1)[0]) throw notFound();
    const answer = await fetch(request);
    if (answer.ok) return answer;
    throw new ApiRefusal({ ...((await answer.json()) as Problem), status: answer.status });
  }

  return {
    async get(path, schema) {
      return schema.parse(await (await ask(path, {})).json());
    },
    async tagged(path, schema) {
      const answer = await ask(path, {});
      return { value: schema.parse(await answer.json()), etag: answer.headers.get('etag') };
    },
    text: async (path) => (await ask(path, {})).text(),
    async send(method, path, body, { ifMatch } = { ifMatch: null }) {
      const headers = {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(ifMatch !== null && { 'if-match': ifMatch }),
      };
      const answer = await ask(path, {
        ...{ method, headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return answer.headers.get('content-type')?.includes('json') ? answer.json() : null;
    },
  };
}
