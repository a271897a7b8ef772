import { distinct, type Guess } from './cause.ts';

/** What a secret becomes in files, shells, settings and libraries before it is used as a key. Pure. */
export function secretGuesses(secret: string): readonly Guess[] {
  const changed = (how: string, value: string | Uint8Array | null): readonly Guess[] => {
    if (value === null) return [];
    const text = `It fits when the secret is ${how}. Slipway uses the bytes of the secret (UTF-8) as they are.`;
    return [{ cause: { code: 'secret-changed', text }, bytes: Buffer.from(value) }];
  };
  const empty = {
    code: 'secret-empty',
    text: 'It is made with the empty secret: whoever signed had none, so anybody could have written this.',
  } as const;
  return distinct(Buffer.from(secret), [
    ...changed('followed by a line break, as when it is read from a file', `${secret}\n`),
    ...changed('followed by a carriage return and a line break', `${secret}\r\n`),
    ...changed('cut of the spaces and line breaks around it', secret.trim()),
    ...changed('freed of the quotes around it', secret.replace(/^(["'])(.*)\1$/s, '$2')),
    ...changed('put into double quotes', `"${secret}"`),
    ...changed('put into single quotes', `'${secret}'`),
    { cause: empty, bytes: Buffer.alloc(0) },
    ...changed('decoded from base64', decoded(secret, 'base64')),
    ...changed('decoded from hex', decoded(secret, 'hex')),
    ...changed('decoded from base64 behind "whsec_"', decoded(secret.replace(/^whsec_/, ''), 'base64')),
    ...changed('without its "whsec_"', secret.replace(/^whsec_/, '')),
    ...changed('encoded in base64', Buffer.from(secret).toString('base64')),
    ...changed('encoded in hex', Buffer.from(secret).toString('hex')),
    ...changed('taken for a part of a URL and decoded', urlDecoded(secret)),
    ...changed('encoded in Latin-1', Buffer.from(secret, 'latin1')),
    ...changed('composed (NFC)', secret.normalize('NFC')),
    ...changed('decomposed (NFD)', secret.normalize('NFD')),
  ]);
}

/** Null when it is no such text. base64url is read, too. */
function decoded(text: string, encoding: 'base64' | 'hex'): Uint8Array | null {
  const pattern = encoding === 'hex' ? /^([0-9a-f]{2})+$/i : /^[\w+/-]+={0,2}$/;
  return pattern.test(text) ? Buffer.from(text, encoding) : null;
}

function urlDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
