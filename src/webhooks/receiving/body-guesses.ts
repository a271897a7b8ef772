import { distinct, type Guess } from './cause.ts';
import { jsonStyles } from './json-styles.ts';

/** What a body becomes in frameworks, proxies, editors and terminals before it is signed or verified. Pure. */
export function bodyGuesses(body: Uint8Array): readonly Guess[] {
  const bytes = Buffer.from(body);
  const text = bytes.toString('utf8');
  const changed = (how: string, value: string | Uint8Array): Guess => {
    const told = `It fits the body ${how}. Sign and verify the bytes as they came, before anything reads them.`;
    return { cause: { code: 'body-changed', text: told }, bytes: Buffer.from(value) };
  };
  return distinct(body, [
    changed('without the line break at its end', text.replace(/\r?\n$/, '')),
    changed('without the white space at its end', text.trimEnd()),
    changed('with a line break at its end', `${text}\n`),
    changed('with a carriage return and a line break at its end', `${text}\r\n`),
    changed('with line breaks of Unix (LF)', text.replaceAll('\r\n', '\n')),
    changed('with line breaks of Windows (CRLF)', text.replace(/\r?\n/g, '\r\n')),
    ...(jsonStyles(text) ?? []).map(([style, json]) => changed(`written again ${style}`, json)),
    changed('without the byte order mark at its start', text.replace(/^\ufeff/, '')),
    changed('with a byte order mark at its start', `\ufeff${text}`),
    changed('read as Latin-1 and written as UTF-8', bytes.toString('latin1')),
    changed('read as UTF-8 and written as Latin-1', Buffer.from(text, 'latin1')),
    ...(/^[\w+/-]+={0,2}$/.test(text) ? [changed('decoded from base64', Buffer.from(text, 'base64'))] : []),
    changed('with nothing in it, as when something had read it before', ''),
  ]);
}
