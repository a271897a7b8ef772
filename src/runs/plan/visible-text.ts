/** Characters that move text about or are not seen: a name must not look like another one. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One line in which everything can be seen; what is longer than `limit` characters is cut and ends in "…". */
export function visible(text: string, limit: number): string {
  const shown = text
    .slice(0, limit)
    .replace(unseen, (each) => escapes[each] ?? `\\u{${each.codePointAt(0)?.toString(16)}}`);
  return shown.length > limit || text.length > limit ? `${shown.slice(0, limit)}…` : shown;
}
