import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ResourceState } from '../../worker/vendor-results.ts';
import { splitLines } from './lines.ts';
import { foldSecrets, TooDeepError } from './secrets.ts';

/**
 * Reads the engine's event log (sdk/go/common/apitype/events.go): one JSON object a line, numbered from 0, the
 * last one an empty `cancelEvent`, which means "end of stream" and not a cancellation. It turns lines into what
 * the rest of this folder needs, and judges only whether the log is whole; events it does not know are skipped.
 */
export type EngineEvent =
  /** `resourcePreEvent`: a step begins. */
  | { readonly kind: 'step'; readonly step: StepEvent }
  /** `resOutputsEvent`: the step is done; may come again for the outputs of components. */
  | { readonly kind: 'outputs'; readonly step: StepEvent }
  | { readonly kind: 'step-failed'; readonly urn: string; readonly op: string }
  | { readonly kind: 'error'; readonly urn: string; readonly message: string }
  | { readonly kind: 'policy-violated'; readonly policy: string }
  | { readonly kind: 'summary'; readonly summary: Summary }
  /** Only ever the last event. */
  | { readonly kind: 'end' }
  /** The log cannot be trusted; nothing follows. `reason` is fit for people. */
  | { readonly kind: 'broken'; readonly reason: string };

export interface StepEvent {
  readonly op: string;
  readonly urn: string;
  readonly type: string;
  readonly provider: string;
  readonly old: ResourceState | null;
  readonly new: ResourceState | null;
  /** Whether anything the engine tells of the two states differs: more than the fields of ResourceState. */
  readonly isUnchanged: boolean;
  /** Paths of the properties that make it a replacement. */
  readonly replacedFor: readonly string[];
  /** The engine refuses to delete it. */
  readonly isProtected: boolean;
}

export interface Summary {
  readonly isPreview: boolean;
  readonly result: string;
  readonly resourceChanges: Readonly<Record<string, number>>;
}

/** A single resource can carry a large inline document; beyond this it is no longer a log we keep in memory. */
const maxLineBytes = 64 * 1024 * 1024;

export async function* readEventLog(
  bytes: AsyncIterable<Uint8Array>,
  lineBytes = maxLineBytes,
): AsyncGenerator<EngineEvent, void, undefined> {
  let sequence = 0;
  let hasEnded = false;
  for await (const line of splitLines(bytes, lineBytes)) {
    if (line.kind === 'too-long') return yield broken(`line ${sequence + 1} is too long`);
    if (line.kind === 'unfinished') return yield broken(`it ends in the middle of line ${sequence + 1}`);
    if (hasEnded) return yield broken('it goes on after its end');
    const parsed = parseLine(line.text);
    if (typeof parsed === 'string') return yield broken(`line ${sequence + 1} ${parsed}`);
    if (parsed.sequence !== sequence) return yield broken(`event ${sequence} is missing`);
    sequence += 1;
    if (parsed.event === null) continue;
    hasEnded = parsed.event.kind === 'end';
    yield parsed.event;
  }
  if (!hasEnded) yield broken('it has no end');
}

function broken(reason: string): EngineEvent {
  return { kind: 'broken', reason };
}

// Loose on purpose: newer CLIs add fields. Properties pass through by reference, never through a zod record,
// which would drop a key `__proto__`.
const properties = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && !Array.isArray(value),
);
const stateSchema = z.looseObject({
  type: z.string(),
  urn: z.string(),
  custom: z.boolean().default(false),
  id: z.string().default(''),
  parent: z.string().default(''),
  provider: z.string().default(''),
  protect: z.boolean().nullish(),
  inputs: properties.nullish(),
  outputs: properties.nullish(),
});
const stepSchema = z.looseObject({
  metadata: z.looseObject({
    op: z.string(),
    urn: z.string(),
    type: z.string(),
    provider: z.string().default(''),
    old: stateSchema.nullish(),
    new: stateSchema.nullish(),
    keys: z.array(z.string()).nullish(),
    detailedDiff: z.record(z.string(), z.looseObject({ kind: z.string() })).nullish(),
  }),
});
const eventSchema = z.looseObject({
  sequence: z.int(),
  cancelEvent: z.looseObject({}).optional(),
  resourcePreEvent: stepSchema.optional(),
  resOutputsEvent: stepSchema.optional(),
  resOpFailedEvent: z
    .looseObject({ metadata: z.looseObject({ op: z.string(), urn: z.string() }) })
    .optional(),
  diagnosticEvent: z
    .looseObject({ urn: z.string().default(''), message: z.string(), severity: z.string() })
    .optional(),
  errorEvent: z.looseObject({ error: z.string() }).optional(),
  policyEvent: z.looseObject({ policyName: z.string(), enforcementLevel: z.string() }).optional(),
  summaryEvent: z
    .looseObject({
      isPreview: z.boolean(),
      result: z.string(),
      resourceChanges: z.record(z.string(), z.int().nonnegative()).nullish(),
    })
    .optional(),
});

