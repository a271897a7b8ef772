import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { RunCommands } from '../runs/commands.ts';
import type { FlagStore } from '../runs/flags.ts';
import { createFollowUps } from '../runs/follow-ups.ts';
import type { PullRequestNotes } from '../runs/pull-request-notes.ts';
import type { RunCauseStore } from '../runs/run-causes.ts';
import type { RunStore } from '../runs/run-store.ts';
import type { Source } from '../runs/source.ts';
import type { StackStore } from '../stacks/stack-store.ts';
import type { Tx } from '../tx.ts';
import type { JudgeHandlers } from './judge-loop.ts';
import type { Judging } from './judging.ts';
import type { NoticeStore } from './notice-store.ts';
import { createNotices } from './notices.ts';
import { createNotificationEffects } from './notification-effects.ts';
import { createNotificationJudge } from './notification-judge.ts';
import type { PolicyRequests } from './policy-requests.ts';
import type { PolicyStore } from './policy-store.ts';
import type { Recording } from './recording.ts';
import { createTriggerJudge } from './trigger-judge.ts';
import { createReadTargets } from './trigger-targets.ts';

/** The rest of the server, as far as trigger and notification policies act on it. */
export interface FollowUpWays {
  readonly commands: Pick<RunCommands, 'create'>;
  readonly source: Pick<Source, 'resolve'>;
  readonly pullRequestNotes: PullRequestNotes;
  readonly requests: PolicyRequests;
  /** Adds a note to what GitHub shows of a run: markdown, `text` for everybody, `detailedText` for readers of the stack. */
  readonly noteOnRun: (
    tx: Tx,
    runId: string,
    note: { readonly key: string; readonly text: string; readonly detailedText: string },
  ) => Promise<void>;
  readonly runUrl: (runId: string) => string;
}

/** Who does the jobs of follow-up-jobs.ts. */
export function createFollowUpHandlers(
  parts: {
    readonly policies: PolicyStore;
    readonly runs: RunStore;
    readonly stacks: StackStore;
    readonly flags: FlagStore;
    readonly causes: RunCauseStore;
    readonly notices: NoticeStore;
    readonly judging: Judging;
    readonly recording: Recording;
    readonly clock: Clock;
    readonly newId: NewId;
    readonly logger: Logger;
  },
  ways: FollowUpWays,
): Pick<JudgeHandlers, 'trigger' | 'notification'> {
  const notices = createNotices(parts);
  return {
    trigger: createTriggerJudge({
      ...{ ...parts, notices },
      followUps: createFollowUps({ ...parts, ...ways }),
      readTargets: createReadTargets({ ...parts, ...ways }),
      showCause: (tx, run, cause) => {
        const after = `after [run ${cause.run.id}](${ways.runUrl(cause.run.id)})`;
        return ways.noteOnRun(tx, run.id, {
          key: 'cause',
          text: `A policy started this run ${after}.`,
          // Names of policies are free text: as code they are nothing but their letters.
          detailedText: `The policy \`${cause.policy.name.replaceAll(/[`\s]+/g, ' ')}\` started this run ${after}.`,
        });
      },
    }),
    notification: createNotificationJudge({
      ...{ ...parts, ...ways, notices },
      effectsOf: createNotificationEffects({ ...ways, notices }),
    }),
  };
}
