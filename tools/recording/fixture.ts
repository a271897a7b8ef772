import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { neutraliser } from './neutral.ts';
import type { Recording } from './recorder.ts';

/** Writes a recording as a folder of its name below `folder`: its commands, streams and files. */
export async function writeFixture(folder: string, tool: string, recording: Recording): Promise<void> {
  const { name, commands, files, hasPlan, places } = recording;
  // What a command captures is one of the files.
  const streams = commands.filter(({ command }) => command.capturesStdout !== true);
  const about = {
    tool,
    commands: commands.map(({ command, result }) => ({
      argv: command.argv,
      environment: command.environment,
      exitCode: result.exitCode,
    })),
    hasPlan,
  };
  const neutral = neutraliser(places);
  const target = join(folder, name);
  await mkdir(target, { recursive: true });
  const texts = {
    'command.json': `${JSON.stringify(about, null, 2)}\n`,
    'stdout.txt': streams.map(({ result }) => result.stdout).join(''),
    'stderr.txt': commands.map(({ result }) => result.stderr).join(''),
    ...files,
  };
  // One neutraliser for all of them: an identifier has the same number everywhere.
  for (const [file, text] of Object.entries(texts)) await writeFile(join(target, file), neutral(text));
}
