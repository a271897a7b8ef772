/** Why a signature does not fit: a word for programs, and a sentence or two for people. */
export interface Cause {
  readonly code: CauseCode;
  readonly text: string;
}

type CauseCode =
  /** The header: how its value is written. */
  | 'missing'
  | 'padding'
  | 'prefix-missing'
  | 'prefix-wrong'
  | 'upper-case'
  | 'wrong-encoding'
  | 'wrong-algorithm'
  | 'truncated'
  | 'too-long'
  | 'list-separator'
  | 'malformed'
  /** What Standard Webhooks sign beside the body. */
  | 'id-missing'
  | 'timestamp-missing'
  | 'timestamp-too-old'
  | 'timestamp-in-future'
  | 'secret-empty'
  | 'secret-changed'
  | 'body-changed'
  | 'body-empty'
  | 'body-too-long'
  | 'unknown';

/** One way in which a secret or a body may have been changed on the way to a signature. */
export interface Guess {
  /** Null: not changed at all. */
  readonly cause: Cause | null;
  readonly bytes: Uint8Array;
}

/** The guesses that differ from what was given, each once, the likelier first. */
export function distinct(given: Uint8Array, guesses: readonly Guess[]): readonly Guess[] {
  const seen = new Set([Buffer.from(given).toString('base64')]);
  return guesses.filter(({ bytes }) => {
    const key = Buffer.from(bytes).toString('base64');
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
