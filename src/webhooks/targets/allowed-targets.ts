import { domainToASCII } from 'node:url';
import { UserError } from '../../user-error.ts';
import { type Address, type AddressRange, contains, parseAddress, parseRange } from './addresses.ts';

/**
 * The operator's list of private targets that webhooks may reach (WEBHOOK_ALLOWED_TARGETS). It only knows
 * what was written there; what is refused without it is target-guard's business.
 */
export interface AllowedTargets {
  /** Listed by name, itself or by its suffix. */
  allowsName(hostname: string, port: number): boolean;
  allowsAddress(address: Address, port: number): boolean;
  /** Listed as this one address, not as part of a range: the only way to a metadata service. */
  allowsExactly(address: Address, port: number): boolean;
}

type Target =
  | { readonly kind: 'name'; readonly name: string; readonly port: number | null }
  | { readonly kind: 'suffix'; readonly suffix: string; readonly port: number | null }
  | { readonly kind: 'addresses'; readonly range: AddressRange; readonly port: number | null };

/**
 * Entries are `host`, `*.suffix`, an address or a CIDR, each with an optional `:port` (IPv6 in brackets
 * then). Throws UserError `config-invalid`: a misspelt entry must not silently allow less, or more.
 */
export function parseAllowedTargets(entries: readonly string[]): AllowedTargets {
  const targets = entries.map(parseTarget);
  const open = (target: Target, port: number) => target.port === null || target.port === port;
  return {
    allowsName: (hostname, port) =>
      targets.some(
        (target) =>
          open(target, port) &&
          ((target.kind === 'name' && target.name === hostname) ||
            (target.kind === 'suffix' && hostname.endsWith(target.suffix))),
      ),
    allowsAddress: (address, port) =>
      targets.some(
        (target) => target.kind === 'addresses' && open(target, port) && contains(target.range, address),
      ),
    allowsExactly: (address, port) =>
      targets.some(
        (target) =>
          target.kind === 'addresses' &&
          open(target, port) &&
          target.range.prefix === (address.family === 4 ? 32 : 128) &&
          contains(target.range, address),
      ),
  };
}

function parseTarget(entry: string): Target {
  // A bare IPv6 address has colons of its own, so it can carry no port.
  const whole = parseRange(entry);
  if (whole !== null) return { kind: 'addresses', range: whole, port: null };

  const bracketed = /^\[(?<range>[^\]]+)\](?::(?<port>\d+))?$/.exec(entry)?.groups;
  if (bracketed) {
    const range = parseRange(bracketed['range'] ?? '');
    if (range?.family !== 6) throw invalid(entry, 'only IPv6 addresses and ranges stand in brackets');
    return { kind: 'addresses', range, port: parsePort(entry, bracketed['port']) };
  }

  const plain = /^(?<host>[^:[\]]+)(?::(?<port>\d+))?$/.exec(entry)?.groups;
  if (!plain) throw invalid(entry, 'not host, *.suffix, address or CIDR, each with an optional :port');
  const host = plain['host'] ?? '';
  const port = parsePort(entry, plain['port']);
  const range = parseRange(host);
  if (range !== null) return { kind: 'addresses', range, port };
  if (host.includes('/')) throw invalid(entry, 'not a CIDR (no bits may be set behind the prefix)');
  return host.startsWith('*.')
    ? { kind: 'suffix', suffix: `.${parseName(entry, host.slice(2))}`, port }
    : { kind: 'name', name: parseName(entry, host), port };
}

function parseName(entry: string, text: string): string {
  const name = domainToASCII(text).replace(/\.$/, '');
  const labels = name.split('.');
  if (name === '' || labels.some((label) => !/^[a-z0-9_](?:[a-z0-9_-]{0,62})$/.test(label))) {
    throw invalid(entry, 'not a host name');
  }
  // 127.1 and 0x7f000001 are addresses to a URL parser: written in full, or not meant.
  if (parseAddress(name) !== null || /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) {
    throw invalid(entry, 'addresses must be written in full');
  }
  return name;
}

function parsePort(entry: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const port = Number(text);
  if (port < 1 || port > 65_535) throw invalid(entry, 'ports are 1 to 65535');
  return port;
}

function invalid(entry: string, reason: string): UserError {
  return new UserError('config-invalid', `WEBHOOK_ALLOWED_TARGETS: "${entry}": ${reason}`, {
    hint: 'Examples: receiver.example, *.example.com, 10.0.0.0/8, 10.1.2.3:8080, [fd00::1]:443',
  });
}
