import { failureOf } from '../failure.ts';
import { statusOf } from '../github-error.ts';
import { GivenUp } from './sender.ts';

/**
 * For what people can do without: a conversation is locked, a permission was not granted. Until somebody changes that
 * GitHub says no, and the next wish asks again. Rejects in any case.
 */
export const givenUpIfForbidden =
  (what: string) =>
  (error: unknown): never => {
    const mayBeGrantedLater = failureOf(error, 0).kind === 'later';
    if (statusOf(error) !== 403 || mayBeGrantedLater || !(error instanceof Error)) throw error;
    throw new GivenUp(`GitHub refuses ${what}: ${error.message}`, { cause: error });
  };
