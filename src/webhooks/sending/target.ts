import { isReserved } from '../custom-headers.ts';
import type { Webhook } from '../webhook.ts';
import { type Line, type LineParts, openLine } from './line.ts';
import { type Mask, maskOf } from './mask.ts';
import { type SigningKey, signingKeys } from './signing-keys.ts';

/**
 * A webhook as the sender needs it: made once for each version of it, so that after any change neither an old key
 * nor an old socket is used.
 */
export interface Target {
  readonly version: number;
  readonly path: string;
  readonly keys: readonly SigningKey[];
  /** The webhook's own headers, without those that Slipway or HTTP sets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Hides the values of these. */
  readonly mask: Mask;
  /** An idle line, or a new one. */
  take(): Line;
  /** It can be used again. */
  giveBack(line: Line): void;
  /** It cannot. */
  drop(line: Line): void;
  /** Idle sockets are closed now, those in use when they come back. */
  retire(): void;
}

/** How many webhooks keep theirs; idle sockets close after seconds anyway. */
const maxTargets = 512;

export interface Targets {
  of(webhook: Webhook): Target;
  closeAll(): Promise<void>;
}

export function createTargets(parts: LineParts): Targets {
  const targets = new Map<string, Target>();
  const lines = new Set<Line>();

  function close(line: Line): Promise<void> {
    lines.delete(line);
    return line.client.destroy();
  }

  function make(webhook: Webhook): Target {
    const url = new URL(webhook.url);
    const idle: Line[] = [];
    let isRetired = false;
    const headers = Object.fromEntries(Object.entries(webhook.headers).filter(([name]) => !isReserved(name)));
    const drop = (line: Line) => void close(line).catch(() => undefined);
    return {
      version: webhook.version,
      path: url.pathname + url.search,
      keys: signingKeys(webhook),
      headers,
      mask: maskOf(Object.values(headers)),
      take() {
        const known = idle.pop();
        if (known !== undefined) return known;
        const line = openLine(url, parts);
        lines.add(line);
        return line;
      },
      giveBack(line) {
        if (isRetired) drop(line);
        else idle.push(line);
      },
      drop,
      retire() {
        isRetired = true;
        for (const line of idle.splice(0)) drop(line);
      },
    };
  }

  return {
    of(webhook) {
      const known = targets.get(webhook.id);
      if (known?.version === webhook.version) {
        // The last used stands last.
        targets.delete(webhook.id);
        targets.set(webhook.id, known);
        return known;
      }
      known?.retire();
      const target = make(webhook);
      targets.set(webhook.id, target);
      const [oldest] = targets;
      if (targets.size > maxTargets && oldest) {
        oldest[1].retire();
        targets.delete(oldest[0]);
      }
      return target;
    },
    async closeAll() {
      await Promise.all(Array.from(lines, close));
    },
  };
}
