/** The ways a secret value turns up in output. Pure. */

/** Shorter values (`true`, `eu`) would turn every log into asterisks. In characters. */
export const minimumSecretLength = 4;
/** Single lines of a multi-line value, and pieces of base64, have to be longer: `}` and `-----` are everywhere. */
const minimumPieceLength = 8;

const encoder = new TextEncoder();

/** As programs write it, in what encoding ever. */
export function secretForms(secret: string): Uint8Array[] {
  if (secret.length < minimumSecretLength) return [];
  const texts = textsOf(secret).flatMap((text) => [text, ...jsonForms(text), ...urlForms(text)]);
  return encoded([...texts, ...base64Forms(secret)]);
}

/** As people read it: the text itself, in JSON, line by line. */
export function plainForms(secret: string): Uint8Array[] {
  if (secret.length < minimumSecretLength) return [];
  return encoded(textsOf(secret).flatMap((text) => [text, ...jsonForms(text)]));
}

const encoded = (texts: readonly string[]): Uint8Array[] =>
  [...new Set(texts)].map((text) => encoder.encode(text));

/** The value and, where it has several, its lines. */
function textsOf(secret: string): readonly string[] {
  const lines = secret
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== secret && line.length >= minimumPieceLength);
  return [secret, ...lines];
}

/** As JavaScript writes it, and as Go does, which also escapes what is special in HTML. */
function jsonForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const go = json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return [json, go];
}

/**
 * encodeURIComponent leaves `!'()*~` alone, RFC 3986 all but `~`, forms all but `*`. Some write a blank as `+`, some
 * use lower case.
 */
function urlForms(text: string): string[] {
  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  const plain = encodeURIComponent(text.toWellFormed());
  const encoded = [plain, plain.replace(/[!'()*]/g, percent), plain.replace(/[!'()~]/g, percent)];
  const upper = [...encoded, ...encoded.map((form) => form.replaceAll('%20', '+'))];
  const lower = upper.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  return [...upper, ...lower];
}

/**
 * Alone, and inside a longer text (`user:secret` of basic authentication), where the letters depend on how many bytes
 * stand before it: those letters that only the secret decides, for each of the three positions.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const whole = bytes.toString('base64').replace(/=+$/, '');
  const inner = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    return text.slice(first, last);
  });
  const forms = [whole, ...inner.filter((form) => form.length >= minimumPieceLength)];
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}
