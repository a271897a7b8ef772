import type { Redactor } from './output.ts';

/**
 * Hides what looks like a credential of a well-known kind, though nobody has said that it is one. By the formats that
 * their issuers document. It cannot know them all, and is the last line behind the values that are known.
 */

/** What comes before a token is none of its characters: so no text is looked at from many places. */
const apart = '(?<![A-Za-z0-9_-])';

const tokens: readonly string[] = [
  // GitHub: personal, OAuth, user, server and refresh tokens, of fixed length or with a JWT in them; fine-grained ones.
  'gh[pousr]_[A-Za-z0-9._-]{36,}',
  'github_pat_[A-Za-z0-9_]{22,}',
  // AWS: ids of access keys, which are half of a credential.
  '(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])',
  // Google: API keys, OAuth access tokens.
  'AIza[A-Za-z0-9_-]{35}',
  'ya29\\.[A-Za-z0-9_-]{20,}',
  // Slack: bot, user, app, refresh and configuration tokens.
  'xox[a-z]-[A-Za-z0-9-]{10,}',
  'xapp-[A-Za-z0-9-]{10,}',
  // A JWT: its header is a JSON object.
  'eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}',
  // Microsoft Entra ID: secrets of applications.
  '[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}',
];

/** What stands after these names, of which the name stays. */
const named: readonly string[] = [
  '(?:AccountKey|SharedAccessKey|SharedAccessSignature)=',
  '(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY)["\']?\\s{0,4}[=:]\\s{0,4}["\']?',
];

const pattern = new RegExp(
  `${apart}(?:${tokens.join('|')})|(?<=${apart}(?:${named.join('|')}))[A-Za-z0-9+/=%&_.~-]{16,}`,
  'g',
);

/** Of a stream that was cut off: the beginning of a token that may have gone on. */
const beginning = new RegExp(
  `${apart}(?:gh[pousr]_|github_pat_|AKIA|ASIA|AIza|ya29\\.|xox[a-z]-|xapp-|eyJ)[A-Za-z0-9._-]*$|(?<=${apart}(?:${named.join('|')}))\\S*$`,
);

/** What every one of them has in it: most output has nothing of it, and is told by this in half the time. */
const sign =
  /gh[pousr]_|github_pat_|A[KS]IA|AIza|ya29\.|xox[a-z]-|xapp-|eyJ|[0-9]Q~|AccessKey|AccountKey|AccessSignature|secret_access_key|SECRET_ACCESS_KEY|-----BEGIN/;

const keyBegins = /-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/;
const keyEnds = /-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/;

/** A longer line is decided in pieces, between two words where that is possible. */
const longestLine = 64 * 1024;
/** The largest JWTs that people see have some 2 KiB. */
const longestWord = 4096;
const tokenCharacter = /[A-Za-z0-9._~+/=%&-]/;
/** A key that does not end within so many bytes is none: all of the output must not disappear behind its beginning. */
const longestKey = 64 * 1024;

const mask = '***';

/** What says of the next word that it is a secret, itself several words: the name of a value, a part of where a key begins. */
const announcement =
  /(?:-----BEGIN(?: [A-Z0-9]*){1,6}|(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY)["']?\s{0,4}[=:]?\s{0,4}["']?)$/;
const longestAnnouncement = 256;

/** Where the characters begin that a token at the end of the text may consist of. A longer one goes on in the next piece. */
function lastWordBegins(text: string): number {
  let at = text.length;
  while (text.length - at < longestWord && tokenCharacter.test(text[at - 1] ?? ' ')) at -= 1;
  const from = Math.max(0, at - longestAnnouncement);
  const before = text.slice(from, at);
  return from + (announcement.exec(before)?.index ?? before.length);
}

/** Whole lines, and what ends in a carriage return; the beginning of a line waits for its end. */
export function createPatternRedactor(): Redactor {
  let held = '';
  /** Bytes of a private key that were hidden so far; null outside of one. */
  let inKey: number | null = null;
  /** The piece before ended in a token, which goes on. */
  let inToken = false;

  /** Line by line, so that it makes no difference in which pieces they come. */
  function decide(text: string): string {
    if (inKey === null && !inToken && !sign.test(text)) return text;
    return text.replace(/[^\n\r]+/g, (line, at: number) => {
      if (at > 0) inToken = false;
      return decideLine(line);
    });
  }

  function decideLine(line: string): string {
    let rest = line;
    let shown = '';
    while (rest !== '') {
      if (inKey !== null) {
        const ends = keyEnds.exec(rest);
        inKey += rest.length;
        if (ends !== null || inKey > longestKey) inKey = null;
        if (ends === null) return shown;
        rest = rest.slice(ends.index + ends[0].length);
      } else {
        const begins = keyBegins.exec(rest);
        if (begins === null) return shown + withoutTokens(rest);
        shown += withoutTokens(rest.slice(0, begins.index)) + mask;
        rest = rest.slice(begins.index + begins[0].length);
        inKey = 0;
      }
    }
    return shown;
  }

  function withoutTokens(text: string): string {
    const from = inToken ? text.search(/[^A-Za-z0-9._~+/=%&-]|$/) : 0;
    // All of it is the rest of a token, which may still go on.
    if (inToken && from === text.length) return '';
    const hidden = text.slice(from).replace(pattern, mask);
    inToken = hidden.endsWith(mask) && !text.endsWith(mask);
    return hidden;
  }

  const encode = (text: string): Uint8Array => Buffer.from(text, 'latin1');

  return {
    write(chunk) {
      const text = held + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
      let end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
      const isCutInLine = text.length - end > longestLine;
      if (isCutInLine) end = lastWordBegins(text);
      held = text.slice(end);
      const shown = decide(text.slice(0, end));
      if (!isCutInLine && end > 0) inToken = false;
      return encode(shown);
    },
    flush(isCutShort = false) {
      const text = decide(held);
      held = '';
      return encode(isCutShort && !inToken ? text.replace(beginning, mask) : text);
    },
  };
}
