import type { FailedCommand } from '../../worker/vendor.ts';
import type { VendorFailure } from '../../worker/vendor-results.ts';
import { explainKill, shorten, withoutControls } from '../failure-text.ts';
import { explainText } from './errors.ts';
import type { Flavour } from './flavour.ts';

/** What a command that ended badly means, in the words of its redacted output. Never throws. */
export function explainFailure(
  { program }: Flavour,
  { exitCode, stdoutTail, stderrTail }: FailedCommand,
  { isApply = false }: { isApply?: boolean } = {},
): VendorFailure {
  const text = plain(stderrTail);
  const known =
    explainKill(program, exitCode, isApply ? halfDone : null) ??
    explainText(oneLine(`${text}\n${interruptionIn(stdoutTail)}`), program);
  if (known !== null) {
    const { message, hint = seeLog(program), ...rest } = known;
    return { kind: 'failed', message: shorten(message), hint, ...rest };
  }
  return { kind: 'failed', message: shorten(ownWords(text, program, exitCode)), hint: seeLog(program) };
}

const seeLog = (program: string) =>
  `The log of the run has everything that ${program} said. Correct the cause, then push or retry the run.`;

const halfDone =
  'What it had begun may be there without being in the state: check the real resources, then retry the run.';

/** Without colours and without the frames that messages are drawn in. */
function plain(text: string): string {
  return withoutControls(text)
    .replace(/^[╷╵]\s*$/gm, '')
    .replace(/^│ ?/gm, '');
}

/** Messages are wrapped at 78 columns, wherever that is. */
const oneLine = (text: string) => plain(text).replace(/\s+/g, ' ').trim();

/** All else that it says on its standard output are steps that went well. */
const interruptionIn = (stdout: string) => /^Interrupt received\.\n.*/m.exec(stdout)?.[0] ?? '';

/** Stands before what it found in the program's text. */
const preamble = /(?:Error: )?\b\w{1,20} encountered problems during initiali[sz]ation,[\s\S]*?(?=\nError: )/;

/** Its error messages, each with where it stands; or the end of what it said. */
function ownWords(text: string, program: string, exitCode: number): string {
  const told = text.replace(preamble, '');
  const first = told.indexOf('Error: ');
  const said = (first === -1 ? told : told.slice(first)).replace(/\n{3,}/g, '\n\n').trim();
  return said || `${program} ended with exit code ${exitCode} and gave no reason.`;
}
