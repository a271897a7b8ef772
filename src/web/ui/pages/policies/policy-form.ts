import { html } from 'hono/html';
import { isAttachable } from '../../../../policies/policies.ts';
import { autoattach, type PolicyKind } from '../../../../policies/policy.ts';
import { lineDiff } from '../../../../runs/plan/line-diff.ts';
import { radioField, textArea, textField } from '../../components/form-field.ts';
import { lineChanges } from '../../components/line-changes.ts';
import { sourceErrors } from '../../components/source-listing.ts';
import { type Draft, type FieldValues, fieldValues, lineFeeds, linesOf } from '../../draft.ts';
import type { Markup } from '../../layout.ts';
import type { Policy } from './policy-reads.ts';

const longestLine = 2000;

/** What of a policy can be changed; `kind` decides what there is to say. */
export function contentFields(draft: Draft, kind: PolicyKind): Markup {
  return html`${textField(draft, {
    ...{ name: 'name', label: 'Name' },
    attributes: html` required maxlength="100" autocomplete="off"`,
    help: 'It stands before each of its messages, e.g. buckets stay.',
  })}
${textField(draft, {
  ...{ name: 'description', label: 'Description' },
  attributes: html` maxlength="1000" autocomplete="off"`,
  help: 'What it is for, and whom to ask.',
})}
${isAttachable(kind) ? labelsField(draft) : ''}
${sourceFields(draft)}`;
}

const labelsField = (draft: Draft): Markup =>
  textArea(draft, {
    ...{ name: 'labels', label: 'Labels', rows: 2 },
    attributes: html` class="short" spellcheck="false"`,
    help: html`One in a line. <code>${autoattach}prod</code> has it judge every stack of its account with the label <code>prod</code>, <code>${autoattach}*</code> every stack.`,
  });

/** The source, with what the compiler says of it above. */
export function sourceFields(draft: Draft): Markup {
  const issues = (draft.problem?.issues ?? []).filter(({ path }) => path === 'body');
  const rows = Math.min(40, Math.max(16, draft.field('body').split('\n').length + 1));
  const isWrong = issues.length > 0;
  // Parsers drop a line break right behind the tag.
  return html`<div class="field"><label for="body">Rego</label>
${isWrong ? html`<div id="body-wrong">${sourceErrors(lineFeeds(draft.field('body')), issues)}</div>` : ''}
<textarea id="body" name="body" rows="${rows}" class="source-field" required spellcheck="false" autocapitalize="off" autocomplete="off"${
    isWrong
      ? html` aria-invalid="true" aria-describedby="body-wrong body-help"`
      : html` aria-describedby="body-help"`
  }>
${draft.field('body')}</textarea>
${storedNow(draft)}
<p class="help" id="body-help">Of <code>package slipway</code>, 64 KiB at most. It is compiled before it is saved.</p></div>
${radioField(draft, { name: 'regoVersion', label: 'Version of the language' }, [
  { value: '1', words: '1', help: 'The present one.' },
  { value: '0', words: '0', help: 'For policies from elsewhere that were written before.' },
])}`;
}

/** Somebody else saved another one meanwhile. */
function storedNow({ stored, field }: Draft): Markup | string {
  const now = stored?.field('body');
  if (now === undefined || now === lineFeeds(field('body'))) return '';
  return html`<div class="wrong">What is different in what is stored now: ${lineChanges(lineDiff(lineFeeds(field('body')), now), longestLine)}</div>`;
}

/** As the API takes it. */
export function contentIn(form: FieldValues, kind: PolicyKind): Record<string, unknown> {
  return {
    ...{ name: form.field('name').trim(), description: form.field('description').trim() },
    ...(isAttachable(kind) && { labels: linesOf(form.field('labels')) }),
    ...sourceIn(form),
  };
}

/** What was not offered is sent as it came, to be refused there. */
export function sourceIn({ field }: FieldValues): { body: string; regoVersion: number | string } {
  const version = field('regoVersion');
  const isOffered = version === '0' || version === '1';
  return { body: lineFeeds(field('body')), regoVersion: isOffered ? Number(version) : version };
}

/** What the form shows of a policy that is stored. */
export const valuesOf = ({ name, description, labels, body, regoVersion }: Policy): FieldValues =>
  fieldValues({
    ...{ name, description, labels: labels.join('\n'), body },
    regoVersion: String(regoVersion),
  });
