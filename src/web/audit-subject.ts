import { type AuditSubject, noSubject } from '../access/audit-log.ts';
import type { Policies } from '../policies/policies.ts';
import type { RunStore } from '../runs/run-store.ts';
import type { Stack } from '../stacks/stack.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import type { Webhooks } from '../webhooks/endpoint.ts';
import type { Operation } from './operations.ts';

/** Which stack and run an operation is about, found by its parameters: before it is carried out, as it may delete them. */
export type SubjectOf = (operation: Operation) => Promise<AuditSubject>;

export function createSubjects(parts: {
  readonly stackStore: Pick<StackStore, 'find' | 'findByKey'>;
  readonly runs: Pick<RunStore, 'find'>;
  readonly webhooks: Pick<Webhooks, 'find'>;
  readonly deliveries: Pick<Deliveries, 'find'>;
  readonly policies: Pick<Policies, 'find'>;
}): SubjectOf {
  const { stackStore, runs, webhooks, deliveries, policies } = parts;

  async function byKey(key: string | undefined, run: string | null = null): Promise<AuditSubject> {
    return subjectOf(key === undefined ? null : await stackStore.findByKey(key), run);
  }

  return async ({ name, params }) => {
    const [, , , kind] = name.split('/');
    switch (kind) {
      case 'stacks':
        return subjectOf(await stackStore.find(params['account'] ?? '', params['stack'] ?? ''));
      case 'runs': {
        const run = await runs.find(params['run'] ?? '');
        return byKey(run?.stackKey, run?.id);
      }
      case 'webhooks':
        return byKey((await webhooks.find(params['webhook'] ?? ''))?.stackKey);
      case 'deliveries': {
        const delivery = await deliveries.find(params['delivery'] ?? '');
        const webhook = delivery && (await webhooks.find(delivery.webhookId));
        return byKey(webhook?.stackKey, delivery?.runId);
      }
      case 'policies': {
        const policy = await policies.find(params['policy'] ?? '');
        return { ...noSubject, account: policy?.account?.login ?? null };
      }
      default:
        return noSubject;
    }
  };
}

function subjectOf(stack: Stack | null, run: string | null = null): AuditSubject {
  if (!stack) return noSubject;
  return { repositoryId: stack.repository.id, account: stack.account, stack: stack.id, run };
}
