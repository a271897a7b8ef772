import { isLarge } from '../runs/plan/large-json.ts';
import { secretText } from '../runs/plan/plan-value.ts';
import { takeTurns } from '../runs/plan/turns.ts';
import type { ToolTrouble } from '../stacks/vendor-settings.ts';
import type { HiddenValues, KnownSecrets } from './known-secrets.ts';
import type { PlanReport, ServerApi } from './server-api.ts';
import type { PlanDocument, PlanStep, ResourceState } from './vendor-results.ts';

/**
 * Keeps what is known to be secret out of everything that is stored about a run besides the output of its commands,
 * which passes through a redactor on its way to the log (output-sinks.ts).
 */

/** The same server, told nothing that holds a secret: hooks and tasks may spell one out, plans may carry one. */
export function withoutSecrets(server: ServerApi, secrets: KnownSecrets): ServerApi {
  const { hide } = secrets;
  return {
    ...server,
    command: (given, record) =>
      server.command(given, { ...record, label: hide(record.label), argv: record.argv.map(hide) }),
    failed: (given, { trouble, ...failure }) =>
      server.failed(given, {
        ...failure,
        note: hide(failure.note),
        ...(trouble ? { trouble: hiddenTrouble(trouble, hide) } : {}),
      }),
    planned: async (given, plan, draining) =>
      server.planned(given, await hiddenPlan(secrets, plan), draining),
  };
}

async function hiddenPlan(secrets: KnownSecrets, plan: PlanReport): Promise<PlanReport> {
  const { document } = plan;
  return {
    ...plan,
    steps: await hiddenSteps(secrets.ofPeople, plan.steps),
    marks: await hiddenSteps(secrets.ofPeople, plan.marks ?? []),
    custom: await hiddenIn(secrets, plan.custom ?? {}),
    ...(document && { document: await hiddenDocument(secrets.ofPeople, document) }),
  };
}

async function hiddenDocument(
  secrets: HiddenValues,
  { name, content, words = [] }: PlanDocument,
): Promise<PlanDocument> {
  return { name, content: await hiddenIn(secrets, content, new Set([...words, secretText])) };
}

/** The steps of a plan (or its marks) as they are stored: ids, inputs, names may hold a secret of the environment. */
export const hiddenSteps = <T>(secrets: HiddenValues, steps: readonly T[]): Promise<readonly T[]> =>
  hiddenIn(secrets, steps, stepWords);

/** Somebody's password may be "delete": a plan without its ops would be judged by nobody. */
const stepWords: ReadonlySet<string> = new Set([
  // "secret" may be one.
  secretText,
  ...(['same', 'refresh', 'create', 'update', 'delete'] satisfies PlanStep['op'][]),
  ...(['create-replacement', 'delete-replaced'] satisfies PlanStep['op'][]),
  ...(['op', 'provider', 'type', 'urn', 'new', 'old'] satisfies (keyof PlanStep)[]),
  ...(['custom', 'id', 'inputs', 'outputs', 'parent'] satisfies (keyof ResourceState)[]),
  ...['replacedFor', 'isProtected'],
]);

/**
 * JSON without the secrets in its texts, keys and numbers; `words` stay what they are. What holds none is not copied.
 */
async function hiddenIn<T>(
  secrets: HiddenValues,
  value: T,
  words: ReadonlySet<string> = new Set(),
): Promise<T> {
  if (secrets.areNone()) return value;
  const othersGoOn = takeTurns();
  const hideText = (text: string) => (!words.has(text) && secrets.isIn(text) ? secrets.hide(text) : text);

  async function inPieces(part: unknown): Promise<unknown> {
    if (!isLarge(part)) {
      await othersGoOn();
      // Most pieces hold none: one look instead of many.
      return secrets.isIn(textsIn(part).join('\0')) ? atOnce(part) : part;
    }
    if (Array.isArray(part)) {
      const items = [];
      for (const item of part) items.push(await inPieces(item));
      return items;
    }
    if (typeof part !== 'object' || part === null) return atOnce(part);
    const entries: [string, unknown][] = [];
    for (const [key, item] of Object.entries(part)) entries.push([hideText(key), await inPieces(item)]);
    return Object.fromEntries(entries);
  }

  function atOnce(part: unknown): unknown {
    if (typeof part === 'string') return hideText(part);
    if (typeof part === 'number') return secrets.isIn(String(part)) ? secrets.hide(String(part)) : part;
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) return part.map(atOnce);
    return Object.fromEntries(Object.entries(part).map(([key, item]) => [hideText(key), atOnce(item)]));
  }

  return (await inPieces(value)) as T;
}

/** All that may hold a secret. */
function textsIn(part: unknown): string[] {
  const texts: string[] = [];
  const waiting = [part];
  while (waiting.length > 0) {
    const each = waiting.pop();
    if (typeof each === 'string' || typeof each === 'number') texts.push(String(each));
    if (typeof each !== 'object' || each === null) continue;
    if (!Array.isArray(each)) texts.push(...Object.keys(each));
    waiting.push(...Object.values(each));
  }
  return texts;
}

function hiddenTrouble(trouble: ToolTrouble, hide: (text: string) => string): ToolTrouble {
  if (trouble.kind === 'pending-operations') {
    return { ...trouble, operations: trouble.operations.map(({ op, urn }) => ({ op, urn: hide(urn) })) };
  }
  const { lockId, holder } = trouble;
  return { ...trouble, lockId: lockId && hide(lockId), holder: holder && hide(holder) };
}
