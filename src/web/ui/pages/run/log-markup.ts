import { html } from 'hono/html';
import { plainStyle, plainText } from '../../assets/ansi.js';
import { markOf, type Place, placeAfter, shownLine } from '../../assets/log-lines.js';
import type { Markup } from '../../layout.ts';

/** The same elements that assets/log-phase.js makes, for browsers without scripts and for the time until they run. */

interface Section {
  /** Null: output that belongs to no command, or to one that began before what is shown. */
  readonly command: { readonly text: string; readonly line: number } | null;
  result: string | null;
  readonly lines: Markup[];
}

/** The output of a phase, folded by command. `firstLine`: the number of its first line. */
export function phaseLines(phase: string, text: string, firstLine: number): Markup {
  const lines = text.split('\n');
  // What ends with a newline has no line after it.
  if (lines.at(-1) === '') lines.pop();
  const sections: Section[] = [{ command: null, result: null, lines: [] }];
  // In the middle of a log nobody knows what the first line belongs to: an end tells.
  let place: Place = firstLine === 1 ? 'between' : 'inside';
  let style = plainStyle;
  for (const [index, line] of lines.entries()) {
    const number = firstLine + index;
    const mark = markOf(plainText(line), place);
    place = placeAfter(mark, place);
    if (mark?.kind === 'start') {
      sections.push({ command: { text: mark.command, line: number }, result: null, lines: [] });
      continue;
    }
    const shown = shownLine(line, style, '');
    style = shown.style;
    const section = sections.at(-1);
    section?.lines.push(lineMarkup(`${phase}-${number}`, number, shown));
    if (mark?.kind !== 'end' || !section) continue;
    section.result = mark.result;
    // What comes between two commands belongs to none.
    sections.push({ command: null, result: null, lines: [] });
  }
  return html`${sections.map((section) => sectionMarkup(phase, section))}`;
}

function sectionMarkup(phase: string, { command, result, lines }: Section): Markup | string {
  const body = html`<div class="lines">${lines}</div>`;
  if (!command) return lines.length === 0 ? '' : body;
  return html`<details class="command" open><summary id="${phase}-${command.line}"><code>$ ${command.text}</code> <span class="result">${result ?? ''}</span></summary>${body}</details>`;
}

function lineMarkup(id: string, number: number, { parts, hidden }: ReturnType<typeof shownLine>): Markup {
  return html`<div class="line" id="${id}"><a href="#${id}" tabindex="-1">${number}</a><span>${parts.map(
    ({ text, classes }) => (classes === '' ? text : html`<span class="${classes}">${text}</span>`),
  )}${hidden > 0 ? html`<i>… ${hidden} more characters</i>` : ''}</span></div>`;
}