type RawEvent = z.infer<typeof eventSchema>;
type RawState = z.infer<typeof stateSchema>;

/** A string says what is wrong with the line; a null event is one that nobody needs. */
function parseLine(text: string): { sequence: number; event: EngineEvent | null } | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return 'is not JSON';
  }
  const parsed = eventSchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `is not an engine event (${issue?.path.join('.')}: ${issue?.message})`;
  }
  try {
    return { sequence: parsed.data.sequence, event: toEvent(parsed.data) };
  } catch (error) {
    if (error instanceof TooDeepError) return `cannot be read: ${error.message}`;
    throw error;
  }
}

function toEvent(raw: RawEvent): EngineEvent | null {
  if (raw.resourcePreEvent) return { kind: 'step', step: toStep(raw.resourcePreEvent.metadata) };
  if (raw.resOutputsEvent) return { kind: 'outputs', step: toStep(raw.resOutputsEvent.metadata) };
  if (raw.resOpFailedEvent) {
    const { urn, op } = raw.resOpFailedEvent.metadata;
    return { kind: 'step-failed', urn, op };
  }
  // Debug messages are in the log whether or not anybody asked for them, and may be most of it.
  if (raw.diagnosticEvent?.severity === 'error') {
    return { kind: 'error', urn: raw.diagnosticEvent.urn, message: raw.diagnosticEvent.message.trim() };
  }
  if (raw.errorEvent) return { kind: 'error', urn: '', message: raw.errorEvent.error.trim() };
  if (raw.policyEvent?.enforcementLevel === 'mandatory') {
    return { kind: 'policy-violated', policy: raw.policyEvent.policyName };
  }
  if (raw.summaryEvent) {
    const { isPreview, result, resourceChanges } = raw.summaryEvent;
    return { kind: 'summary', summary: { isPreview, result, resourceChanges: resourceChanges ?? {} } };
  }
  return raw.cancelEvent ? { kind: 'end' } : null;
}

function toStep(metadata: z.infer<typeof stepSchema>['metadata']): StepEvent {
  const { op, urn, type, provider } = metadata;
  const old = metadata.old ? foldSecrets(metadata.old) : null;
  const next = metadata.new ? foldSecrets(metadata.new) : null;
  return {
    op,
    urn,
    type,
    provider,
    old: old === null ? null : toState(old as RawState),
    new: next === null ? null : toState(next as RawState),
    isUnchanged: isDeepStrictEqual(old, next),
    replacedFor: replacingPaths(metadata),
    isProtected: (metadata.old?.protect ?? metadata.new?.protect) === true,
  };
}

/** A provider that tells places inside properties says more than the list of properties. */
function replacingPaths({ keys, detailedDiff }: z.infer<typeof stepSchema>['metadata']): readonly string[] {
  const paths = Object.entries(detailedDiff ?? {}).flatMap(([path, { kind }]) =>
    kind.endsWith('replace') ? [path] : [],
  );
  return paths.length > 0 ? paths : (keys ?? []);
}

/** Exactly the fields of the specification, §2.3. */
function toState(state: RawState): ResourceState {
  const { custom, id, inputs, outputs, parent, provider, type, urn } = state;
  return { custom, id, inputs: inputs ?? {}, outputs: outputs ?? {}, parent, provider, type, urn };
}
