import { OpenAPIHono } from '@hono/zod-openapi';
import type { Actor } from '../access/actor.ts';
import type { Origin } from '../access/origin.ts';
import { fieldIssues } from '../user-error.ts';
import type { Credential } from './authenticate.ts';
import { problem } from './problem.ts';

export interface WebEnv {
  Bindings: {
    /** Given by callers in this process only: nothing of a socket gets here (see server.ts). */
    readonly actor?: Actor;
    readonly origin: Origin;
  };
  /** Set by gates/authentication.ts. */
  Variables: {
    actor: Actor;
    origin: Origin;
    /** Null: a caller in this process. */
    credential: Credential | null;
    /** Whether the credential is still worth something, for answers that go on. */
    isStillKnown: () => Promise<boolean>;
  };
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
