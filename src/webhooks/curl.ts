/** What curl has to send. Header names in lower case. */
export interface CurlRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The value of a header that is not kept (delivery-store.ts `AttemptExchange`). */
const masked = '***';

/**
 * A command for POSIX shells that sends the bytes and headers of an attempt again. The body goes through standard
 * input: a single argument of a command may be too short for it, while printf is built into the shell.
 */
export function curlCommand({ url, headers, body }: CurlRequest): string {
  const hidden = Object.keys(headers).filter((name) => headers[name] === masked);
  const notes = hidden.map(
    (name) => `# The value of ${name} is not kept: put it in the place of ${masked}.\n`,
  );
  // curl adds these by itself, the attempt had none.
  const unwanted = ['accept', 'expect'].filter((name) => !(name in headers)).map((name) => `${name}:`);
  const sent = Object.entries(headers).map(([name, value]) =>
    value === '' ? `${name};` : `${name}: ${value}`,
  );
  const options = [
    '--silent --show-error --include --http1.1 --globoff --max-time 15',
    ...[...sent, ...unwanted].map((header) => `--header ${quoted(header)}`),
    `--data-binary @- ${quoted(url)}`,
  ];
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  return `${notes.join('')}printf '%s' ${quoted(text)} |\n  curl ${options.join(' \\\n    ')}\n`;
}

/** One word for a POSIX shell, whatever is in it: nothing is special between single quotes but their end. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
