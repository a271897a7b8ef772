import { UserError } from '../../user-error.ts';
import { ApiRefusal } from './in-process-api.ts';

/** What stands in the fields of a form. Fields are named by their path in the API, so that its problems find them. */
export interface FieldValues {
  /** "" for a field that is not there. */
  field(name: string): string;
  fields(name: string): readonly string[];
}

export interface Draft extends FieldValues {
  /** Why it is shown again. */
  readonly problem: UserError | null;
  /** What is stored now, when somebody else changed it since the form was loaded. */
  readonly stored: FieldValues | null;
}

type Value = string | readonly string[];

export function fieldValues(values: Readonly<Record<string, Value>>): FieldValues {
  const all = new Map(Object.entries(values));
  const fields = (name: string): readonly string[] => [all.get(name) ?? []].flat();
  return { fields, field: (name) => fields(name)[0] ?? '' };
}

/** A form that nobody has sent yet. */
export const freshDraft = (values: Readonly<Record<string, Value>> = {}): Draft => ({
  ...{ ...fieldValues(values), problem: null, stored: null },
});

/** As it was typed, with what is wrong with it. */
export const refusedDraft = (
  { field, fields }: FieldValues,
  problem: UserError,
  stored: FieldValues | null = null,
): Draft => ({ field, fields, problem, stored: isOutrun(problem) ? stored : null });

/** Somebody else changed it since the form was loaded. */
const isOutrun = ({ code }: UserError): boolean => code === 'precondition-failed';

/** The refusal that a form is shown again with. Throws on whatever is none. */
export function formRefusal(error: unknown): { readonly problem: UserError; readonly status: RefusedStatus } {
  if (!(error instanceof UserError)) throw error;
  const given = error instanceof ApiRefusal ? error.status : 422;
  const status = refusedStatuses.find((each) => each === given);
  if (status === undefined) throw error;
  return { problem: error, status };
}

/** 503: not now, and what was typed should not have to be typed again. */
const refusedStatuses = [409, 412, 422, 503] as const;
export type RefusedStatus = (typeof refusedStatuses)[number];

/** A textarea is sent with CRLF, whatever was in it. */
export const lineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n');

/** The lines that say something, without the blanks around them. */
export const linesOf = (text: string): string[] =>
  lineFeeds(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
