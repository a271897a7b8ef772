import { readFile } from 'node:fs/promises';
import { exitCodes } from './exit-codes.ts';
import { CliFailure } from './failure.ts';

/** The content of a file that was named on the command line. */
export async function readNamed(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new CliFailure(exitCodes.failed, `${path}: ${reason}`);
  }
}
