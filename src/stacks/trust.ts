import type { StackSettings } from './stack.ts';

/** Whether one of the bots that a change comes from is none that the stack trusts. Logins are the same in any case. */
export function isOfUntrustedBot(
  { trustedBots }: Pick<StackSettings, 'trustedBots'>,
  bots: readonly string[],
): boolean {
  const trusted = new Set(trustedBots.map((login) => login.toLowerCase()));
  return bots.some((login) => !trusted.has(login.toLowerCase()));
}
