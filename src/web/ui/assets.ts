import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Hono } from 'hono';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly body: string;
}

const directory = join(import.meta.dirname, 'assets');

/** By file name. Read once: an update of the server is a restart. The path changes with the content. */
const assets: ReadonlyMap<string, Asset> = new Map(
  readdirSync(directory).flatMap((name) => {
    const type = types[extname(name)];
    if (type === undefined) return [];
    const body = readFileSync(join(directory, name), 'utf8');
    const digest = createHash('sha256').update(body).digest('hex').slice(0, 12);
    return [[name, { path: `/assets/${digest}/${name}`, type, body }] as const];
  }),
);

/** Where a page finds the file. */
export function assetPath(name: string): string {
  const asset = assets.get(name);
  if (!asset) throw new Error(`there is no asset ${name}`);
  return asset.path;
}

/** Scripts and styles: nothing in them depends on who asks. */
export function assetRoutes(): Hono {
  const routes = new Hono();
  for (const { path, type, body } of assets.values()) {
    routes.get(path, (c) =>
      c.body(body, 200, { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' }),
    );
  }
  return routes;
}
