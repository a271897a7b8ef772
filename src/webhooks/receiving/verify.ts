import { createSecretKey } from 'node:crypto';
import { signatureHeaders } from '../sending/signature.ts';
import { bodyGuesses } from './body-guesses.ts';
import type { Cause, Guess } from './cause.ts';
import { forms, malformed, readSignature, type SignatureName, signatureNames } from './given-signature.ts';
import { secretGuesses } from './secret-guesses.ts';
import { timestampCauses } from './timestamp.ts';

/** A delivery as a receiver has it, and what the receiver believes is the secret. */
export interface ReceivedDelivery {
  readonly secret: string;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
  /** Unix seconds, for judging webhook-timestamp. */
  readonly nowSeconds: number;
}

/** What became of one signature header. */
export interface SignatureCheck {
  readonly header: SignatureName;
  readonly valid: boolean;
  readonly given: string;
  /** What it has to be for this secret and body; null when that cannot be said. */
  readonly expected: string | null;
  /** The first character that differs, counted from 1; null when none does or nothing is expected. */
  readonly differsAt: number | null;
  /** Empty when valid, else the likely ones. */
  readonly causes: readonly Cause[];
}

/**
 * Verifies each signature header that is there and looks for the reason when one does not fit, by signing
 * again with the usual mistakes. Valid only when all fit; false without any. Pure, and in no constant time:
 * for people at their own machine, not for receivers.
 */
export function verifyDelivery(delivery: ReceivedDelivery): {
  readonly valid: boolean;
  readonly checks: readonly SignatureCheck[];
} {
  const sign = signerOf(delivery);
  const candidates = lazily(() => candidatesOf(delivery, sign));
  const checks = signatureNames.flatMap((header) => {
    const given = delivery.headers.get(header);
    return given === undefined ? [] : [check(header, given)];
  });
  return { valid: checks.length > 0 && checks.every(({ valid }) => valid), checks };

  function check(header: SignatureName, given: string): SignatureCheck {
    const beside = header === 'webhook-signature' ? timestampCauses(delivery) : { causes: [], blocks: false };
    const expected = beside.blocks
      ? null
      : (sign({ cause: null, bytes: Buffer.from(delivery.secret) }, delivery.body)[header] ?? null);
    const entries = header === 'webhook-signature' ? given.split(' ') : [given];
    if (expected !== null && entries.includes(expected)) {
      const valid = beside.causes.length === 0;
      return { header, valid, given, expected, differsAt: null, causes: beside.causes };
    }
    const differsAt = expected === null ? null : firstDifference(closest(entries, expected), expected);
    const causes = [...diagnosis(header, given, expected), ...beside.causes];
    return { header, valid: false, given, expected, differsAt, causes };
  }

  function diagnosis(header: SignatureName, given: string, expected: string | null): readonly Cause[] {
    if (given.trim() === '') return [missing];
    if (header === 'webhook-signature' && delivery.secret === '') return [unsignedOnly];
    if (expected === null) return [];
    const pieces = header === 'webhook-signature' ? given.split(/\s+|,\s*(?=v\d)/) : [given];
    const separator = pieces.every((piece) => given.split(' ').includes(piece)) ? [] : [listSeparator];
    const read = pieces.map((piece) => readSignature(piece, forms[header]));
    for (const { causes, digest } of read) {
      for (const candidate of candidates()) {
        const found = comparison(header, digest, candidate.signed());
        if (!found) continue;
        const all = [...separator, ...causes, ...found, ...candidate.causes];
        // The right bytes, but not the text that stands for them.
        return all.length > 0 ? all : [malformed(forms[header])];
      }
    }
    return [...(read[0]?.causes ?? []), unexplained(delivery.body)];
  }
}

type Signed = Readonly<Partial<Record<SignatureName, string>>>;
type Sign = (secret: Guess, body: Uint8Array) => Signed;

function signerOf({ headers }: ReceivedDelivery): Sign {
  const deliveryId = headers.get('webhook-id') ?? '';
  const timestamp = Number(headers.get('webhook-timestamp'));
  return ({ bytes }, body) => {
    const key = bytes.length === 0 ? null : createSecretKey(bytes);
    return signatureHeaders(key, { body, deliveryId, timestamp });
  };
}

