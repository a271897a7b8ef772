import { keyOf, type Place, type Value } from './command-tree.ts';
import { everyKey, optionCases, quoted } from './posix-cases.ts';

/** Bash offers words without what they mean. */
export function bashCompletion(places: readonly Place[]): string {
  return `# slipway: completion for bash. Use it by: source <(slipway completion bash)
_slipway() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at='' options='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${everyKey(places)}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$at $prev" in
${optionCases(places, offer)}
  esac
  case "$at" in
${places.map(placeCase).join('\n')}
  esac
  if [[ $cur == -* ]]; then words=$options; fi
  if [[ $words == '<file>' ]]; then compopt -o default; return; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _slipway slipway
`;
}

function offer(value: Value): string {
  if (value === 'file') return 'compopt -o default; ';
  return value === 'any' ? '' : `COMPREPLY=($(compgen -W ${quoted(value.join(' '))} -- "$cur")); `;
}

function placeCase({ words, commands, options, argument }: Place): string {
  const flags = quoted(options.flatMap((option) => option.flags).join(' '));
  const own = commands.length > 0 ? commands.map(({ name }) => name) : [argumentWords(argument)];
  return `    ${quoted(keyOf(words))}) options=${flags} words=${quoted(own.join(' '))} ;;`;
}

function argumentWords(argument: Value): string {
  if (argument === 'file') return '<file>';
  return argument === 'any' ? '' : argument.join(' ');
}
