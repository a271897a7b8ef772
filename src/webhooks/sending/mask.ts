/** Hides values in what receivers say: some answer with what they were asked. Null: there is nothing to hide. */
export type Mask = ((text: string) => string) | null;

/** What is shorter is found everywhere, and no secret. */
const minLength = 4;
/** Of one word of a value, such as the token behind "Bearer". */
const minWordLength = 8;

/** Of the values of a webhook's own headers, which are ASCII: as they are, word by word, and as JSON writes them. */
export function maskOf(values: readonly string[]): Mask {
  const words = values
    .flatMap((value) => value.split(/[ \t]+/))
    .filter((word) => word.length >= minWordLength);
  const plain = [...values.filter((value) => value.length >= minLength), ...words];
  const written = plain.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]);
  // The longest first: one may be a part of another.
  const hidden = [...new Set(written)].sort((one, other) => other.length - one.length);
  if (hidden.length === 0) return null;
  return (text) => hidden.reduce((rest, value) => rest.replaceAll(value, '***'), text);
}
