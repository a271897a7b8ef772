import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProjectRoot } from '../../src/worker/project-root.ts';
import { tempDirectory } from '../support/temp-database.ts';

const projectFile = { called: 'Pulumi.yaml', matches: (name: string) => name === 'Pulumi.yaml' };

/** A workspace whose tree holds a project file in each of these directories. */
function aWorkspace(...projects: readonly string[]) {
  const directory = tempDirectory();
  const host = { tree: join(directory.path, 'tree') };
  const workspace = { host, inside: { tree: '/workspace' } };
  for (const project of projects) {
    mkdirSync(join(host.tree, project), { recursive: true });
    writeFileSync(join(host.tree, project, 'Pulumi.yaml'), 'name: x\n');
  }
  mkdirSync(host.tree, { recursive: true });
  const link = (path: string, target: string) => {
    mkdirSync(dirname(join(host.tree, path)), { recursive: true });
    symlinkSync(target, join(host.tree, path));
  };
  const find = (projectRoot: string) => findProjectRoot(workspace, projectRoot, projectFile);
  return { directory, host, link, find, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}
const found = (inside: string) => ({ kind: 'found', inside });
const unusable = (reason: string) => ({
  kind: 'unusable',
  reason: expect.stringContaining(reason),
  hint: expect.stringMatching(/^(Correct|Commit) .+\.$/),
});

describe('the project root', () => {
  it('is where the stack says, as the commands see it', async () => {
    using workspace = aWorkspace('', 'infra/prod', '..hidden');

    expect(await workspace.find('')).toEqual(found('/workspace'));
    expect(await workspace.find('infra/prod')).toEqual(found('/workspace/infra/prod'));
    expect(await workspace.find('..hidden')).toEqual(found('/workspace/..hidden'));
  });

  it('may be a symbolic link, or lie behind one, inside the checkout', async () => {
    using workspace = aWorkspace('infra/prod');
    workspace.link('current', 'infra/prod');
    workspace.link('alias', 'infra');
    workspace.link('up/back', '../infra/prod');

    expect(await workspace.find('current')).toEqual(found('/workspace/infra/prod'));
    expect(await workspace.find('alias/prod')).toEqual(found('/workspace/infra/prod'));
    expect(await workspace.find('up/back')).toEqual(found('/workspace/infra/prod'));
  });

  it.each([
    ['out', '/etc'],
    ['out', '../..'],
    ['out', '../home'],
    ['out', '../treeful'],
  ])('%s -> %s is refused: it leads out of the checkout', async (path, target) => {
    using workspace = aWorkspace('infra');
    for (const sibling of ['home', 'treeful']) mkdirSync(join(workspace.directory.path, sibling));
    workspace.link(path, target);

    expect(await workspace.find(path)).toEqual(unusable('leads out of the repository'));
  });

  it('is refused behind a link that leads out on the way', async () => {
    using workspace = aWorkspace('infra');
    mkdirSync(join(workspace.directory.path, 'home/project'), { recursive: true });
    workspace.link('out', '../home');
    expect(await workspace.find('out/project')).toEqual(unusable('leads out of the repository'));
  });

  it('is refused where there is nothing, a broken link, a circle, or a file', async () => {
    using workspace = aWorkspace('infra');
    workspace.link('broken', 'nowhere');
    workspace.link('circle', 'circle');
    const missing = unusable('does not exist in this commit');

    expect(await workspace.find('missing')).toEqual(missing);
    expect(await workspace.find('broken')).toEqual(missing);
    expect(await workspace.find('circle')).toEqual(missing);
    expect(await workspace.find('infra/Pulumi.yaml')).toEqual(unusable('is not a directory'));
  });

  it('is refused without a project file: the tool would look further up and run another project', async () => {
    using workspace = aWorkspace('');
    mkdirSync(join(workspace.host.tree, 'infra'));
    expect(await workspace.find('infra')).toEqual(unusable('Pulumi.yaml'));
  });

  it('is refused with a project file that is a directory, or a link that leads nowhere or out', async () => {
    using workspace = aWorkspace('infra');
    workspace.link('inside/Pulumi.yaml', '../infra/Pulumi.yaml');
    workspace.link('outside/Pulumi.yaml', '/etc/passwd');
    workspace.link('nowhere/Pulumi.yaml', 'gone.yaml');
    mkdirSync(join(workspace.host.tree, 'directory/Pulumi.yaml'), { recursive: true });

    expect(await workspace.find('inside')).toEqual(found('/workspace/inside'));
    expect(await workspace.find('outside')).toEqual(unusable('leads out of the repository'));
    expect(await workspace.find('nowhere')).toEqual(unusable('Pulumi.yaml is not a file'));
    expect(await workspace.find('directory')).toEqual(unusable('Pulumi.yaml is not a file'));
  });
});
