/** Caches through the whole app: real npm, real sandboxes, and looks from outside. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, type Scenario, type ScenarioStack, startScenario, stash } from '../support/scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

const settings = { autodeploy: true, hooks: { beforeInit: ['sh -e ./hook.sh'] } };
const install = (...options: string[]) =>
  `npm install --no-audit --no-fund --prefix "$TMPDIR/installed" ${options.join(' ')} is-number@7.0.0
  echo "installed $(ls "$TMPDIR/installed/node_modules")"`;

/** The log of a run that executed this in its first hook, once it has FINISHED. */
async function runHook(
  { stack, repository }: ScenarioStack,
  script: string,
  branch = 'main',
): Promise<string> {
  const { api, github } = scenario;
  const files = { 'Pulumi.yaml': program(stash('one', 'first')), 'hook.sh': script };
  const { sha } = await github.commitAndPush(repository, { branch, message: 'Run', files, pusher: 'ada' });
  const { id } = await api.waitForRun(stack, sha);
  await api.waitForState(id, 'FINISHED', 120_000);
  return api.log(id);
}

function cacheOf({ repository }: ScenarioStack): string {
  const directory = join(scenario.dataDir, 'cache', String(repository.id));
  const [generation, ...others] = readdirSync(directory);
  expect(others).toEqual([]);
  return join(directory, generation ?? '');
}

/** Every name in it with its kind, mode, owner, size, time, target, and every content. */
async function fingerprint(directory: string): Promise<string> {
  const names = await execa('find', ['.', '-printf', '%P %y %m %U %s %T@ %l\n'], { cwd: directory });
  const contents = await execa('sh', ['-c', 'find . -type f -exec sha256sum {} +'], { cwd: directory });
  return [names, contents].map(({ stdout }) => stdout.split('\n').sort().join('\n')).join('\n');
}

test('the second run of a repository installs what the first one downloaded', async () => {
  const added = await scenario.addStack('downloads', settings);
  expect(await runHook(added, install())).toContain('installed is-number');
  expect(readdirSync(join(cacheOf(added), 'npm'))).toContain('_cacache');
  expect(await runHook(added, `echo again\n${install('--offline')}`)).toContain('installed is-number');
});

test('a preview that ruins its caches ruins nobody else’s', async () => {
  const added = await scenario.addStack('ruined', settings);
  await runHook(added, install());
  const before = await fingerprint(cacheOf(added));

  const attack = `
    for path in "$SLIPWAY_CACHE" "$XDG_CACHE_HOME" "$npm_config_cache" "$YARN_GLOBAL_FOLDER" "$PIP_CACHE_DIR" \\
      "$GOMODCACHE" "$GOCACHE" "$NUGET_PACKAGES"; do
      mkdir -p "$path"
      find "$path" -type f -exec sh -c 'echo evil > "$1"' sh {} \\;
      echo evil > "$path/evil"
      ln -s /etc/passwd "$path/link"
      chmod 0777 "$path"
    done
    grep -q evil "$npm_config_cache/evil" && echo 'the copy is written'
    find "$SLIPWAY_CACHE" -mindepth 1 -delete
    mount --bind / "$SLIPWAY_CACHE" || echo 'no mount'
    chmod 0 "$SLIPWAY_CACHE"`;
  const log = await runHook(added, attack, 'hostile');
  expect(log).toContain('the copy is written');
  expect(log).toContain('no mount');

  expect(await fingerprint(cacheOf(added))).toBe(before);
  expect(await runHook(added, `echo again\n${install('--offline')}`)).toContain('installed is-number');
});

test('what a run plants in the cache leads a preview nowhere, and is no hindrance', async () => {
  const added = await scenario.addStack('planted', settings);
  const key = join(scenario.dataDir, 'secret.key');
  await runHook(
    added,
    `cd "$SLIPWAY_CACHE"
    ln -s ${key} key
    ln -s ${scenario.dataDir} data
    ln -s ../../.. up
    ln -s . circle
    mkfifo pipe
    mkdir -p go/mod/module
    echo source > go/mod/module/file.go
    chmod 0444 go/mod/module/file.go
    chmod 0555 go/mod/module`,
  );
  const log = await runHook(
    added,
    `cd "$SLIPWAY_CACHE"
    find . ! -type d -printf 'found %P %y %l.\\n' | sort
    cat key data/secret.key up/secret.key || echo 'no key'
    stat -c 'module %a' go/mod/module
    cat go/mod/module/file.go`,
    'curious',
  );
  const found = [...log.matchAll(/^found (.*)\.$/gm)].map((match) => match[1]);
  expect(found).toEqual([
    'circle l .',
    `data l ${scenario.dataDir}`,
    'go/mod/module/file.go f ',
    `key l ${key}`,
    'pipe p ',
    'up l ../../..',
  ]);
  expect(log).toContain('no key');
  expect(log).toMatch(/^module 555\nsource$/m);
  expect(log).not.toContain('could not be');
  await expect.poll(() => readdirSync(join(scenario.dataDir, 'workspaces'))).toEqual([]);
});
