import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { comparable } from './comparable.ts';

/**
 * What is new in recordings, as a unified difference of their comparable forms; empty when they say the same. `names`
 * are the fixtures to look at: one that lies in one folder only differs wholly.
 */
export async function differencesOf(
  folders: { readonly committed: string; readonly recorded: string },
  names: readonly string[],
): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'slipway-differences-'));
  try {
    for (const side of ['committed', 'recorded'] as const) {
      await mkdir(join(root, side));
      for (const name of names) await copyComparable(join(folders[side], name), join(root, side, name));
    }
    const args = ['diff', '--no-index', '--no-prefix', '--no-color', 'committed', 'recorded'];
    // 1 stands for a difference.
    const { exitCode, stdout, stderr } = await execa('git', args, { cwd: root, reject: false });
    if (exitCode !== 0 && exitCode !== 1) throw new Error(`git diff: ${stderr}`);
    return stdout;
  } finally {
    await rm(root, { recursive: true });
  }
}

/** Puts a recording in the place of the committed one; without a recording that one goes. */
export async function replaceFixture(committed: string, recorded: string): Promise<void> {
  await rm(committed, { recursive: true, force: true });
  if ((await filesIn(recorded)).length > 0) await cp(recorded, committed, { recursive: true });
}

async function copyComparable(from: string, to: string): Promise<void> {
  for (const file of await filesIn(from)) {
    const target = join(to, file);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, comparable(file, await readFile(join(from, file), 'utf8')));
  }
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
