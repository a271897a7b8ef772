import type { CommandOutputs } from '../../worker/vendor.ts';
import { eventLogFile } from './commands.ts';
import { readEventLog, type StepEvent, type Summary } from './event-log.ts';
import { StepCollector } from './steps.ts';

/** What the event log of one command tells. */
export interface Operation {
  readonly steps: readonly StepEvent[];
  /** Error messages of the engine and the program, not redacted; `urn` is "" when none is concerned. */
  readonly errors: readonly { readonly urn: string; readonly message: string }[];
  readonly failedSteps: readonly { readonly urn: string; readonly op: string }[];
  /** Names of mandatory policies (of Pulumi policy packs) that a resource violates. */
  readonly violatedPolicies: readonly string[];
  readonly summary: Summary | null;
  /** Why the log cannot be trusted, null when it is whole. */
  readonly broken: string | null;
}

/** A log of this size belongs to tens of thousands of resources. It is parsed into memory. */
const maxLogBytes = 256 * 1024 * 1024;
/** Messages are for one check run; a program can fail in as many as it likes. */
const maxErrors = 100;

/** Null when the command left no event log: it failed before the engine began, or the log was too large. */
export async function readOperation(outputs: CommandOutputs): Promise<Operation | null> {
  const bytes = await outputs.read(eventLogFile, maxLogBytes);
  if (bytes === null) return null;
  const collector = new StepCollector();
  const errors: { urn: string; message: string }[] = [];
  const failedSteps: { urn: string; op: string }[] = [];
  const violatedPolicies: string[] = [];
  let summary: Summary | null = null;
  let broken: string | null = null;
  for await (const event of readEventLog(bytes)) {
    switch (event.kind) {
      case 'step':
        collector.begin(event.step);
        break;
      case 'outputs':
        collector.complete(event.step);
        break;
      case 'step-failed':
        if (failedSteps.length < maxErrors) failedSteps.push({ urn: event.urn, op: event.op });
        break;
      case 'error':
        if (errors.length < maxErrors) errors.push({ urn: event.urn, message: event.message });
        break;
      case 'policy-violated':
        if (violatedPolicies.length < maxErrors) violatedPolicies.push(event.policy);
        break;
      case 'summary':
        summary = event.summary;
        break;
      case 'broken':
        broken = event.reason;
        break;
      case 'end':
        if (summary === null) broken = 'it has no summary';
        break;
    }
  }
  return { steps: collector.all(), errors, failedSteps, violatedPolicies, summary, broken };
}
