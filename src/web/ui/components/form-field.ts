import { html } from 'hono/html';
import type { UserError } from '../../../user-error.ts';
import type { Draft } from '../draft.ts';
import type { Markup } from '../layout.ts';

/** A labelled field with what helps to fill it in and what is wrong with it. */
export interface FieldOptions {
  /** Its path in the API. */
  readonly name: string;
  readonly label: string;
  readonly help?: Markup | string;
  /** Further attributes of the input, e.g. html` required`. */
  readonly attributes?: Markup;
}

export function textField(
  draft: Draft,
  options: FieldOptions & { readonly type?: 'text' | 'url' | 'password' | 'datetime-local' },
): Markup {
  const { name, label, type = 'text', attributes = '' } = options;
  // What is secret is typed again.
  const value = type === 'password' ? '' : draft.field(name);
  return html`<div class="field"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}"${attributes}${described(draft, options)}>
${notesOf(draft, options)}</div>`;
}

export function textArea(draft: Draft, options: FieldOptions & { readonly rows?: number }): Markup {
  const { name, label, rows = 4, attributes = '' } = options;
  // Parsers drop a line break right behind the tag.
  return html`<div class="field"><label for="${name}">${label}</label>
<textarea id="${name}" name="${name}" rows="${rows}"${attributes}${described(draft, options)}>
${draft.field(name)}</textarea>
${notesOf(draft, options)}</div>`;
}

/** Sends "yes" or nothing. */
export function checkField(draft: Draft, options: FieldOptions): Markup {
  const { name, label } = options;
  const checked = draft.field(name) === 'yes' ? html` checked` : '';
  return html`<div class="field"><label class="check"><input type="checkbox" id="${name}" name="${name}" value="yes"${checked}${described(draft, options)}> ${label}</label>
${notesOf(draft, options)}</div>`;
}

export interface Choice {
  readonly value: string;
  readonly words: string;
  readonly help?: string;
}

/** One of a few, each with what it means. */
export function radioField(draft: Draft, options: FieldOptions, choices: readonly Choice[]): Markup {
  return choiceField(draft, options, choices, 'radio');
}

/** Any of a few. */
export function checksField(draft: Draft, options: FieldOptions, choices: readonly Choice[]): Markup {
  return choiceField(draft, options, choices, 'checkbox');
}

function choiceField(
  draft: Draft,
  options: FieldOptions,
  choices: readonly Choice[],
  type: 'radio' | 'checkbox',
): Markup {
  const { name, label } = options;
  const chosen = draft.fields(name);
  return html`<fieldset class="field" id="${name}"${described(draft, options)}><legend>${label}</legend>
<div class="choices">${choices.map(
    ({ value, words, help = '' }) =>
      html`<label class="check"><input type="${type}" name="${name}" value="${value}"${chosen.includes(value) ? html` checked` : ''}> <span>${words}${help === '' ? '' : html` <span class="help">${help}</span>`}</span></label>
`,
  )}</div>${notesOf(draft, options)}</fieldset>`;
}

/** What is wrong with the whole. */
export function problemNotice({ problem, stored }: Draft): Markup | string {
  if (problem === null) return '';
  if (stored !== null) {
    return html`<div class="notice bad" role="alert"><p>Somebody changed it meanwhile, and nothing of yours is saved yet.</p>
<p>What you typed is below, with what is stored now where that is different. Saving again replaces it.</p></div>`;
  }
  return html`<div class="notice bad" role="alert"><p>${inWords(problem)}</p>${problem.hint === undefined ? '' : html`<p>${problem.hint}</p>`}</div>`;
}

/** Which fields it is about is seen there; names of the API would only be in the way. */
function inWords({ code, message, issues }: UserError): string {
  if (code !== 'invalid-input' || issues.length === 0) return message;
  return `Nothing was saved: ${issues.map((issue) => issue.message).join('; ')}.`;
}

function described(draft: Draft, { name, help }: FieldOptions): Markup | string {
  const isWrong = wrongsOf(draft, name).length > 0;
  const ids = [...(isWrong ? [`${name}-wrong`] : []), ...(help === undefined ? [] : [`${name}-help`])];
  const by = ids.length > 0 ? html` aria-describedby="${ids.join(' ')}"` : '';
  return isWrong ? html` aria-invalid="true"${by}` : by;
}

function notesOf(draft: Draft, { name, help }: FieldOptions): Markup {
  const wrongs = wrongsOf(draft, name);
  const now = draft.stored?.fields(name).join(', ');
  const isOutrun = now !== undefined && now !== draft.fields(name).join(', ');
  return html`${wrongs.length > 0 ? html`<p class="wrong" id="${name}-wrong">${wrongs.join('; ')}</p>` : ''}${
    isOutrun
      ? html`<div class="wrong">Stored now: ${now === '' ? 'nothing' : html`<pre>${now}</pre>`}</div>`
      : ''
  }${help === undefined ? '' : html`<p class="help" id="${name}-help">${help}</p>`}`;
}

/** What the API says about the field, or about an entry of its list. */
export function wrongsOf({ problem }: Draft, name: string): readonly string[] {
  return (problem?.issues ?? []).flatMap(({ path, message }) => {
    if (path === name) return [message];
    if (!path.startsWith(`${name}.`)) return [];
    const entry = path.slice(name.length + 1);
    return [/^\d+$/.test(entry) ? `entry ${Number(entry) + 1}: ${message}` : `${entry}: ${message}`];
  });
}
