import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

/**
 * What a policy is: rules of people, written in Rego, that judge one kind of thing. It knows no engine, no database and
 * no run; `kinds.ts` says which rules of it are read.
 */
export const policyKinds = ['PLAN', 'PUSH', 'APPROVAL', 'TRIGGER', 'NOTIFICATION', 'LOGIN'] as const;
export type PolicyKind = (typeof policyKinds)[number];

export type RegoVersion = 0 | 1;

export interface Policy extends PolicySource {
  readonly id: string;
  /** LOGIN policies are of the instance: null. */
  readonly account: { readonly id: number; readonly login: string } | null;
  /** Unique in the account. */
  readonly name: string;
  readonly description: string;
  readonly kind: PolicyKind;
  /** `autoattach:<label>` attaches it to the stacks of its account with that label, `autoattach:*` to all of them. */
  readonly labels: readonly string[];
  /** Of the rules that its kind reads, those that the body declares. */
  readonly rules: readonly string[];
  /** 1 for the first body, then +1 with every other one. */
  readonly version: number;
  /** See digestOf. */
  readonly digest: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** E-mail address or login of a person, or the name of a token. */
  readonly updatedBy: string;
}

export interface PolicySource {
  /** Rego of package `slipway`. */
  readonly body: string;
  readonly regoVersion: RegoVersion;
}

/** Names a source beyond doubt, in hex. */
export const digestOf = ({ body, regoVersion }: PolicySource): string =>
  createHash('sha256').update(`rego v${regoVersion}\n${body}`).digest('hex');

/** Names what a policy says now: another version may say something else. */
export const versionOf = ({ id, version }: Pick<Policy, 'id' | 'version'>): string => `${id} ${version}`;

/** Whether these are the same policies in the same versions, in whatever order. */
export const areSameVersions = (some: readonly Policy[], others: readonly Policy[]): boolean =>
  isDeepStrictEqual(some.map(versionOf).toSorted(), others.map(versionOf).toSorted());

export const autoattach = 'autoattach:';

/** Whether labels of a policy attach it to a stack with these labels. */
export function attachesByLabel(policy: Pick<Policy, 'labels'>, stackLabels: readonly string[]): boolean {
  return policy.labels.some((label) => {
    if (!label.startsWith(autoattach)) return false;
    const wanted = label.slice(autoattach.length);
    return wanted === '*' || stackLabels.includes(wanted);
  });
}
