/** A request as it goes over the wire. */
export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** One request of the kit that receivers are tested with. */
export interface Fixture extends SignedRequest {
  readonly name: string;
  /** What is special about it. */
  readonly about: string;
  readonly expected: Expectation;
}

export interface Expectation {
  /** accept: any 2xx. refuse: 401, and 400 and 403 do as well. */
  readonly answer: 'accept' | 'refuse';
  /** Accepting is right, too, for a receiver that verifies X-Signature-256 and knows no time. */
  readonly acceptedWithoutTime: boolean;
  /** What the receiver must make of it beside its answer. */
  readonly effect: string;
}

export function accept(effect: string): Expectation {
  return { answer: 'accept', acceptedWithoutTime: false, effect };
}

export const refuse: Expectation = {
  answer: 'refuse',
  acceptedWithoutTime: false,
  effect: 'nothing is handled',
};

/** Whether a receiver that answers so did what it should. */
export function isRightAnswer({ answer, acceptedWithoutTime }: Expectation, status: number): boolean {
  const isAccepted = status >= 200 && status <= 299;
  if (isAccepted) return answer === 'accept' || acceptedWithoutTime;
  return answer === 'refuse' && [400, 401, 403].includes(status);
}

export function withHeaders(request: SignedRequest, changed: Record<string, string>): SignedRequest {
  return { ...request, headers: { ...request.headers, ...changed } };
}

export function withoutSignatures({ headers, body }: SignedRequest): SignedRequest {
  const rest = Object.entries(headers).filter(([name]) => !isSignature(name));
  return { headers: Object.fromEntries(rest), body };
}

/** Each signature with another first character. */
export function withForgedSignatures({ headers, body }: SignedRequest): SignedRequest {
  const forged = Object.entries(headers).map(([name, value]) => {
    const other = value.replace(/(?<=[=,])./, (first) => (first === '0' ? '1' : '0'));
    return [name, isSignature(name) ? other : value];
  });
  return { headers: Object.fromEntries(forged), body };
}

const isSignature = (name: string): boolean => name.includes('signature');
