import { expect, test } from 'vitest';
import { openBrowser } from './browser.ts';

test('scripts import each other by the paths that they are served at', async () => {
  await using all = openBrowser();
  const { installation } = all;
  installation.roles.set('ada', 'reader');
  await all.logIn();
  const run = await installation.addRun(await installation.addStack());
  const { text } = await all.visit(`/runs/${run.id}/log`);

  const waiting = [...text.matchAll(/<script type="module" src="([^"]+)"/g)].map(([, path]) => path ?? '');
  const seen = new Set<string>();
  for (const path of waiting) {
    if (seen.has(path)) continue;
    seen.add(path);
    const script = await all.visit(path);
    expect([path, script.answer.status]).toEqual([path, 200]);
    expect(script.answer.headers.get('cache-control')).toContain('immutable');
    for (const [, imported = ''] of script.text.matchAll(/\bfrom '([^']+)'/g)) {
      expect(imported).toMatch(/^\/assets\/[0-9a-f]{12}\/[a-z-]+\.js$/);
      waiting.push(imported);
    }
  }
  expect([...seen].map((path) => path.split('/').at(-1))).toEqual(
    expect.arrayContaining(['time.js', 'live.js', 'event-stream.js', 'replace.js']),
  );
});
