import { keyOf, type Place, type Value } from './command-tree.ts';

/** What bash and zsh write alike. */

/** As bash and zsh read it: the text and nothing else. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** What a shell does after which option, each once. */
function afterOptions(
  places: readonly Place[],
  offer: (value: Value) => string,
): ReadonlyMap<string, readonly string[]> {
  const keys = new Map<string, string[]>();
  for (const { words, options } of places) {
    for (const { flags, value } of options) {
      if (value === null) continue;
      const before = keys.get(offer(value)) ?? [];
      keys.set(offer(value), [...before, ...flags.map((flag) => `${keyOf(words)} ${flag}`)]);
    }
  }
  return keys;
}

/** The cases of bash and zsh for them. */
export const optionCases = (places: readonly Place[], offer: (value: Value) => string): string =>
  [...afterOptions(places, offer)]
    .map(([action, keys]) => `    ${keys.map(quoted).join('|')}) ${action}return ;;`)
    .join('\n');

/** The keys of every place below the program, as one pattern of bash and zsh. */
export const everyKey = (places: readonly Place[]): string =>
  places.flatMap(({ words }) => (words.length === 0 ? [] : [quoted(keyOf(words))])).join('|');
