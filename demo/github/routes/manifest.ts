/** Registering the App from a manifest: the stand-in becomes the host of the App that was described. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import { notFound } from '../api-error.ts';
import type { ApiEnv } from '../pipeline.ts';
import { readBody } from '../request.ts';
import type { GithubState } from '../state.ts';
import { appView } from '../views/installation.ts';
import type { Webhooks } from '../webhooks.ts';

const manifestSchema = z.object({
  name: z.string().default('Slipway'),
  url: z.string(),
  redirect_url: z.string(),
  hook_attributes: z.object({ url: z.string(), active: z.boolean().optional() }).optional(),
  default_permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])).default({}),
  default_events: z.array(z.string()).default([]),
});
type Manifest = z.infer<typeof manifestSchema>;

export function manifestRoutes(state: GithubState, webhooks: Webhooks): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const codes = new Map<string, Manifest>();

  for (const path of ['/settings/apps/new', '/organizations/:login/settings/apps/new']) {
    routes.post(path, (c) => {
      const form = readBody(c, z.object({ manifest: z.string() }));
      const manifest = manifestSchema.parse(JSON.parse(form.manifest));
      const code = randomBytes(20).toString('hex');
      codes.set(code, manifest);
      const target = new URL(manifest.redirect_url);
      target.searchParams.set('code', code);
      const opaque = c.req.query('state');
      if (opaque !== undefined) target.searchParams.set('state', opaque);
      return c.redirect(target.toString(), 302);
    });
  }

  routes.post('/app-manifests/:code/conversions', (c) => {
    const code = c.req.param('code');
    const manifest = codes.get(code);
    codes.delete(code);
    if (!manifest) throw notFound();
    const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const webhookSecret = randomBytes(20).toString('hex');
    Object.assign(state.app, {
      id: state.nextId(),
      name: manifest.name,
      slug: manifest.name.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
      clientId: `Iv23${randomBytes(8).toString('hex')}`,
      clientSecret: randomBytes(20).toString('hex'),
      publicKeyPem: keys.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      permissions: manifest.default_permissions,
      events: manifest.default_events,
    });
    const url = manifest.hook_attributes?.url;
    webhooks.target = url === undefined ? null : { url, secret: webhookSecret };
    const answer = {
      ...appView(state, state.app),
      client_secret: state.app.clientSecret,
      webhook_secret: webhookSecret,
      // GitHub hands out PKCS#1.
      pem: keys.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    };
    return c.json(answer, 201);
  });

  return routes;
}
