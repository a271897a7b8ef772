import { homedir, hostname, tmpdir } from 'node:os';

/** What the engine says where it does not know a value yet; the same everywhere. */
const unknownValue = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';

/** As whole words: `/state/root` is no home of root. */
const traces = [homedir(), hostname(), tmpdir()]
  .filter((word) => word.length > 3)
  .map((word) => new RegExp(`(?<![\\w.-])${RegExp.escape(word)}(?![\\w-])`));

/**
 * Takes out what tells of this machine and this moment, so that two recordings of the same thing are equal. Identifiers are
 * numbered in the order in which they come, across all texts that go through one neutraliser.
 */
export function neutraliser(places: Readonly<Record<string, string>>): (text: string) => string {
  const ids = new Map<string, string>([[unknownValue, unknownValue]]);
  const numbered = (id: string) => {
    const known = ids.get(id) ?? `00000000-0000-4000-8000-${String(ids.size).padStart(12, '0')}`;
    ids.set(id, known);
    return known;
  };
  const keys = new Map<string, string>();
  const numberedKey = (_: string, before: string, key: string) => {
    const known = keys.get(key) ?? `dead${String(keys.size).padStart(4, '0')}`;
    keys.set(key, known);
    return before + known;
  };
  return (text) => {
    let neutral = text;
    for (const [place, replacement] of Object.entries(places))
      neutral = neutral.replaceAll(place, replacement);
    neutral = neutral
      .replace(/Logged in to \S+ as \S+/g, 'Logged in to host as slipway')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, numbered)
      .replace(/(deposed object |"deposed(?:_key)?":")([0-9a-f]{8})/g, numberedKey)
      .replace(/"(ciphertext|seed|magic|time)": "(?!\[secret\]")[^"]*"/g, '"$1": "…"')
      .replace(/"timestamp":"[^"]+"/g, '"timestamp":"2026-01-01T00:00:00Z"')
      .replace(/(complete after|elapsed,?) \d+m?s/g, '$1 0s')
      .replace(/(Created: +)\d.*/g, '$12026-01-01 00:00:00 UTC')
      .replace(/(Who: +)(?!somebody).*/g, '$1slipway@host')
      .replace(/"timestamp":\d+/g, '"timestamp":1767225600')
      .replace(/"durationSeconds":\d+/g, '"durationSeconds":1')
      .replace(/(Duration: +)\d+s/g, '$11s')
      .replace(/(127\.0\.0\.1):\d{5}/g, '$1:50000')
      // In the trace of a panic: addresses, a string by address and length (of a path here), threads.
      .replace(/0x[0-9a-f]{6,}/g, '0xc000000000')
      .replace(/\{0xc000000000, 0x[0-9a-f]+\}/g, '{0xc000000000, 0x28}')
      .replace(/goroutine \d+/g, 'goroutine 1')
      .replace(/\d+ promises were still active/g, '4 promises were still active');
    for (const trace of traces) {
      if (trace.test(neutral)) throw new Error(`${trace} of this machine is in: ${neutral.slice(0, 2000)}`);
    }
    return neutral;
  };
}
