import { html } from 'hono/html';
import { runStates } from '../../../../runs/run.ts';
import { UserError } from '../../../../user-error.ts';
import { runTypes } from '../../../api/run-object.ts';
import { checksField, textArea, textField } from '../../components/form-field.ts';
import { type Draft, type FieldValues, linesOf } from '../../draft.ts';
import type { Markup } from '../../layout.ts';
import type { Webhook } from './webhook-frame.ts';

/** The fields that a webhook has when it is added and when it is changed. */
export const endpointField = (draft: Draft): Markup =>
  textField(draft, {
    ...{ name: 'endpoint', label: 'Endpoint', type: 'url' },
    attributes: html` required maxlength="2048" placeholder="https://hooks.example.com/slipway" autocomplete="off"`,
    help: 'Where the state changes are posted. Addresses inside the network of the server are refused unless its operator allows them.',
  });

export function filterFields(draft: Draft): Markup {
  const choices = (list: readonly string[]) => list.map((value) => ({ value, words: value }));
  return html`${checksField(
    draft,
    {
      name: 'filter.states',
      label: 'States',
      help: 'What a run becomes. None marked: all of them are sent.',
    },
    choices(runStates),
  )}${checksField(
    draft,
    { name: 'filter.runTypes', label: 'Run types', help: 'None marked: all of them are sent.' },
    choices(runTypes),
  )}`;
}

/** Their values are write-only, so what was typed is typed again when the form is refused. */
export const headersField = (draft: Draft, help: string): Markup =>
  textArea(
    { ...draft, field: () => '' },
    {
      ...{ name: 'headers', label: 'Headers', rows: 3 },
      attributes: html` spellcheck="false" autocapitalize="off" autocomplete="off" placeholder="authorization: Bearer 5f1d"`,
      help,
    },
  );

/** Null: every state change. */
export function filterIn({ fields }: FieldValues): object | null {
  const [states, types] = [fields('filter.states'), fields('filter.runTypes')];
  if (states.length === 0 && types.length === 0) return null;
  return { ...(states.length > 0 && { states }), ...(types.length > 0 && { runTypes: types }) };
}

export const filterValues = ({ filter }: Pick<Webhook, 'filter'>) => ({
  'filter.states': filter?.states ?? [],
  'filter.runTypes': filter?.runTypes ?? [],
});

/** Of lines "Name: value". Throws `invalid-input`, which never says what stands there. */
export function headersIn({ field }: FieldValues): Readonly<Record<string, string>> {
  const given = linesOf(field('headers')).map((line, index) => {
    const colon = line.indexOf(':');
    if (colon < 1) throw wrongHeaders(`line ${index + 1} is not "Name: value"`);
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const;
  });
  const names = given.map(([name]) => name.toLowerCase());
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (twice !== -1) throw wrongHeaders(`line ${twice + 1} has a name that stands there already`);
  return Object.fromEntries(given);
}

function wrongHeaders(message: string): UserError {
  return new UserError('invalid-input', 'The headers cannot be read.', {
    issues: [{ path: 'headers', message }],
  });
}

/** What of a form that is shown again has to be typed once more. */
export const typedAgainNotice = ({ problem }: Draft): Markup | string =>
  problem === null ? '' : html`<p class="soft">Secrets and headers are not sent back: type them again.</p>`;
