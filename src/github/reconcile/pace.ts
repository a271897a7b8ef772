/** How often everything is compared with GitHub. */
export const everyMs = 5 * 60_000;
/** GitHub did not answer: soon again, but not at its throat. */
export const againMs = 60_000;

/** Up to a tenth more or less, so that many installations do not ask at the same moment. `random`: 0 up to 1. */
export const jittered = (ms: number, random: number): number => Math.round(ms * (0.9 + 0.2 * random));
