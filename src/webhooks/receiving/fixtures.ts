import { toUnixSeconds } from '../../clock.ts';
import type { NewId } from '../../ids.ts';
import type { Payload } from '../payload-schema.ts';
import { signatureHeaders, signingKey } from '../sending/signature.ts';
import {
  accept,
  type Expectation,
  type Fixture,
  refuse,
  type SignedRequest,
  withForgedSignatures,
  withHeaders,
  withoutSignatures,
} from './fixture.ts';
import { toleranceSeconds } from './timestamp.ts';

/** Anybody may know it: it is for tests. */
export const exampleSecret = 'slipway-example-secret';

/** Late enough for every receiver. */
const lateSeconds = 12 * toleranceSeconds;

/**
 * Requests as the sender makes them, and as others would change them, in the order in which they are to be
 * sent. Pure: ids and time come in.
 */
export function makeFixtures(parts: {
  readonly secret: string;
  readonly nowMs: number;
  readonly newId: NewId;
}): readonly Fixture[] {
  const { secret, newId } = parts;
  const nowSeconds = toUnixSeconds(parts.nowMs);
  const [runId, otherRunId, lateRunId] = [newId(), newId(), newId()];

  const payload = (stateVersion: number, state: string, id = runId): Payload =>
    examplePayload({ id, stateVersion, state, nowSeconds });

  function sign(content: Payload | Buffer, by = secret, timestamp = nowSeconds): SignedRequest {
    const deliveryId = newId();
    const body = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Slipway/fixtures',
      'x-slipway-delivery': deliveryId,
      'x-slipway-attempt': '1',
      ...signatureHeaders(signingKey(by), { body, deliveryId, timestamp }),
    };
    return { headers, body };
  }

  const good = sign(payload(1, 'QUEUED'));
  const confirmed = sign(payload(4, 'CONFIRMED'));
  const bothSignatures = `v1,${Buffer.alloc(32).toString('base64')} ${confirmed.headers['webhook-signature']}`;
  const odd = payload(5, 'PREPARING_APPLY');
  const oddMessage = 'l’été 🎉 \u2028 </script> & \\ " \t \0';
  const oddCommit = { ...odd.run.commit, message: oddMessage };
  const indented = Buffer.from(`${JSON.stringify(payload(6, 'APPLYING'), null, 2)}\n`);
  // To be refused, so that one run serves them all.
  const finished = payload(1, 'FINISHED', otherRunId);
  const toTamper = sign(finished);
  const tampered = Buffer.from(toTamper.body.toString().replace('FINISHED', 'FAILED'));

  return [
    fixture('good', 'as Slipway sends it', good, accept('handled: the run is QUEUED')),
    fixture(
      'duplicated',
      'the same delivery once more, as its second attempt',
      withHeaders(good, { 'x-slipway-attempt': '2' }),
      accept('not handled a second time'),
    ),
    fixture(
      'reordered-newer',
      'version 3 of a run, before its version 2',
      sign(payload(3, 'PLANNING')),
      accept('handled: the run is PLANNING'),
    ),
    fixture(
      'reordered-older',
      'version 2 of the run, after its version 3',
      sign(payload(2, 'PREPARING')),
      accept('the run stays PLANNING'),
    ),
    fixture(
      'two-signatures',
      'while a secret is being changed: only the second signature in webhook-signature fits',
      withHeaders(confirmed, { 'webhook-signature': bothSignatures }),
      accept('handled: the run is CONFIRMED'),
    ),
    fixture(
      'odd-text',
      'a commit message that is easily changed by reading and writing it',
      sign({ ...odd, run: { ...odd.run, commit: oddCommit } }),
      accept('handled: the run is PREPARING_APPLY'),
    ),
    fixture(
      'odd-bytes',
      'indented JSON, signed as it is: shows whether the bytes are verified or what was parsed',
      sign(indented),
      accept('handled: the run is APPLYING'),
    ),
    fixture(
      'unknown-state',
      'a state that a later version may have',
      sign(payload(7, 'SOME_LATER_STATE')),
      accept('stored or ignored'),
    ),
    fixture('tampered-body', 'the state was changed on the way', { ...toTamper, body: tampered }, refuse),
    fixture(
      'tampered-signature',
      'one character of each signature was changed',
      withForgedSignatures(sign(finished)),
      refuse,
    ),
    fixture(
      'late',
      `signed rightly, but ${lateSeconds} s ago: a replay`,
      sign(payload(1, 'FINISHED', lateRunId), secret, nowSeconds - lateSeconds),
      { ...refuse, acceptedWithoutTime: true },
    ),
    fixture('wrong-secret', 'signed with another secret', sign(finished, `${secret}.`), refuse),
    fixture('empty-secret', 'signed with the empty secret, which everybody has', sign(finished, ''), refuse),
    fixture('unsigned', 'without any signature', withoutSignatures(sign(finished)), refuse),
  ];
}

function fixture(name: string, about: string, request: SignedRequest, expected: Expectation): Fixture {
  return { name, about, ...request, expected };
}

function examplePayload(about: {
  readonly id: string;
  readonly stateVersion: number;
  readonly state: string;
  readonly nowSeconds: number;
}): Payload {
  const { id, stateVersion, state, nowSeconds } = about;
  const hash = '1f0c2b3a4d5e6f708192a3b4c5d6e7f8091a2b3c';
  return {
    account: 'example',
    state,
    stateVersion,
    timestamp: nowSeconds,
    run: {
      id,
      branch: 'main',
      commit: {
        authorLogin: 'ada',
        authorName: 'Ada Example',
        hash,
        message: 'Widen the network',
        timestamp: nowSeconds - 60,
        url: `https://github.com/example/infra/commit/${hash}`,
      },
      createdAt: nowSeconds - 30,
      delta: { added: 2, changed: 1, deleted: 0, resources: 14 },
      triggeredBy: 'ada@example.com',
      type: 'TRACKED',
    },
    stack: { id: 'network-prod', name: 'Network Prod', description: '', labels: ['prod'] },
  };
}
