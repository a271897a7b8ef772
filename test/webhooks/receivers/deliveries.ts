import type { Clock } from '../../../src/clock.ts';
import type { RunState } from '../../../src/runs/run.ts';
import type { RunEvent } from '../../../src/runs/run-event.ts';
import { payloadOf } from '../../../src/webhooks/payload.ts';
import { createSender } from '../../../src/webhooks/sending/sender.ts';
import { aCommit, aRun, aStack, stackSettings } from '../../support/builders.ts';
import { aMessage, loopback } from '../sending/messages.ts';

/** A time that a receiver takes for now, or not: receivers look at the clock of this machine. */
export const secondsFromNow = (seconds: number): Clock => ({ nowMs: () => Date.now() + seconds * 1000 });

interface Sent {
  readonly url: string;
  readonly body: Uint8Array;
  readonly secret: string | null;
  readonly id: string;
  readonly clock?: Clock;
}

/** Sends with the sender of the product; gives the status of the answer, or how it failed. */
export async function deliver({ url, body, secret, id, clock = secondsFromNow(0) }: Sent) {
  await using sender = createSender({ guard: loopback, clock, version: '1', caBundle: null });
  const message = aMessage(url, { webhook: { secret }, body, deliveryId: id, attempt: 1 });
  const result = await sender.send(message);
  return 'statusCode' in result && result.statusCode !== null ? result.statusCode : result.kind;
}

/** The body that tells of a state of a run. */
export function bodyOf(stateVersion: number, state: RunState = 'PLANNING', id = 'run-a'): Buffer {
  return payloadOf(anEvent({ run: aRun({ id, state, stateVersion }) }));
}

function anEvent(change: Partial<RunEvent>): RunEvent {
  return {
    run: aRun(),
    stack: aStack(),
    timestampMs: 1_795_000_012_000,
    actor: 'ada',
    note: null,
    ...change,
  };
}

const withMessage = (message: string) => payloadOf(anEvent({ run: aRun({ commit: aCommit({ message }) }) }));
const withSettings = (change: Parameters<typeof stackSettings>[0]) =>
  payloadOf(anEvent({ stack: aStack({ settings: stackSettings(change) }) }));

/** Bodies whose bytes are easily changed by who reads, converts or writes them. */
export const oddBodies: readonly (readonly [string, Buffer])[] = [
  ['an emoji', withMessage('🎉 l’été \u{1f469}\u200d\u{1f680}')],
  ['line and paragraph separators', withMessage('a\u2028b\u2029c')],
  ['half of a surrogate pair', withMessage('a \ud83d b')],
  ['a NUL and other controls', withMessage('a\0b\u0001\u001f\u007f\r\n\t')],
  ['what HTML and shells have a use for', withMessage('</script> & "$(id)" \\ \' `id` %s *')],
  ['what looks like the keys of the payload', withMessage('"run":{"id":"x"},"stateVersion":9')],
  ['a message of 200 KB', withMessage('é'.repeat(100_000))],
  ['no description', withSettings({ description: '' })],
  ['500 labels', withSettings({ labels: Array.from({ length: 500 }, (_, n) => `label:${n}`) })],
];
