import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openStores } from '../../src/storage/stores.ts';
import { tempDirectory } from '../support/temp-database.ts';

it('opens with the key it was made with, and refuses another one before anything is read', async () => {
  using directory = tempDirectory();
  const paths = {
    dataDir: join(directory.path, 'data'),
    databasePath: join(directory.path, 'data', 'slipway.db'),
    secretKeyPath: join(directory.path, 'secret.key'),
  };
  await (await openStores(paths)).database[Symbol.asyncDispose]();
  await (await openStores(paths)).database[Symbol.asyncDispose]();

  writeFileSync(paths.secretKeyPath, randomBytes(32));

  await expect(openStores(paths)).rejects.toMatchObject({ code: 'secret-key-wrong' });
});
