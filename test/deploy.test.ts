import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { settingNames } from '../src/config.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

it('the Containerfile copies what is there, and what .containerignore lets through', () => {
  const copied = [...read('Containerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths]) =>
    (paths ?? '').split(' '),
  );
  const sent = [...read('.containerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path);

  expect(copied.length).toBeGreaterThan(4);
  expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(copied.filter((path) => !sent.includes(path))).toEqual([]);
});

it('what runs reads nothing that the image does not have', () => {
  const image = ['app.yml', 'bin', 'src', 'tools', 'package.json'];
  const outside = [...read('src/github/app-definition.ts').matchAll(/'\.\.\/\.\.\/([\w.-]+)'/g)].map(
    ([, path]) => path,
  );

  expect(outside.filter((path) => path !== undefined && !image.includes(path))).toEqual([]);
});

it.each(['Containerfile', 'deploy/slipway.service'])('%s sets only settings that there are', (path) => {
  const notOurs = ['NODE_ENV', 'HOME', 'PATH'];
  const lines = read(path).match(/^(ENV |Environment=).*$/gm) ?? [];
  const names = lines.flatMap((line) =>
    [...line.matchAll(/(?:^ENV |^Environment=| )([A-Z_]+)=/g)].map(([, name]) => name),
  );

  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => name && !notOurs.includes(name) && !settingNames.includes(name))).toEqual([]);
});
