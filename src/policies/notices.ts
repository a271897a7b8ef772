import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Run } from '../runs/run.ts';
import type { Stack } from '../stacks/stack.ts';
import type { Tx } from '../tx.ts';
import { failureText, type Judgement } from './judgement.ts';
import type { NoticeStore, Severity } from './notice-store.ts';

/** Leaves messages for the people of a stack. In the caller's transaction. */
export interface Notices {
  tell(tx: Tx, about: NoticeSubject, message: NoticeMessage): Promise<void>;
  /** Of one title the policy has one of the run, however often it is judged. */
  tellOnce(tx: Tx, about: NoticeSubject, message: NoticeMessage): Promise<void>;
  /** That a policy could not be evaluated: once for a run, however often it is judged. */
  tellFailure(tx: Tx, about: Omit<NoticeSubject, 'policy'>, judgement: Judgement): Promise<void>;
}

export interface NoticeSubject {
  readonly run: Pick<Run, 'id'>;
  readonly stack: Pick<Stack, 'key' | 'id'>;
  readonly policy: Judgement['policy'];
}

export interface NoticeMessage {
  readonly severity: Severity;
  readonly title: string;
  readonly body: string;
}

const maxTitle = 200;
const maxBody = 16_000;

export function createNotices(parts: {
  notices: Pick<NoticeStore, 'insert' | 'isTold'>;
  clock: Clock;
  newId: NewId;
}): Notices {
  const { notices, clock, newId } = parts;

  async function tell(tx: Tx, { run, stack, policy }: NoticeSubject, message: NoticeMessage): Promise<void> {
    // Policies of the instance judge no runs.
    if (!policy.account) throw new Error(`policy ${policy.id} belongs to no account`);
    await notices.insert(tx, {
      ...{
        id: newId(),
        accountId: policy.account.id,
        stackKey: stack.key,
        runId: run.id,
        policyId: policy.id,
      },
      severity: message.severity,
      title: shortened(message.title, maxTitle),
      body: shortened(message.body, maxBody),
      atMs: clock.nowMs(),
    });
  }

  async function tellOnce(tx: Tx, about: NoticeSubject, message: NoticeMessage): Promise<void> {
    const title = shortened(message.title, maxTitle);
    if (await notices.isTold(tx, { runId: about.run.id, policyId: about.policy.id, title })) return;
    await tell(tx, about, message);
  }

  return {
    tell,
    tellOnce,
    async tellFailure(tx, about, { policy, failure }) {
      if (failure === null) return;
      await tellOnce(
        tx,
        { ...about, policy },
        {
          severity: 'ERROR',
          title: `The policy ${policy.name} could not be evaluated`,
          body: `Of run ${about.run.id} of ${about.stack.id}: ${failureText(failure)}`,
        },
      );
    },
  };
}

function shortened(text: string, limit: number): string {
  const whole = text.toWellFormed();
  return whole.length > limit ? `${whole.slice(0, limit - 1).toWellFormed()}…` : whole;
}
