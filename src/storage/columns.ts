/**
 * Portable column types only, so that a second database can follow: ids are text (ULID) or GitHub's integers, times are
 * integer milliseconds since the epoch, flags 0 or 1, JSON is text that a store parses.
 */
export type Flag = 0 | 1;
export type Json = string;
