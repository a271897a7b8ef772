/**
 * From `host:port` to an address that may be dialled and answers, or to the reason why not, which is also what the
 * command gets to read.
 */
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type { ConnectionDecision, NetworkAccess } from '../sandbox.ts';
import {
  defaultListSetting,
  isOddAddress,
  judgeAddresses,
  judgeName,
  parseAllowedHosts,
  type Rules,
} from './proxy-rules.ts';
import type { UpstreamProxy } from './proxy-upstream.ts';

export interface Target {
  /** Lower case, without a final dot. */
  readonly host: string;
  readonly port: number;
}

/** Where to connect to. */
export interface Route {
  readonly target: Target;
  /** Ready for net.connect and http.request, which try the addresses in turn and look nothing up again. */
  readonly dial: {
    readonly host: string;
    readonly port: number;
    /** Not of an upstream proxy, whose name is the operator's. */
    readonly lookup?: LookupFunction;
    readonly autoSelectFamily: true;
    readonly autoSelectFamilyAttemptTimeout: number;
  };
  /** Whom `dial` leads to, and what it is to be asked for (`host:port`); null when that is the target itself. */
  readonly via: { readonly proxy: UpstreamProxy; readonly authority: string } | null;
}

export type Found = Route | { readonly status: number; readonly message: string };

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
  readonly upstream: UpstreamProxy | null;
}

/** Lookups use the four threads that file access of the whole server shares; one run may hold two of them. */
const lookupsAtOnce = 2;
/** Who asks and goes leaves its lookup behind. More than all connections of a proxy are nobody's. */
const lookupsWaiting = 256;
const lookupTimeoutMs = 10_000;
/** Before the next address is tried; Node's 250 ms are less than a connection across the world takes. */
const attemptTimeoutMs = 2000;

export function createDestinations(options: DestinationOptions): Destinations {
  const { access, onConnection, ownAddresses, upstream, resolve = systemLookup } = options;
  const { mode, setting = defaultListSetting } = access;
  const rules: Rules = { mode, allowedHosts: parseAllowedHosts(access.allowedHosts, setting) };
  const settings = setting === defaultListSetting ? `SANDBOX_NETWORK, ${setting}` : setting;
  const slots = createSlots(lookupsAtOnce);
  const decide = ({ host, port }: Target, decision: string, isAllowed: boolean) =>
    onConnection({ host, port, decision, isAllowed });

  return {
    async find(target) {
      const { host, port } = target;
      const refuse = (reason: string): Found => {
        decide(target, reason, false);
        return { status: 403, message: `Slipway refused ${host}:${port}: ${reason} (${settings})\n` };
      };
      const early = judgeName(host, port, rules);
      if (early !== null) return refuse(early);

      let addresses: readonly string[];
      try {
        addresses = isIP(host) ? [host] : await slots(() => withTimeout(resolve(host)));
      } catch (error) {
        // Inside closed networks only the upstream proxy knows public names; the list says that this one is meant.
        if (upstream !== null && mode === 'allowlist') {
          decide(target, 'allowed', true);
          return { target, ...throughUpstream(upstream, target, []) };
        }
        const reason = error instanceof Error ? error.message : String(error);
        decide(target, `cannot be resolved: ${reason}`, false);
        return { status: 502, message: `${host} cannot be resolved: ${reason}\n` };
      }
      const refusal = judgeAddresses(host, port, addresses, ownAddresses(), rules);
      if (refusal !== null) return refuse(refusal);
      if (addresses.length === 0) {
        decide(target, 'has no address', false);
        return { status: 502, message: `${host} has no address\n` };
      }
      decide(target, 'allowed', true);
      if (upstream !== null) return { target, ...throughUpstream(upstream, target, addresses) };
      return { target, dial: { host, port, lookup: answering(addresses), ...inTurn }, via: null };
    },
  };
}

const inTurn = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: attemptTimeoutMs } as const;

/** By name, because names may lead elsewhere there; but what is an address in disguise is asked for as what was judged. */
function throughUpstream(
  proxy: UpstreamProxy,
  { host, port }: Target,
  addresses: readonly string[],
): Pick<Route, 'dial' | 'via'> {
  const asked = isOddAddress(host) ? (addresses[0] ?? host) : host;
  const authority = `${isIP(asked) === 6 ? `[${asked}]` : asked}:${port}`;
  return { dial: { host: proxy.host, port: proxy.port, ...inTurn }, via: { proxy, authority } };
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
    if (waiting.length >= lookupsWaiting) throw new Error('too many names are being looked up');
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
