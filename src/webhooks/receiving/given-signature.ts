import type { Cause } from './cause.ts';

export const signatureNames = ['x-signature', 'x-signature-256', 'webhook-signature'] as const;
export type SignatureName = (typeof signatureNames)[number];

/** The digest that a header's value seems to mean, and what is wrong with how it is written. */
export interface GivenSignature {
  readonly digest: Buffer;
  readonly causes: readonly Cause[];
}

export interface Form {
  readonly prefix: 'sha1=' | 'sha256=' | 'v1,';
  readonly encoding: 'hex' | 'base64';
  readonly digestBytes: number;
}

export const forms: Readonly<Record<SignatureName, Form>> = {
  'x-signature': { prefix: 'sha1=', encoding: 'hex', digestBytes: 20 },
  'x-signature-256': { prefix: 'sha256=', encoding: 'hex', digestBytes: 32 },
  'webhook-signature': { prefix: 'v1,', encoding: 'base64', digestBytes: 32 },
};

/** Reads a value as forgivingly as it can: what is meant decides what is said about it. Pure. */
export function readSignature(value: string, form: Form): GivenSignature {
  const bare = value.replace(/^[\s"']+|[\s"']+$/g, '');
  const [, prefix = '', text = ''] = /^((?:sha\d+|v\d+[a-z]*)[=,:])?(.*)$/is.exec(bare) ?? [];
  const encoding = /^[0-9a-f]*$/i.test(text) ? 'hex' : 'base64';
  const digest = Buffer.from(text, encoding);
  return {
    digest,
    causes: [
      ...(bare === value ? [] : [padding]),
      ...prefixCauses(prefix, form),
      ...(encoding === form.encoding || text === '' ? [] : [otherEncoding(encoding, digest, form)]),
      ...(encoding === 'hex' && /[A-F]/.test(text) ? [upperCase] : []),
      ...(encoding === 'base64' && /[-_]/.test(text) ? [urlAlphabet] : []),
    ],
  };
}

const padding: Cause = {
  code: 'padding',
  text: 'Spaces or quotes stand around the value.',
};
const upperCase: Cause = {
  code: 'upper-case',
  text: 'The digest is in upper-case hex. Slipway writes lower case, and verifiers compare text.',
};
const urlAlphabet: Cause = {
  code: 'wrong-encoding',
  text: 'The digest is in base64url (with - and _), not in plain base64.',
};

function prefixCauses(prefix: string, form: Form): readonly Cause[] {
  if (prefix === form.prefix) return [];
  if (prefix === '')
    return [{ code: 'prefix-missing', text: `The value does not begin with "${form.prefix}".` }];
  return [
    {
      code: 'prefix-wrong',
      text: `The value begins with "${prefix}", but has to begin with "${form.prefix}".`,
    },
  ];
}

/** With a wrong character, too, hex is base64 to a forgiving reader; but then its length is none of a digest. */
function otherEncoding(encoding: 'hex' | 'base64', digest: Buffer, form: Form): Cause {
  const isDigest = Object.values(forms).some(({ digestBytes }) => digest.length === digestBytes);
  if (encoding === 'base64' && !isDigest) return malformed(form);
  return { code: 'wrong-encoding', text: `The digest is in ${encoding}, but has to be in ${form.encoding}.` };
}

export function malformed({ encoding, digestBytes }: Form): Cause {
  const { length } = Buffer.alloc(digestBytes).toString(encoding);
  const text = `The digest is not ${length} characters of ${encoding}: some are too many, missing, or do not belong there.`;
  return { code: 'malformed', text };
}
