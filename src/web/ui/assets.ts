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

const names = readdirSync(directory).filter((name) => extname(name) in types);

/** By file name. Read once: an update of the server is a restart. The path changes with the content. */
const assets = new Map<string, Asset>();
for (const name of names) load(name, []);

/** A script that imports another (`from './other.js'`) has that one's path in it, so its own changes with both. */
function load(name: string, importers: readonly string[]): Asset {
  const known = assets.get(name);
  if (known) return known;
  if (!names.includes(name)) throw new Error(`there is no asset ${name}`);
  if (importers.includes(name))
    throw new Error(`assets import each other: ${[...importers, name].join(', ')}`);
  const type = types[extname(name)] ?? '';
  const text = readFileSync(join(directory, name), 'utf8');
  const body = text.replaceAll(
    /^(import .*|\} )from '\.\/([a-z-]+\.js)';$/gm,
    (_, start: string, imported: string) => `${start}from '${load(imported, [...importers, name]).path}';`,
  );
  const digest = createHash('sha256').update(body).digest('hex').slice(0, 12);
  const asset = { path: `/assets/${digest}/${name}`, type, body };
  assets.set(name, asset);
  return asset;
}

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
