import { Argument, type Command } from 'commander';
import { bashCompletion } from './completion/bash.ts';
import { placesOf } from './completion/command-tree.ts';
import { fishCompletion } from './completion/fish.ts';
import { zshCompletion } from './completion/zsh.ts';
import type { CliContext } from './context.ts';
import { outputOf } from './output.ts';

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
type Shell = keyof typeof scripts;

const help = `
bash  source <(slipway completion bash)     in ~/.bashrc
zsh   source <(slipway completion zsh)      in ~/.zshrc, after compinit
fish  slipway completion fish | source      in ~/.config/fish/config.fish`;

/** `slipway completion`: a script made from the commands themselves. No Tab starts a program. */
export function addCompletionCommand(program: Command, context: CliContext): void {
  program
    .command('completion')
    .description('a script that teaches a shell to complete these commands')
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .addHelpText('after', help)
    .action((shell: Shell, _options: unknown, command: Command) => {
      const script = scripts[shell](placesOf(program));
      outputOf(context, command).result({ shell, script }, () => script.trimEnd());
    });
}
