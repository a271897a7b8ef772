import { OpenAPIHono } from '@hono/zod-openapi';
import type { Actor } from '../access/actor.ts';
import { fieldIssues } from '../user-error.ts';
import { problem } from './problem.ts';

export interface WebEnv {
  /** Given by in-process callers only: nothing of a socket gets here (see server.ts). */
  Bindings: { readonly actor?: Actor };
  Variables: { actor: Actor };
}

export type Api = OpenAPIHono<WebEnv>;

/** A router whose input is validated by the schemas of its routes, with our answer for what does not fit. */
export function newApi(): Api {
  return new OpenAPIHono<WebEnv>({
    defaultHook: (result) => {
      if (result.success) return undefined;
      const errors = fieldIssues(result.error.issues);
      const first = errors[0];
      const detail = first ? `${first.path || 'input'}: ${first.message}` : 'The input is not valid.';
      return problem('invalid-input', { detail, errors });
    },
  });
}
