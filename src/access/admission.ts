import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Transactions, Tx } from '../tx.ts';
import { type AuditLog, noSubject } from './audit-log.ts';
import { type Identity, loginRefused } from './login.ts';
import type { Arrival, LoginJudge, LoginVerdict } from './login-judge.ts';
import { type Browser, type Person, personActor, type Sessions } from './sessions.ts';

/** The door: who GitHub named gets a session, unless login policies keep them out. */
export interface Admission {
  /** The token of the session. Throws `login-refused`, and `github-unavailable` where policies have to be asked. */
  admit(identity: Identity, browser: Browser): Promise<string>;
}

/** Somebody changes policies while somebody logs in; three times in a row is no accident. */
const maxTries = 3;

export function createAdmission(parts: {
  judge: LoginJudge;
  /** Of the environment: policies do not lock them out, as nobody else could repair a policy that locks all out. */
  isAdmin: (person: Person) => boolean;
  sessions: Pick<Sessions, 'begin'>;
  audit: Pick<AuditLog, 'note'>;
  transactions: Transactions;
  clock: Clock;
  logger: Logger;
}): Admission {
  const { judge, sessions, audit, transactions, clock, logger } = parts;

  async function verdictOn(arrival: Arrival, browser: Browser): Promise<LoginVerdict> {
    try {
      return await judge.judge(arrival, { address: browser.origin.address, atMs: clock.nowMs() });
    } catch (error) {
      if (!arrival.isAdmin) throw error;
      logger.warn({ err: error }, 'the login of an administrator could not be judged');
      return { kind: 'no-policies', settle: async () => true };
    }
  }

  async function noteRefusal(tx: Tx, person: Person, { origin }: Browser, verdict: Denied): Promise<void> {
    const params = { policies: verdict.policies.join(', ') };
    const entry = { operation: 'login', actor: personActor(person), origin, params, subject: noSubject };
    await audit.note(tx, entry, { outcome: 'refused', note: verdict.reason });
  }

  /** Null: the policies changed meanwhile. */
  async function act(
    tx: Tx,
    arrival: Arrival,
    browser: Browser,
    verdict: LoginVerdict,
  ): Promise<Outcome | null> {
    if (!(await verdict.settle(tx))) return null;
    if (verdict.kind === 'denied' && !arrival.isAdmin) {
      await noteRefusal(tx, arrival.person, browser, verdict);
      return { kind: 'refused', reason: verdict.reason };
    }
    const grants = verdict.kind === 'allowed' ? verdict.grants : null;
    return { kind: 'begun', token: await sessions.begin(tx, arrival.person, browser, grants) };
  }

  return {
    async admit(identity, browser) {
      const arrival = { ...identity, isAdmin: parts.isAdmin(identity.person) };
      for (let tries = 0; tries < maxTries; tries += 1) {
        const verdict = await verdictOn(arrival, browser);
        const outcome = await transactions.write((tx) => act(tx, arrival, browser, verdict));
        if (outcome?.kind === 'refused') throw loginRefused(outcome.reason);
        if (outcome) return outcome.token;
      }
      throw loginRefused('The login policies are just being changed.');
    },
  };
}

type Denied = Extract<LoginVerdict, { kind: 'denied' }>;
type Outcome =
  | { readonly kind: 'begun'; readonly token: string }
  | { readonly kind: 'refused'; readonly reason: string };
