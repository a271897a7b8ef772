import { UserError } from '../user-error.ts';

/**
 * The headers that administrators add to the requests of a webhook, most of them credentials: which names and
 * values are possible. Pure. Values are write-only, so no error says one, nor a name that may hold one.
 */
export type Headers = Readonly<Record<string, string>>;

/** Null removes the header. */
export type HeaderChange = Readonly<Record<string, string | null>>;

export const maxHeaders = 20;
export const maxNameLength = 200;
export const maxValueBytes = 4096;
/** What is shown for every value. Whoever sends back what was shown must not set it. */
export const hiddenValue = '***';

export const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible ASCII with blanks and tabs inside: neither a line break nor what servers decode in their own way. */
export const plainValue = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;

/** Names that are ours, the connection's or the body's. One that ends with * stands for all that begin so. */
const reserved = [
  ...[
    'connection',
    'keep-alive',
    'proxy-*',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'http2-settings',
  ],
  ...['host', 'expect', 'date', 'user-agent', 'accept-encoding', 'content-*'],
  ...['x-signature*', 'webhook-*', 'x-slipway-*'],
  // A receiver that believes them would take us for somebody else.
  ...['forwarded', 'x-forwarded-*', 'x-real-ip', 'via'],
  // The session of a person; machines have `authorization`.
  ...['cookie', 'cookie2', 'set-cookie'],
  // By these, cloud metadata services know a request from one that somebody was tricked into.
  ...['metadata', 'metadata-*', 'x-google-metadata-*', 'x-aws-ec2-metadata-*'],
];

/** Throws `invalid-input` for a header that cannot be, and for more of them than are possible. */
export function changedHeaders(current: Headers, change: HeaderChange): Headers {
  const given = Object.entries(change).map(([written, value], index) => {
    const name = checkedName(written, index + 1);
    return { name, value: value === null ? null : settableValue(name, value) };
  });
  const names = given.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw refused(`headers.${twice}`, 'stands there twice; names have no upper and lower case');
  const merged = new Map(Object.entries(current));
  for (const { name, value } of given) {
    if (value === null) merged.delete(name);
    else merged.set(name, value);
  }
  if (merged.size > maxHeaders) throw refused('headers', `at most ${maxHeaders} are possible`);
  return Object.fromEntries(merged);
}

/** In lower case. */
function checkedName(given: string, position: number): string {
  if (!token.test(given) || given.length > maxNameLength) {
    const rule = `letters, digits and !#$%&'*+-.^_\`|~ only, at most ${maxNameLength} of them`;
    throw refused('headers', `name ${position} is not the name of a header: ${rule}`);
  }
  return given.toLowerCase();
}

/** `name` in lower case. */
export function isReserved(name: string): boolean {
  return reserved.some((entry) =>
    entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : name === entry,
  );
}

/** Only what is set is judged by its name: what was possible once can still be removed. */
function settableValue(name: string, value: string): string {
  const path = `headers.${name}`;
  if (isReserved(name)) throw refused(path, 'this header cannot be set', reservedHint);
  if (value === hiddenValue) {
    throw refused(
      path,
      `${hiddenValue} only stands for its value`,
      'Leave the header out to keep it as it is.',
    );
  }
  if (value.length > maxValueBytes) throw refused(path, `its value is longer than ${maxValueBytes} bytes`);
  if (plainValue.test(value)) return value;
  throw refused(path, 'its value may hold visible ASCII characters, with spaces and tabs between them');
}

const reservedHint =
  'Those of the connection and the body, signatures, cookies, and names by which senders are trusted are reserved.';

function refused(path: string, message: string, hint?: string): UserError {
  const issues = [{ path, message }];
  return new UserError('invalid-input', `${path}: ${message}`, { issues, ...(hint && { hint }) });
}
