import { createRoute } from '@hono/zod-openapi';
import { anyObject, problems, refuses } from './api/route-parts.ts';
import { type Api, newApi } from './api.ts';
import { problem, problemResponse } from './problem.ts';
import { readBody } from './request-body.ts';

/** GitHub's inbox, as the web needs it: github/inbox.ts, which this folder must not import. */
export interface GithubInbox {
  /** More is not read. */
  readonly maxBodyBytes: number;
  receive(request: {
    readonly headers: { get(name: string): string | null };
    readonly body: Uint8Array | 'too-large';
  }): Promise<{
    readonly status: number;
    readonly problem: { readonly code: string; readonly message: string } | null;
  }>;
}

const receiveRoute = createRoute({
  method: 'post',
  path: '/api/github/webhooks',
  operationId: 'receiveFromGithub',
  tags: ['github'],
  summary: "GitHub's webhooks, signed with the secret of the App",
  request: {
    body: {
      content: {
        'application/json': {
          schema: anyObject.openapi({ example: { zen: 'Keep it logically awesome.', hook_id: 1 } }),
        },
      },
    },
  },
  ...refuses(
    'header-missing',
    'signature-invalid',
    'not-json',
    'payload-too-large',
    'unsupported-media-type',
    'github-not-configured',
  ),
  responses: { 202: { description: 'Stored.' }, ...problems },
});

/** `github` null: the server has no GitHub App yet. */
export function githubRoutes(github: GithubInbox | null): Api {
  const api = newApi();
  api.openAPIRegistry.registerPath(receiveRoute);
  // Not by `openapi`: its validation reads the body before its signature was checked.
  api.post(receiveRoute.path, async (c) => {
    if (github === null) {
      return problem('github-not-configured', { detail: 'This server has no GitHub App settings.' });
    }
    const body = await readBody(c.req.raw, github.maxBodyBytes);
    const receipt = await github.receive({ headers: c.req.raw.headers, body });
    if (receipt.problem === null) return new Response(null, { status: receipt.status });
    const { code, message } = receipt.problem;
    return problemResponse(code, receipt.status, {
      detail: message,
      ...(body === 'too-large' ? { headers: { connection: 'close' } } : {}),
    });
  });
  return api;
}