interface Candidate {
  readonly signed: () => Signed;
  readonly causes: readonly Cause[];
}

/** Nothing changed, then the secret, then the body, then both. */
function candidatesOf({ secret, body }: ReceivedDelivery, sign: Sign): readonly Candidate[] {
  const asGiven: Guess = { cause: null, bytes: Buffer.from(secret) };
  const secrets = secretGuesses(secret);
  const bodies = body.length > maxGuessedBytes ? [] : bodyGuesses(body);
  const pairs: readonly (readonly [Guess, Guess])[] = [
    [asGiven, { cause: null, bytes: body }],
    ...secrets.map((guess) => [guess, { cause: null, bytes: body }] as const),
    ...bodies.map((guess) => [asGiven, guess] as const),
    ...secrets.flatMap((one) => bodies.map((other) => [one, other] as const)),
  ];
  return pairs.map(([key, changed]) => ({
    signed: lazily(() => sign(key, changed.bytes)),
    causes: [key.cause, changed.cause].filter((cause) => cause !== null),
  }));
}

/** How a digest relates to what is expected; null when it does not. */
function comparison(header: SignatureName, digest: Buffer, signed: Signed): readonly Cause[] | null {
  for (const name of [header, ...signatureNames.filter((other) => other !== header)]) {
    const expected = readSignature(signed[name] ?? '', forms[name]).digest;
    if (expected.length > 0 && digest.equals(expected)) return name === header ? [] : [wrongAlgorithm(name)];
  }
  const { digestBytes } = forms[header];
  const expected = readSignature(signed[header] ?? '', forms[header]).digest;
  if (isStart(digest, expected)) {
    return [{ code: 'truncated', text: `The digest is cut off: ${digestBytes} bytes are expected.` }];
  }
  if (isStart(expected, digest)) {
    return [{ code: 'too-long', text: `Something follows the digest: ${digestBytes} bytes are expected.` }];
  }
  return null;
}

/** Fewer bytes than this agree by chance. */
const minAgreement = 4;

function isStart(start: Buffer, whole: Buffer): boolean {
  return start.length >= minAgreement && start.length < whole.length && whole.indexOf(start) === 0;
}

function firstDifference(given: string, expected: string): number {
  let index = 0;
  while (index < expected.length && given[index] === expected[index]) index += 1;
  return index + 1;
}

function closest(entries: readonly string[], expected: string): string {
  return entries.reduce((best, entry) =>
    firstDifference(entry, expected) > firstDifference(best, expected) ? entry : best,
  );
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const missing: Cause = { code: 'missing', text: 'The header is empty.' };
const listSeparator: Cause = {
  code: 'list-separator',
  text: 'Several signatures are separated by something other than one space.',
};
const unsignedOnly: Cause = {
  code: 'secret-empty',
  text: 'There is no webhook-signature without a secret, and the secret given here is empty.',
};

/** Four times what Slipway sends, indented or escaped as it may be. More would take seconds and much memory. */
const maxGuessedBytes = 1_048_576;

function unexplained({ length }: Uint8Array): Cause {
  if (length === 0)
    return { code: 'body-empty', text: 'The body is empty: something read it before, or no file was given.' };
  if (length > maxGuessedBytes)
    return { code: 'body-too-long', text: `The body has ${length} bytes. No body of Slipway is so long.` };
  const text =
    'No usual mistake explains it: either the secret is another one (regenerated, or of another webhook), or the ' +
    'body was changed.';
  return { code: 'unknown', text };
}

function wrongAlgorithm(name: SignatureName): Cause {
  const what = {
    'x-signature': 'X-Signature (HMAC-SHA1 of the body)',
    'x-signature-256': 'X-Signature-256 (HMAC-SHA256 of the body alone)',
    'webhook-signature': 'webhook-signature (HMAC-SHA256 of id, time and body)',
  }[name];
  return { code: 'wrong-algorithm', text: `This is the digest of ${what}.` };
}
