import { toUnixSeconds } from '../clock.ts';
import type { RunEvent } from '../runs/run-event.ts';
import type { Payload } from './payload-schema.ts';

/**
 * Bodies above this are cut down by shortening the commit message: receivers commonly limit requests to a
 * megabyte or less, and a state change that is never told is worse than a message without its end.
 */
export const maxBodyBytes = 262_144;

/**
 * The body of a webhook, exactly as specification §2.2 has it, nothing added. Serialised once for each
 * state change; every attempt, resend and replay sends and signs these bytes.
 */
export function payloadOf(event: RunEvent): Buffer {
  const payload = describe(event);
  const body = encodeJson(payload);
  if (body.length <= maxBodyBytes) return body;
  const { commit } = payload.run;
  const rest = body.length - encodeJson(commit.message).length;
  const message = longestStart(commit.message, maxBodyBytes - rest);
  return encodeJson({ ...payload, run: { ...payload.run, commit: { ...commit, message } } });
}

/** The longest start of a text that takes at most so many bytes as JSON. */
function longestStart(text: string, maxBytes: number): string {
  let fits = 0;
  let tooLong = text.length + 1;
  while (tooLong - fits > 1) {
    const length = Math.floor((fits + tooLong) / 2);
    if (encodeJson(text.slice(0, length)).length <= maxBytes) fits = length;
    else tooLong = length;
  }
  return text.slice(0, fits);
}

function describe({ run, stack, timestampMs }: RunEvent): Payload {
  const { commit, delta } = run;
  return {
    account: stack.account,
    state: run.state,
    stateVersion: run.stateVersion,
    timestamp: toUnixSeconds(timestampMs),
    run: {
      id: run.id,
      branch: run.branch,
      commit: {
        authorLogin: commit.authorLogin,
        authorName: commit.authorName,
        hash: commit.hash,
        // A character takes a byte at least: what is behind this many cannot fit.
        message: commit.message.slice(0, maxBodyBytes),
        timestamp: commit.timestamp,
        url: commit.url,
      },
      createdAt: toUnixSeconds(run.createdAtMs),
      ...(delta && {
        delta: {
          added: delta.added,
          changed: delta.changed,
          deleted: delta.deleted,
          resources: delta.resources,
        },
      }),
      triggeredBy: run.triggeredBy,
      type: run.type,
    },
    stack: {
      id: stack.id,
      name: stack.settings.name,
      description: stack.settings.description,
      labels: [...stack.settings.labels],
    },
  };
}

/**
 * JSON.stringify writes half of a surrogate pair as an escape, which Go, Rust and PostgreSQL refuse or
 * change; a replacement character is read alike everywhere.
 */
export function encodeJson(value: unknown): Buffer {
  const text = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' ? part.toWellFormed() : part,
  );
  return Buffer.from(text, 'utf8');
}
