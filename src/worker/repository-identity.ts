import type { RunIdentity } from '../sandbox/sandbox.ts';

/** Runs that share a directory of their repository (state, cache) must be able to read each other's files in it. */
export const repositoryIdentity = (repositoryId: number): RunIdentity => ({
  key: `state of ${repositoryId}`,
});
