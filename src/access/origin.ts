/** By what way somebody acts: `ui` for who is logged in, `comment` and `check` on GitHub. */
export const ways = ['api', 'ui', 'cli', 'comment', 'check'] as const;
export type Way = (typeof ways)[number];

/** Where a call comes from. */
export interface Origin {
  readonly via: Way;
  /** Of whoever is at the other end of the connection, a proxy perhaps; null without one. */
  readonly address: string | null;
  /** What X-Forwarded-For claims, as it came. Anybody can write anything there. */
  readonly forwardedFor: string | null;
}

const maxForwardedFor = 200;

/** Of a request that came over a connection; `address` as the socket has it. */
export function originOfRequest(request: Request, address: string | null): Origin {
  const claimed = request.headers.get('x-forwarded-for');
  return {
    via: 'api',
    // What listens on both families sees IPv4 in the clothes of IPv6.
    address: address?.replace(/^::ffff:(?=\d+\.)/, '') ?? null,
    forwardedFor: claimed?.slice(0, maxForwardedFor) ?? null,
  };
}

/** The command line, in this process. */
export const commandLine: Origin = { via: 'cli', address: null, forwardedFor: null };
