import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 bits, fit for a URL. */
export const newSecretWord = (): string => randomBytes(32).toString('base64url');

/** In constant time, whatever the lengths. */
export function isSameWord(given: string, expected: string): boolean {
  const digest = (word: string) => createHash('sha256').update(word).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

export interface OneTimeWords {
  issue(): string;
  /** True once for each word that was issued. */
  spend(given: string): boolean;
}

/** A page that is opened again gets another word; the one in the first tab stays good. */
const maxOutstanding = 16;

export function createOneTimeWords(): OneTimeWords {
  let outstanding: readonly string[] = [];
  return {
    issue() {
      const word = newSecretWord();
      outstanding = [...outstanding, word].slice(-maxOutstanding);
      return word;
    },
    spend(given) {
      const left = outstanding.filter((word) => !isSameWord(given, word));
      const isSpent = left.length < outstanding.length;
      outstanding = left;
      return isSpent;
    },
  };
}
