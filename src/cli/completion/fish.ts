import { keyOf, type OfferedOption, type Place, type Value } from './command-tree.ts';

export function fishCompletion(places: readonly Place[]): string {
  const keys = places.filter(({ words }) => words.length > 0).map(({ words }) => quoted(keyOf(words)));
  return `# slipway: completion for fish. Use it by: slipway completion fish | source
function __slipway_at
    set -l at ''
    for word in (commandline -opc)[2..]
        contains -- "$at $word" ${keys.join(' ')}; and set at "$at $word"
    end
    test "$at" = "$argv[1]"
end
complete -c slipway -f
${places.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ words, commands, options, argument }: Place): string[] {
  const here = `complete -c slipway -n ${quoted(`__slipway_at ${quoted(keyOf(words))}`)}`;
  return [
    ...commands.map(({ name, description }) => `${here} -a ${name} -d ${quoted(description)}`),
    ...(commands.length > 0 || argument === 'any' ? [] : [`${here} ${offer(argument)}`]),
    ...options.map((option) => `${here} ${flagsOf(option)}`),
  ];
}

function flagsOf({ flags, description, value }: OfferedOption): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  // Exclusive: a value, and no file for it.
  const takes = value === null ? '' : value === 'file' ? ' -r -F' : ` -x ${offer(value)}`.trimEnd();
  const says = description === '' ? '' : ` -d ${quoted(description)}`;
  return `${names.join(' ')}${takes}${says}`;
}

function offer(value: Value): string {
  if (value === 'file') return '-F';
  return value === 'any' ? '' : `-a ${quoted(value.join(' '))}`;
}

/** In fish a backslash escapes inside single quotes. */
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
