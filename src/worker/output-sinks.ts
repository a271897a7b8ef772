import { createOutputWindow, type Redactor } from '../sandbox/redaction/output.ts';
import { createCutOff } from './cut-off.ts';
import { createMaskCommands } from './mask-commands.ts';
import type { PhaseContext, RunContext } from './run-context.ts';

/** Where a stream of a command goes. */
export interface OutputSink {
  write(chunk: Uint8Array): void;
  /** `isCutShort`: what may be the first half of a secret is hidden, too. */
  end(isCutShort: boolean): void;
  /** The last of it that went into the log, for error recognition. */
  tail(): string;
}

/** What error recognition looks at. */
const tailBytes = 64 * 1024;

/**
 * Into the log of the phase, without what is known to be secret when the first byte comes. What is written after the end
 * is a stream of its own, by what is known then.
 */
export function createLogSink(
  { secrets, vendor }: Pick<RunContext, 'secrets' | 'vendor'>,
  { log }: Pick<PhaseContext, 'log'>,
): OutputSink {
  let redactor: Redactor | null = null;
  const cutOff = createCutOff(vendor.hiddenAfter);
  const window = createOutputWindow({ headBytes: 0, tailBytes });
  const pass = (redacted: Uint8Array) => {
    const bytes = cutOff(redacted);
    window.write(bytes);
    log.write(bytes);
  };
  const redact = (piece: Uint8Array) => {
    redactor ??= secrets.newRedactor();
    pass(redactor.write(piece));
  };
  const masks = createMaskCommands((values) => {
    // The next line is the first that is to be without them.
    if (redactor) pass(redactor.flush());
    redactor = null;
    if (!secrets.mask(values)) log.line('[::add-mask: that is more than a run can mask; it is not hidden]');
  });
  return {
    write(chunk) {
      masks.write(chunk, redact);
    },
    end(isCutShort) {
      masks.end(redact);
      if (redactor) pass(redactor.flush(isCutShort));
      redactor = null;
    },
    tail: () => window.text(),
  };
}

export interface CaptureSink extends OutputSink {
  /** All of it; null when it is more than the cap. */
  bytes(): Uint8Array | null;
}

/** Into memory: data for the vendor, which nobody else sees. */
export function createCaptureSink(maxBytes: number): CaptureSink {
  let chunks: Uint8Array[] = [];
  let size = 0;
  return {
    write(chunk) {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(Uint8Array.from(chunk));
      else chunks = [];
    },
    end() {},
    tail: () => '',
    bytes: () => (size <= maxBytes ? Buffer.concat(chunks) : null),
  };
}
