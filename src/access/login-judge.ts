import type { Tx } from '../tx.ts';
import type { Grants } from './actor.ts';
import type { Identity } from './login.ts';

/**
 * Who says whether somebody may log in, once GitHub has said who it is. Implemented by policies; asked at each login,
 * outside of any transaction.
 */
export interface LoginJudge {
  /**
   * What cannot be judged is `denied`. Rejects with `github-unavailable` where there are policies and GitHub does not
   * say what they are told of the person.
   */
  judge(arrival: Arrival, request: LoginRequest): Promise<LoginVerdict>;
}

export interface Arrival extends Identity {
  /** Named in ADMINS. */
  readonly isAdmin: boolean;
}

export interface LoginRequest {
  /** See Origin. */
  readonly address: string | null;
  readonly atMs: number;
}

export type LoginVerdict = {
  /**
   * Writes down what was said, in the transaction that goes by it. False: the policies are others by now, nothing was
   * written, and it has to be judged anew.
   */
  settle(tx: Tx): Promise<boolean>;
} & (
  | { readonly kind: 'no-policies' }
  | { readonly kind: 'allowed'; readonly grants: Grants | null }
  | {
      readonly kind: 'denied';
      /** For whoever is kept out, who may be anybody: no details. */
      readonly reason: string;
      /** Names of those that it is by. */
      readonly policies: readonly string[];
    }
);
