import { defineConfig } from 'vitest/config';

/**
 * `unit` needs nothing but Node, git, python3 and openssl; `tools` drives the real pulumi, opa and bubblewrap,
 * which `npm test` sets up first, go, and package registries by their clients; `browser` looks at the pages with Chromium.
 */
const tools = [
  'test/scenarios/**/*.test.ts',
  'test/policies/opa/**/*.test.ts',
  'test/sandbox/**/*.test.ts',
  'test/policies/opa*.test.ts',
  'test/vendors/**/*.test.ts',
  'test/webhooks/receivers/go.test.ts',
];

export default defineConfig({
  test: {
    setupFiles: ['test/support/setup.ts'],
    // Two cores: more workers than that only make time-outs likelier.
    maxWorkers: 2,
    testTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...tools, 'test/browser/**', 'test/full/**', 'test/hostile/**'],
        },
      },
      { extends: true, test: { name: 'tools', include: tools, testTimeout: 120_000, hookTimeout: 120_000 } },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
