/**
 * From `host:port` to an address that may be dialled and answers, or to the reason why not, which is also what the
 * command gets to read.
 */
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { judgeAddresses, judgeName, parseAllowedHosts, type Rules } from './proxy-rules.ts';
import type { ConnectionDecision, NetworkAccess } from './sandbox.ts';

export interface Target {
  /** Lower case, without a final dot. */
  readonly host: string;
  readonly port: number;
}

/** Ready for net.connect and http.request, which try the addresses in turn and look nothing up again. */
export interface Dial {
  readonly host: string;
  readonly port: number;
  readonly lookup: LookupFunction;
  readonly autoSelectFamily: true;
  readonly autoSelectFamilyAttemptTimeout: number;
}

export type Found = Dial | { readonly status: number; readonly message: string };

/** Every address of a name. Rejects when it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface Destinations {
  find(target: Target): Promise<Found>;
}

export interface DestinationOptions {
  readonly access: Exclude<NetworkAccess, { mode: 'none' }>;
  readonly onConnection: (connection: ConnectionDecision) => void;
  readonly resolve?: Resolve;
  readonly ownAddresses: () => readonly string[];
}

/** Lookups use the four threads that file access of the whole server shares; one run may hold two of them. */
const lookupsAtOnce = 2;
const lookupTimeoutMs = 10_000;
/** Before the next address is tried; Node's 250 ms are less than a connection across the world takes. */
const attemptTimeoutMs = 2000;

export function createDestinations(options: DestinationOptions): Destinations {
  const { access, onConnection, ownAddresses, resolve = systemLookup } = options;
  const rules: Rules = { mode: access.mode, allowedHosts: parseAllowedHosts(access.allowedHosts) };
  const slots = createSlots(lookupsAtOnce);
  const decide = ({ host, port }: Target, decision: string, isAllowed: boolean) =>
    onConnection({ host, port, decision, isAllowed });

  return {
    async find(target) {
      const { host, port } = target;
      const refuse = (reason: string): Found => {
        decide(target, reason, false);
        return {
          status: 403,
          message: `Slipway refused ${host}:${port}: ${reason} (SANDBOX_NETWORK, SANDBOX_ALLOWED_HOSTS)\n`,
        };
      };
      const early = judgeName(host, port, rules);
      if (early !== null) return refuse(early);

      let addresses: readonly string[];
      try {
        addresses = isIP(host) ? [host] : await slots(() => withTimeout(resolve(host)));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        decide(target, `cannot be resolved: ${reason}`, false);
        return { status: 502, message: `${host} cannot be resolved: ${reason}\n` };
      }
      const refusal = judgeAddresses(host, port, addresses, ownAddresses(), rules);
      if (refusal !== null) return refuse(refusal);
      if (addresses.length === 0) return { status: 502, message: `${host} has no address\n` };
      decide(target, 'allowed', true);
      return {
        host,
        port,
        lookup: answering(addresses),
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
      };
    },
  };
}

async function systemLookup(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** A lookup that has its answer already. */
function answering(addresses: readonly string[]): LookupFunction {
  const answer = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, _options, callback) => callback(null, answer);
}

async function withTimeout<T>(promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error('the name server did not answer in time')),
    lookupTimeoutMs,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs at most `count` at once, the others in order. */
function createSlots(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (work) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
