import type { PolicyKind } from '../../../../policies/policy.ts';

/** What a policy of each kind is for, in a sentence. */
export const kindWords: Readonly<Record<PolicyKind, string>> = {
  PLAN: 'Judges what a run would change, before it changes anything: it denies a plan, or warns of it.',
  PUSH: 'Decides what a push or a pull request starts: a deployment, a preview, or nothing.',
  APPROVAL: 'Decides, by what people say to it, whether a run may go on.',
  TRIGGER: 'Starts runs of other stacks of the account once a run is over.',
  NOTIFICATION: 'Tells people and other systems what happens: in the inbox, by webhook, on pull requests.',
  LOGIN: 'Decides who may log in to this server, and with which roles.',
};

/** What one that is attached to no stack judges. */
export function reachOf(kind: PolicyKind, account: string | null): string {
  if (kind === 'LOGIN') return 'every login to this server';
  return `everything that happens in ${account ?? 'the account'}`;
}
