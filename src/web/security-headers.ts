/**
 * On every answer. Nothing here may be framed, sniffed or cached; API answers load nothing. Pages will bring a
 * policy of their own, hence only where none is set.
 */
const defaults: readonly (readonly [string, string])[] = [
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cache-control', 'no-store'],
];

export function addSecurityHeaders(headers: Headers): void {
  for (const [name, value] of defaults) {
    if (!headers.has(name)) headers.set(name, value);
  }
}
