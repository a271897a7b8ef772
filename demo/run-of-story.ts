/** One run of the story, from the commit to its end: tells its commands, and confirms it where a person has to. */
import type { CommandRecord, RunObject, StackObject } from './api-objects.ts';
import type { Installation } from './installation.ts';
import type { Narrator } from './narrator.ts';
import { terminalStates } from './slipway-api.ts';
import { waitFor } from './wait.ts';

/** A run of the story, and the states it must have passed. */
export interface ToldRun {
  readonly stack: StackObject;
  readonly runId: string;
  readonly sha: string;
  readonly expected: readonly string[];
}

const registryHint =
  ' It needs the npm registry, which the sandbox reaches through its proxy: is it reachable from this machine?';

/** `npm ci` through the proxy is the slowest part. */
const runWithinMs = 180_000;

/** Rejects, with the end of the log, when the run does not end as expected. */
export async function playRun(
  { api }: Installation,
  narrator: Narrator,
  stack: StackObject,
  sha: string,
  expected: readonly string[],
  remember: (run: ToldRun) => void,
): Promise<void> {
  const { id: runId } = await api.waitForRun(stack, sha);
  remember({ stack, runId, sha, expected });
  const told = new Set<number>();

  /** Tells new commands, and gives the run when it waits for somebody or is over. */
  async function look(): Promise<RunObject | null> {
    const run = await api.run(runId);
    tellCommands(narrator, stack, await api.commands(runId), told);
    return run.state === 'UNCONFIRMED' || terminalStates.includes(run.state) ? run : null;
  }
  const wait = { timeoutMs: runWithinMs, intervalMs: 120 };
  let run = await waitFor(`run ${runId} of ${stack.id} to be planned`, look, wait);
  if (run.delta) {
    const { added, changed, deleted, resources } = run.delta;
    const words = `${added} added, ${changed} changed, ${deleted} deleted, ${resources} resources`;
    narrator.event(stack.id, 'plan', words);
  }
  if (run.state === 'UNCONFIRMED' && expected.includes('CONFIRMED')) {
    narrator.event(stack.id, 'person', `confirms by POST /api/v1/runs/${runId}/confirm`);
    await api.act(runId, 'confirm', { stateVersion: run.stateVersion });
    const isOver = async () => {
      const now = await look();
      return now && now.state !== 'UNCONFIRMED' ? now : null;
    };
    run = await waitFor(`run ${runId} of ${stack.id} to be applied`, isOver, wait);
  }
  if (run.state === 'FAILED' && run.outcome === 'policy_denied') {
    narrator.event(stack.id, 'denied', run.note ?? 'no note');
  }
  if (run.state !== expected.at(-1)) {
    const end = (await api.log(runId)).trimEnd().split('\n').slice(-12).join('\n    ');
    const hint = run.outcome === 'hook_failed' ? registryHint : '';
    throw new Error(`run ${runId} is ${run.state}: ${run.note ?? 'no note'}${hint}\n    ${end}`);
  }
}

function tellCommands(
  narrator: Narrator,
  stack: StackObject,
  commands: readonly CommandRecord[],
  told: Set<number>,
): void {
  for (const [index, record] of commands.entries()) {
    if (told.has(index)) continue;
    told.add(index);
    narrator.command(stack.id, record);
  }
}
