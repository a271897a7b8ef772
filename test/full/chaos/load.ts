/** What people and GitHub do all the time, whether the server lives or not; and what it said yes to. */
import { setTimeout as delay } from 'node:timers/promises';
import { type RunObject, runSchema } from '../../../demo/api-objects.ts';
import { terminalStates } from '../../../demo/slipway-api.ts';
import { program, type Scenario, type ScenarioStack, stash } from '../../support/scenario.ts';
import { pick, type Random } from './random.ts';

export interface Push {
  readonly to: ScenarioStack;
  readonly sha: string;
  readonly type: 'TRACKED' | 'PROPOSED';
  /** With 202: then it may not be lost. */
  readonly isAccepted: boolean;
  /** X-GitHub-Delivery. */
  readonly deliveryId: string;
}

/** A state that a command was told to have brought about. */
export interface Promised {
  readonly run: string;
  readonly state: string;
  readonly stateVersion: number;
}

export interface Load {
  readonly pushes: readonly Push[];
  readonly promised: readonly Promised[];
  /** Pushes and acts until the signal; survives a server that does not answer. */
  until(signal: AbortSignal): Promise<void>;
  /** Takes locks off and confirms what waits, as people would who looked. */
  settle(): Promise<void>;
  /** Every run of every stack. */
  runs(): Promise<readonly { readonly of: ScenarioStack; readonly run: RunObject }[]>;
}

/** More do not wait at once: what is pushed must be worked off in lives of seconds. */
const enough = 8;
const pauseMs = { pushes: 900, people: 250 };

export function createLoad(scenario: Scenario, stacks: readonly ScenarioStack[], random: Random): Load {
  const { api, github } = scenario;
  const pushes: Push[] = [];
  const promised: Promised[] = [];
  let unfinished = 0;

  async function push(): Promise<void> {
    const to = pick(random, stacks);
    const type = random() < 0.25 ? 'PROPOSED' : 'TRACKED';
    const { sha, status, deliveryId } = await github.commitAndPush(to.repository, {
      branch: type === 'TRACKED' ? 'main' : 'topic',
      message: `Push ${pushes.length}`,
      files: { 'Pulumi.yaml': program(stash('one', `value-${random()}`), stash('two', `value-${random()}`)) },
      pusher: 'ada',
    });
    pushes.push({ to, sha, type, isAccepted: status === 202, deliveryId });
  }

  /** Null when nobody answered. */
  async function ask(method: string, path: string, body?: unknown) {
    return api.request(method, path, body).catch(() => null);
  }

  async function command(run: RunObject, verb: string, of: ScenarioStack): Promise<void> {
    const body = {
      stateVersion: run.stateVersion,
      ...(verb === 'confirm' && run.type === 'DESTROY' ? { confirmation: of.stack.name } : {}),
    };
    const answer = await ask('POST', `/api/v1/runs/${run.id}/${verb}`, body);
    if (answer?.status !== 200) return;
    const { state, stateVersion } = runSchema.parse(answer.json);
    promised.push({ run: run.id, state, stateVersion });
  }

  async function start(of: ScenarioStack, type: 'TASK' | 'DESTROY'): Promise<void> {
    const input = type === 'TASK' ? { type, command: 'pulumi stack ls' } : { type };
    const answer = await ask('POST', `${api.stackPath(of.stack)}/runs`, input);
    if (answer?.status === 201) {
      const { id, state, stateVersion } = runSchema.parse(answer.json);
      promised.push({ run: id, state, stateVersion });
    }
  }

  async function unfinishedOf(of: ScenarioStack): Promise<RunObject[]> {
    const answer = await ask('GET', `${api.stackPath(of.stack)}/runs?limit=30`);
    if (answer?.status !== 200) return [];
    const { items } = answer.json as { items: unknown[] };
    return items.map((item) => runSchema.parse(item)).filter(({ state }) => !terminalStates.includes(state));
  }

  async function act(): Promise<void> {
    let found = 0;
    for (const of of stacks) {
      const runs = await unfinishedOf(of);
      found += runs.length;
      for (const run of runs) {
        const chance = random();
        if (run.state === 'UNCONFIRMED') await command(run, chance < 0.8 ? 'confirm' : 'discard', of);
        else if (run.state === 'QUEUED' && chance < 0.02) await command(run, 'cancel', of);
        else if (run.state === 'PLANNING' && chance < 0.02) await command(run, 'stop', of);
      }
    }
    unfinished = found;
    if (unfinished < enough && random() < 0.25) {
      await start(pick(random, stacks), random() < 0.6 ? 'TASK' : 'DESTROY');
    }
  }

  async function often(pause: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await work();
      await delay(pause * (0.3 + random()), undefined, { signal }).catch(() => undefined);
    }
  }

  return {
    pushes,
    promised,
    async until(signal) {
      await Promise.all([
        often(pauseMs.pushes, signal, async () => {
          if (unfinished < enough) await push();
        }),
        often(pauseMs.people, signal, act),
      ]);
    },
    async settle() {
      for (const of of stacks) {
        await api.expectSuccess('DELETE', `${api.stackPath(of.stack)}/lock`);
        for (const run of await unfinishedOf(of)) {
          if (run.state === 'UNCONFIRMED') await command(run, 'confirm', of);
        }
      }
    },
    async runs() {
      const all: { of: ScenarioStack; run: RunObject }[] = [];
      for (const of of stacks) {
        for (let cursor: string | null = ''; cursor !== null; ) {
          const path = `${api.stackPath(of.stack)}/runs?limit=200${cursor && `&cursor=${cursor}`}`;
          const page = (await api.expectSuccess('GET', path)).json as {
            items: unknown[];
            nextCursor: string | null;
          };
          all.push(...page.items.map((item) => ({ of, run: runSchema.parse(item) })));
          cursor = page.nextCursor;
        }
      }
      return all;
    },
  };
}
