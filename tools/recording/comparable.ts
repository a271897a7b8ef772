import { z } from 'zod';

/**
 * A file of a fixture in a form in which two recordings of the same thing are equal. Programs, providers and the engine
 * race: events and lines come in another order each time, and identifiers are numbered as they come.
 */
export function comparable(file: string, text: string): string {
  const plain = text
    .replace(/00000000-0000-4000-8000-\d{12}/g, '<id>')
    .replace(/\bdead[0-9a-f]{4}\b/g, '<key>');
  if (file.endsWith('.jsonl')) return eventsOf(plain);
  if (file.endsWith('.json')) return documentOf(plain);
  const lines = plain.split('\n').filter((line) => !isSaidWhenSlow.test(line));
  return lines.toSorted().join('\n');
}

const isSaidWhenSlow = /^(Acquiring|Releasing) state lock\. This may take a few moments/;

const eventSchema = z.object({
  diagnosticEvent: z.object({ severity: z.string() }).optional(),
  resOutputsEvent: z.object({ metadata: z.object({ type: z.string() }) }).optional(),
});
type Event = z.infer<typeof eventSchema>;

/** An event in several lines, so that a difference shows its field. */
function eventsOf(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '');
  const said = lines.map((line) => ({ line, event: eventSchema.parse(JSON.parse(line)) }));
  const hasFailed = said.some(({ event }) => event.diagnosticEvent?.severity === 'error');
  return said
    .filter(({ event }) => isSaidAlways(event, hasFailed))
    .map(({ line }) => `${JSON.stringify({ ...JSON.parse(line), sequence: undefined }, null, 1)}\n`)
    .toSorted()
    .join('');
}

/** A run that fails ends in the middle of things: what its program still does is lost, or not. */
function isSaidAlways({ diagnosticEvent, resOutputsEvent }: Event, hasFailed: boolean): boolean {
  if (diagnosticEvent?.severity === 'debug') return false;
  return !(hasFailed && resOutputsEvent?.metadata.type === 'pulumi:pulumi:Stack');
}

/** Not everything that claims to be JSON is. */
function documentOf(text: string): string {
  try {
    return `${JSON.stringify(JSON.parse(text, sortedWhereUnordered), null, 1)}\n`;
  } catch {
    return text;
  }
}

/** Terraform walks a map for these. */
function sortedWhereUnordered(key: string, value: unknown): unknown {
  if (key !== 'relevant_attributes' || !Array.isArray(value)) return value;
  return value.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
