/** The query of a link or of a question to the API. What is empty is left out. */
export function queryOf(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).filter((field): field is [string, string] => !!field[1]);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
