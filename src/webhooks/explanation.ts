import type { Attempt } from './delivery-store.ts';

/** A failed attempt in plain words: what happened, and what to do about it. */
export interface Explanation {
  readonly what: string;
  readonly advice: string;
}

type Explained = Pick<Attempt, 'outcome' | 'error' | 'statusCode'>;

/** Null for what did not fail. For others than administrators give it the attempt as they see it. */
export function explain({ outcome, error, statusCode }: Explained): Explanation | null {
  if (outcome === 'unknown') return unknown;
  if (outcome !== 'failed' && outcome !== 'blocked') return null;
  if (statusCode !== null) return ofStatus(statusCode);
  return ofErrors[error ?? ''] ?? other;
}

const unknown: Explanation = {
  what: 'Slipway stopped before there was an answer: it may or may not have arrived.',
  advice: 'Nothing to do, unless the webhook is disabled: it is sent again, with the same id.',
};

const other: Explanation = {
  what: 'The connection failed.',
  advice: 'Check that the receiver can be reached from the server of Slipway.',
};

/** By the kind of failure: sending/failure.ts, `blocked`, and what others than administrators see. */
const ofErrors: Readonly<Record<string, Explanation>> = {
  timeout: {
    what: 'There was no answer in time.',
    advice:
      'Answer within 15 seconds, before the work is done, and check that no firewall drops connections.',
  },
  dns: {
    what: 'The name of the receiver has no address.',
    advice:
      'Check the spelling of the endpoint, and that the name servers of the Slipway server know the name.',
  },
  refused: {
    what: 'Nobody listens on that port of the receiver.',
    advice: 'Start the receiver, or correct the port of the endpoint.',
  },
  reset: {
    what: 'The receiver closed the connection without an answer.',
    advice: 'Look into the logs of the receiver, and of the proxy before it, at the time of the attempt.',
  },
  unreachable: {
    what: 'There is no way to the address of the receiver.',
    advice: 'Check routes and firewalls between the Slipway server and the receiver.',
  },
  tls: {
    what: 'The certificate of the receiver, or its TLS, was not accepted.',
    advice:
      'Renew the certificate, send the whole chain, and use the name that it is made for; CA_BUNDLE adds authorities of your own.',
  },
  protocol: {
    what: 'The answer was not HTTP.',
    advice:
      'Check the port, and whether the endpoint must begin with https: instead of http:, or the reverse.',
  },
  network: other,
  internal: {
    what: 'Slipway itself failed.',
    advice: 'The log of the server says more under the id of the delivery.',
  },
  blocked: {
    what: 'Slipway may not connect to this target.',
    advice: 'An operator can list it in WEBHOOK_ALLOWED_TARGETS; the detail says what was refused.',
  },
  'no-answer': {
    what: 'There was no answer.',
    advice: 'An administrator of the stack sees why.',
  },
};

function ofStatus(status: number): Explanation {
  return ofStatuses[status] ?? ofClass(status);
}

const signatureRefused =
  'Compare the secret of the webhook with that of the receiver, and compute the signature over the raw body.';

const ofStatuses: Readonly<Record<number, Explanation>> = {
  400: {
    what: 'The receiver did not understand the request.',
    advice: 'Look into the body of its answer and its logs: it may expect another format.',
  },
  401: { what: 'The receiver refused the signature, or wants credentials.', advice: signatureRefused },
  403: { what: 'The receiver refused the request.', advice: signatureRefused },
  404: {
    what: 'The receiver has nothing at that path.',
    advice: 'Correct the path of the endpoint, or deploy the receiver.',
  },
  405: {
    what: 'The receiver takes no POST at that path.',
    advice: 'Correct the path of the endpoint.',
  },
  408: { what: 'The receiver waited too long for the request.', advice: 'Look into its load and its proxy.' },
  410: {
    what: 'The receiver said that it is gone for good.',
    advice: 'The webhook is disabled: enable it once there is a receiver again, then replay what was missed.',
  },
  413: {
    what: 'The body was too large for the receiver.',
    advice: 'Let the receiver, and the proxy before it, take 256 KiB.',
  },
  429: {
    what: 'The receiver had too many requests.',
    advice: 'Nothing to do if it passes: it is sent again later, and Retry-After is honoured.',
  },
  502: {
    what: 'The proxy before the receiver got no proper answer from it.',
    advice: 'Check that the receiver runs behind its proxy.',
  },
  503: {
    what: 'The receiver was not available.',
    advice: 'Nothing to do if it passes: it is sent again later, and Retry-After is honoured.',
  },
  504: {
    what: 'The proxy before the receiver got no answer from it in time.',
    advice: 'Answer before the work is done.',
  },
};

function ofClass(status: number): Explanation {
  if (status >= 300 && status < 400) {
    return {
      what: 'The receiver answered with a redirect, and redirects are not followed.',
      advice: 'Make the address it leads to the endpoint.',
    };
  }
  if (status >= 500) {
    return { what: 'The receiver failed inside.', advice: 'Look into its logs at the time of the attempt.' };
  }
  return {
    what: 'The receiver did not accept the request.',
    advice: 'Look into the body of its answer and its logs.',
  };
}
