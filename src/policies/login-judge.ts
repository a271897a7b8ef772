import type { LoginJudge, LoginVerdict } from '../access/login-judge.ts';
import type { Tx } from '../tx.ts';
import { combineLogin } from './decisions/login.ts';
import { loginInput } from './input/login.ts';
import type { Judgement } from './judgement.ts';
import type { Judging } from './judging.ts';
import { kinds } from './kinds.ts';
import { grantsOf, problemOfRoles } from './login-roles.ts';
import { areSameVersions, type Policy } from './policy.ts';
import type { DecisionStore, PolicyStore } from './policy-store.ts';
import { packedSample } from './recording.ts';

/** Somebody looks at an empty page meanwhile; what is not judged by then counts as failed. */
const patienceMs = 3 * kinds.LOGIN.timeLimitMs;

/** LOGIN policies at the door; what they may say is described in docs/policies/login.md. */
export function createLoginJudge(parts: {
  policies: Pick<PolicyStore, 'ofAccount'>;
  decisions: Pick<DecisionStore, 'record' | 'packSample'>;
  judging: Judging;
  /** Whether the App is, or was, in an account of that login. */
  isKnownAccount: (login: string) => Promise<boolean>;
}): LoginJudge {
  const { decisions, judging, isKnownAccount } = parts;
  const present = (tx?: Tx) => parts.policies.ofAccount(null, 'LOGIN', tx);

  function settling(policies: readonly Policy[], record: (tx: Tx) => Promise<void>): LoginVerdict['settle'] {
    return async (tx) => {
      if (!areSameVersions(await present(tx), policies)) return false;
      await record(tx);
      return true;
    };
  }

  /** Roles that nobody can have are a mistake in the policy, and it says nothing then. */
  async function withSoundRoles(judgement: Judgement): Promise<Judgement> {
    const failure = await problemOfRoles(judgement, isKnownAccount);
    if (failure === null) return judgement;
    return { ...judgement, outcome: 'failed', messages: [], values: {}, failure };
  }

  return {
    async judge(arrival, request) {
      const policies = await present();
      if (policies.length === 0) {
        return { kind: 'no-policies', settle: settling(policies, async () => undefined) };
      }
      const input = loginInput({ ...arrival, memberships: await arrival.memberships(), request });
      const signal = AbortSignal.timeout(patienceMs);
      const said = await judging.judge('LOGIN', policies, input, { signal });
      const judgements = await Promise.all(said.map(withSoundRoles));
      const about = {
        ...{ accountId: null, stackKey: null, runId: null },
        subject: `the login of ${arrival.person.login}`,
      };
      const packed = await packedSample(decisions, judgements, input);
      const settle = settling(policies, async (tx) => {
        for (const judgement of judgements) await decisions.record(tx, judgement, about, packed);
      });
      const decision = combineLogin(judgements);
      if (decision.outcome === 'failed' || decision.outcome === 'denied') {
        return { kind: 'denied', ...denialOf(judgements), settle };
      }
      return { kind: 'allowed', grants: grantsOf(decision, judgements), settle };
    },
  };
}

/** Read by people who may be anybody: which policy it is, and nothing of what is in it. */
function denialOf(judgements: readonly Judgement[]): { reason: string; policies: readonly string[] } {
  const by = (outcome: string) =>
    judgements.filter((each) => each.outcome === outcome).map(({ policy }) => policy.name);
  const [failed, denying] = [by('failed'), by('denied')];
  if (failed.length > 0) {
    return { reason: `The login ${named(failed)} could not be evaluated.`, policies: failed };
  }
  if (denying.length > 0) {
    return { reason: `You are kept out by the login ${named(denying)}.`, policies: denying };
  }
  const all = judgements.map(({ policy }) => policy.name);
  return { reason: 'No login policy lets you in.', policies: all };
}

const named = (names: readonly string[]): string =>
  names.length === 1 ? `policy ${names[0]}` : `policies ${names.join(', ')}`;
