import { lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { randomProviderMirror } from '../../support/random-provider.ts';
import { tempDirectory } from '../../support/temp-database.ts';
import { installed, project } from './real-programs.ts';

const program = `terraform {
  required_providers {
    random = { source = "hashicorp/random" }
  }
}
resource "random_password" "door" {
  length = 12
}
`;

test.each(installed)(
  '$flavour.name: runs that begin at once install a provider through one cache',
  async ({ vendor }) => {
    using directory = tempDirectory();
    const cache = join(directory.path, 'cache');
    const configuration = join(directory.path, 'config.tfrc');
    writeFileSync(configuration, await randomProviderMirror(join(directory.path, 'mirror')));
    await using stack = new AsyncDisposableStack();
    const projects = [1, 2, 3, 4].map(() => stack.use(project(vendor, { stateUrl: 'file:///state' }, cache)));

    const runs = await Promise.all(
      projects.map(async (each) => {
        each.write('main.tf', program);
        return (await each.initialize({ TF_CLI_CONFIG_FILE: configuration })).at(-1);
      }),
    );
    expect(runs.map((last) => [last?.exitCode, last?.stderrTail])).toEqual(runs.map(() => [0, '']));

    for (const { context } of projects) {
      const providers = join(context.paths.home, '.terraform-data/providers');
      const links = readdirSync(providers, { recursive: true, encoding: 'utf8' }).filter((path) =>
        lstatSync(join(providers, path)).isSymbolicLink(),
      );
      expect(links).toEqual([expect.stringMatching(/\/hashicorp\/random\/3\.6\.0\/linux_/)]);
    }
    const [first] = projects;
    const planned = await first?.plan('apply', { TF_CLI_CONFIG_FILE: configuration });
    expect(planned?.result).toMatchObject({ kind: 'planned', hasChanges: true });
  },
);
