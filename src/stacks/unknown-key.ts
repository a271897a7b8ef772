import { nearestWord } from './nearest-word.ts';

/** What is said about a key that is not known. */
export function unknownKey(key: string, known: readonly string[]): string {
  const meant = nearestWord(key, known);
  const shown = key.length > 60 ? `${key.slice(0, 60)}…` : key;
  const help = meant === null ? `known here are ${known.join(', ')}` : `did you mean ${meant}?`;
  return `unknown key ${shown}; ${help}`;
}
