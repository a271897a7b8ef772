import { keyOf, type Place, type Value } from './command-tree.ts';
import { everyKey, optionCases, quoted } from './posix-cases.ts';

/** Zsh shows what each word means. */
export function zshCompletion(places: readonly Place[]): string {
  return `# slipway: completion for zsh. Use it by: source <(slipway completion zsh)
_slipway() {
  local at='' i
  local -a commands options
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      ${everyKey(places)}) at="$at \${words[i]}" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${optionCases(places, offer)}
  esac
  case "$at" in
${places.map(placeCase).join('\n')}
  esac
}
compdef _slipway slipway
`;
}

/** In `_describe` a colon ends the word. */
const described = (name: string, description: string): string =>
  quoted(`${name.replaceAll(':', '\\:')}:${description}`);

function offer(value: Value): string {
  if (value === 'file') return '_files; ';
  return value === 'any' ? '' : `compadd -- ${value.map(quoted).join(' ')}; `;
}

function placeCase({ words, commands, options, argument }: Place): string {
  const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.description)));
  const own =
    commands.length > 0
      ? [
          `commands=(${commands.map(({ name, description }) => described(name, description)).join(' ')})`,
          '_describe command commands',
        ]
      : [offer(argument).replace(/; $/, '')];
  const all = [`options=(${flags.join(' ')})`, ...own, '_describe -o option options'];
  return `    ${quoted(keyOf(words))}) ${all.filter((line) => line !== '').join('; ')} ;;`;
}
