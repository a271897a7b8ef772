/** State on the Slipway host, seen inside at `/state` or `/state/<name>`. */
export interface LocalState {
  readonly name: string | null;
  readonly target: string;
}

/**
 * The one form of `file:` URL there is; null for everything else. No encoding, no dots in front, no trailing slash:
 * the name becomes a folder on the host and must mean one folder only. A lone `_` cannot be a name because that is the
 * folder of `file:///state` itself.
 */
export function localStateOf(url: string): LocalState | null {
  const found = localStatePattern.exec(url);
  if (found === null) return null;
  const [, name] = found;
  return name === undefined ? { name: null, target: '/state' } : { name, target: `/state/${name}` };
}

export const localStatePattern = /^file:\/\/\/state(?:\/([A-Za-z0-9][A-Za-z0-9_.-]{0,99}))?$/;
