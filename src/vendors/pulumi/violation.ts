import type { PlanStep } from '../../worker/vendor-results.ts';
import type { Operation } from './operation.ts';

/**
 * How the CLI says that the program now wants something else than the saved plan (pkg/resource/deploy/plan.go,
 * step_generator.go and step_executor.go). The texts quote property values, secrets in clear; of those nothing is
 * passed on, only the names of the properties.
 */
const urnPattern = String.raw`urn:pulumi:[^\n]*?`;
const violated = new RegExp(`resource (${urnPattern})? ?violates plan: (.*)`, 's');
const notAllowed = /^(\S+) is not allowed by the plan: (?:this resource is constrained to (\S+))?/m;
const unseen = new RegExp(`expected resource operations for (${urnPattern}) but none were seen`);

/** One line for each step that differs; empty when the text is about something else. */
export function violations(
  text: string,
  operation: Operation | null,
  confirmed: readonly PlanStep[] = [],
): string[] {
  const messages = operation?.errors ?? [];
  const isCutShort = operation !== null && hasBrokenOff(operation);
  const describe = (message: string, urn: string) =>
    describeViolation(isCutShort ? withoutUnseen(message) : message, urn, operation, confirmed);
  // The event log knows which resource a message is about; the text alone does not always.
  const found = messages.flatMap(({ urn, message }) => describe(message, urn));
  const lines = found.length > 0 ? found : describe(text.replaceAll(/^error: /gm, ''), '');
  return [...new Set(lines)];
}

/** What fails for another reason does not come to the rest of its plan, and the CLI complains of that too. */
function hasBrokenOff({ failedSteps, errors }: Operation): boolean {
  return failedSteps.length > 0 || errors.some(({ message }) => withoutUnseen(message).trim() !== '');
}

const withoutUnseen = (message: string) => message.replaceAll(new RegExp(unseen, 'g'), '');

function describeViolation(
  message: string,
  urn: string,
  operation: Operation | null,
  confirmed: readonly PlanStep[],
): string[] {
  const changed = violated.exec(message);
  if (changed !== null) {
    const [, quoted, reason = ''] = changed;
    // Without a URN in the text it is about what a component or the stack gave as its outputs.
    const what = quoted === undefined ? outputsOf(reason) : reason;
    const known = propertiesOf(quoted ?? urn, operation, confirmed);
    return [`${nameOf(quoted ?? urn)}: ${withoutValues(what, known)}`];
  }
  const missing = unseen.exec(message);
  if (missing !== null) return [`${nameOf(missing[1] ?? urn)}: was planned and is not wanted any more`];
  const extra = notAllowed.exec(message);
  if (extra === null) return [];
  const [, op = '', planned] = extra;
  const difference = planned === undefined ? `${op} was not planned` : `${op} instead of ${planned}`;
  const concerned = urn === '' && op === 'delete' ? unregistered(operation, confirmed) : [urn];
  return concerned.map((each) => `${nameOf(each)}: ${difference}`);
}

const outputsOf = (reason: string) => reason.replace(/^properties changed/, 'outputs changed');

/**
 * "properties changed: ~~input[{2}!={other}], =+size[{3}]" → "properties changed (input, size)". A value may
 * hold anything, text that looks like the next property too, so that a name behind one must be known otherwise.
 */
function withoutValues(reason: string, known: ReadonlySet<string>): string {
  const kind = /^[A-Za-z ]+? changed\b/.exec(reason)?.[0];
  if (reason.startsWith('resource unexpectedly not deleted')) return 'is no longer deleted';
  if (kind === undefined) return 'differs from the plan';
  const list = /^(?:properties|outputs) changed: (.*)/s.exec(reason)?.[1];
  if (list === undefined) return kind;
  const first = /^[+~\-=]{2}([^[,\n]+)/.exec(list)?.[1];
  const others = [...list.matchAll(/, [+~\-=]{2}([^[,\n]+)/g)].flatMap(([, name = '']) =>
    known.has(name.trim()) ? [name] : [],
  );
  const names = new Set([...(first === undefined ? [] : [first]), ...others].map((name) => name.trim()));
  return names.size === 0 ? kind : `${kind} (${[...names].join(', ')})`;
}

/** Names of the properties of a resource, as the plan and the states before it knew them. */
function propertiesOf(
  urn: string,
  operation: Operation | null,
  confirmed: readonly PlanStep[],
): ReadonlySet<string> {
  const steps = [...confirmed, ...(operation?.steps ?? [])].filter((step) => step.urn === urn);
  const states = steps.flatMap((step) => [step.old, step.new]).filter((state) => state !== null);
  return new Set(states.flatMap(({ inputs, outputs }) => [...Object.keys(inputs), ...Object.keys(outputs)]));
}

/**
 * What an operation would delete that was not to be deleted, when it ended before it said so: the resources of
 * the state that the program, which ran to its end, did not ask for.
 */
function unregistered(operation: Operation | null, confirmed: readonly PlanStep[]): string[] {
  const steps = operation?.steps ?? [];
  const wanted = new Set(steps.filter(({ op }) => op !== 'refresh').map(({ urn }) => urn));
  const toDelete = new Set(confirmed.filter(({ op }) => op === 'delete').map(({ urn }) => urn));
  const inState = steps.filter((step) => step.op === 'refresh' && step.new !== null);
  const urns = new Set(inState.map(({ urn }) => urn).filter((urn) => !wanted.has(urn) && !toDelete.has(urn)));
  return urns.size === 0 ? [''] : [...urns];
}

/**
 * How a second plan of a tear-down differs from the confirmed one, one line for each step. What is only looked
 * at does not count; the id tells apart a resource that was made anew from the one that was confirmed.
 */
export function differences(confirmed: readonly PlanStep[], now: readonly PlanStep[]): string[] {
  const left = new Map<string, number>();
  for (const step of confirmed.filter(acts)) left.set(keyOf(step), (left.get(keyOf(step)) ?? 0) + 1);
  const lines: string[] = [];
  for (const step of now.filter(acts)) {
    const number = left.get(keyOf(step)) ?? 0;
    if (number > 0) left.set(keyOf(step), number - 1);
    else lines.push(`${nameOf(step.urn)}: ${step.op} was not planned`);
  }
  for (const step of confirmed.filter(acts)) {
    const number = left.get(keyOf(step)) ?? 0;
    if (number === 0) continue;
    left.set(keyOf(step), number - 1);
    lines.push(`${nameOf(step.urn)}: ${step.op} was planned and is not wanted any more`);
  }
  return lines;
}

const acts = ({ op }: PlanStep) => op !== 'same' && op !== 'refresh';
const keyOf = ({ op, urn, old }: PlanStep) => JSON.stringify([op, urn, old?.id ?? null]);

/** Name and type, as people know a resource. */
export function nameOf(urn: string): string {
  const [, , qualifiedType = '', ...name] = urn.split('::');
  if (name.length === 0) return 'a resource';
  return `${name.join('::')} (${qualifiedType.split('$').at(-1)})`;
}
