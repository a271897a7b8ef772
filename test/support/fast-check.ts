import fc from 'fast-check';

/**
 * The same cases every time, so that a test that passed here passes elsewhere. `SEED=<number>` tries others, and
 * repeats what a failure printed.
 */
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 1) });

export { fc };
