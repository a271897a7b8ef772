import type { Logger } from '../logger.ts';
import { freeSpace } from '../sandbox/watching/disk-use.ts';

/**
 * Whether there is room for another run: below the floor nothing is begun, so that the server can still store what
 * happens to the runs it has. Says so in the log when it changes.
 */
export function createRoomCheck(parts: {
  readonly directory: string;
  readonly floorBytes: number;
  readonly logger: Logger;
}): () => Promise<boolean> {
  const { directory, floorBytes, logger } = parts;
  let had = true;

  return async () => {
    if (floorBytes === 0) return true;
    // A file system that does not answer has no room.
    const freeBytes = await freeSpace(directory).catch(() => 0);
    const has = freeBytes >= floorBytes;
    if (has !== had) {
      const fields = { freeBytes, floorBytes, directory };
      if (has) logger.info(fields, 'there is room on the disk again, runs go on');
      else logger.error(fields, 'the disk is too full to begin runs: they stay READY until there is room');
    }
    had = has;
    return has;
  };
}
