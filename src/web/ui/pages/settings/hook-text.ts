import { UserError } from '../../../../user-error.ts';
import { lineFeeds } from '../../draft.ts';

/**
 * A list of hooks as people write it: a command on each line. One of several lines stands between two lines of
 * backticks, as code does in Markdown; whatever stands there is left as it is, blank lines and all.
 */
export function hookText(commands: readonly string[]): string {
  return commands.map(commandText).join('\n');
}

const fencePattern = /^`{3,}$/;

function commandText(command: string): string {
  const lines = command.split('\n');
  const inner = lines.map((line) => line.trim()).filter((line) => fencePattern.test(line));
  if (lines.length === 1 && inner.length === 0) return command;
  const fence = '`'.repeat(Math.max(2, ...inner.map(({ length }) => length)) + 1);
  return [fence, command, fence].join('\n');
}

/** The commands of such a text. Throws `invalid-input` about `path` for a fence that nothing closes. */
export function hookCommands(text: string, path: string): string[] {
  const commands: string[] = [];
  const lines = lineFeeds(text).split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').trim();
    if (!fencePattern.test(line)) {
      if (line !== '') commands.push(line);
      continue;
    }
    const end = lines.findIndex((other, index) => index > at && other.trim() === line);
    if (end === -1) throw unclosed(path, at + 1);
    const command = lines.slice(at + 1, end).join('\n');
    if (command.trim() !== '') commands.push(command);
    at = end;
  }
  return commands;
}

function unclosed(path: string, line: number): UserError {
  const message = `the backticks of line ${line} are not closed by a line of as many`;
  return new UserError('invalid-input', `${path}: ${message}`, { issues: [{ path, message }] });
}
