import type { Operation } from './operation.ts';

/**
 * How the CLI says that the program now wants something else than the saved plan (pkg/resource/deploy/plan.go and
 * step_generator.go). The texts quote property values, secrets in clear; none of that is passed on here.
 */
const urnPattern = String.raw`urn:pulumi:[^\n]*?`;
const changed = new RegExp(`resource (${urnPattern})? ?violates plan: (.*)`);
const unplanned = /^(\S+) is not allowed by the plan/m;
const unseen = new RegExp(`expected resource operations for (${urnPattern}) but none were seen`);

/** One line for each step that differs; empty when the text is about something else. */
export function violations(text: string, operation: Operation | null): string[] {
  const messages = operation?.errors ?? [];
  // The event log knows which resource a message is about; the text alone does not always.
  const found = messages.flatMap(({ urn, message }) => describe(message, urn));
  const lines = found.length > 0 ? found : describe(text.replaceAll(/^error: /gm, ''), '');
  return [...new Set(lines)];
}

function describe(message: string, urn: string): string[] {
  const violated = changed.exec(message);
  if (violated !== null) return [`${nameOf(violated[1] ?? urn)}: ${withoutValues(violated[2] ?? '')}`];
  const missing = unseen.exec(message);
  if (missing !== null) return [`${nameOf(missing[1] ?? urn)}: was planned and is not wanted any more`];
  const extra = unplanned.exec(message);
  return extra === null ? [] : [`${nameOf(urn)}: ${extra[1]} was not planned`];
}

/** "properties changed: ~~input[{2}!={other}]" → "properties changed" */
function withoutValues(reason: string): string {
  return /^[A-Za-z ]+? changed\b/.exec(reason)?.[0] ?? 'differs from the plan';
}

/** Name and type, as people know a resource. */
export function nameOf(urn: string): string {
  const [, , qualifiedType = '', ...name] = urn.split('::');
  if (name.length === 0) return 'a resource';
  return `${name.join('::')} (${qualifiedType.split('$').at(-1)})`;
}
