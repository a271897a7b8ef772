import { defineConfig } from 'vitest/config';

/** The long tests: the whole app with real git, pulumi and bubblewrap. `npm run test:full` sets these up first. */
export default defineConfig({
  test: {
    include: ['test/full/**/*.test.ts', 'test/hostile/**/*.test.ts'],
    setupFiles: ['test/support/setup.ts'],
    // One at a time: each starts a server of its own that keeps both cores busy.
    maxWorkers: 1,
    fileParallelism: false,
    // Of the tests of one file that say `concurrent`: two cores.
    maxConcurrency: 2,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
