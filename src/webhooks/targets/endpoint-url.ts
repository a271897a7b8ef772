import { isIP } from 'node:net';

/** What somebody typed as an endpoint, taken apart. */
export interface EndpointUrl {
  /**
   * The normalised URL: uniqueness is judged on it, and it is what requests are sent to. Lower-case scheme
   * and host, no default port, no trailing dot, path and query as the URL standard reads them, no fragment.
   */
  readonly url: string;
  /** Without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly isLiteral: boolean;
}

const maxUrlLength = 2048;
// RFC 1035 §2.3.4.
const maxHostnameLength = 253;
const maxLabelLength = 63;

/**
 * Reads an endpoint. The raw text is judged first: URL parsing silently removes tabs and line breaks, turns
 * backslashes into slashes and decodes percent signs in hosts, and two parsers that disagree are how
 * filters are passed.
 */
export function parseEndpoint(raw: string): EndpointUrl | { readonly refused: string } {
  if (raw.length > maxUrlLength) return { refused: `it is longer than ${maxUrlLength} characters` };
  if (hasUnsafeCharacter(raw)) {
    return { refused: 'it holds a space, a backslash, or a character that is not seen' };
  }
  const authority = /^https?:\/\/(?<authority>[^/?#]+)(?<next>.?)/i.exec(raw)?.groups;
  if (!authority) return { refused: 'only http:// and https:// addresses with a host are possible' };
  if (/[@%]/.test(authority['authority'] ?? '')) {
    return { refused: 'user name, password and percent signs cannot stand before the path' };
  }
  if (authority['next'] === '#') return { refused: 'the host must be followed by a path, not by "#"' };
  if (!URL.canParse(raw)) return { refused: 'it is not a valid URL' };
  const url = new URL(raw);
  const hostname = url.hostname.replace(/\.$/, '');
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  const isLiteral = isIP(literal) !== 0;
  const labels = hostname.split('.');
  if (!isLiteral && labels.some((label) => label === '' || label.length > maxLabelLength)) {
    return { refused: 'a part of the host name is empty or too long' };
  }
  if (hostname.length > maxHostnameLength) return { refused: 'the host name is too long' };
  // URLs allow more, resolvers and other parsers differ on it.
  if (!isLiteral && !/^[a-z0-9_.-]+$/.test(hostname)) {
    return { refused: 'the host name has a character that is not for host names' };
  }
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const host = url.port === '' ? hostname : `${hostname}:${url.port}`;
  return {
    url: `${url.protocol}//${host}${url.pathname}${url.search}`,
    hostname: literal,
    port,
    isLiteral,
  };
}

/** What people then read is not what is there. */
const misleading = /[\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u;

function hasUnsafeCharacter(text: string): boolean {
  if (/[\s\\]/.test(text) || misleading.test(text) || !text.isWellFormed()) return true;
  return Array.from(text).some((character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x20 || (code >= 0x7f && code <= 0x9f);
  });
}
