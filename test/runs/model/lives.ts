import type { Stack } from '../../../src/stacks/stack.ts';
import { createDeliveryStore } from '../../../src/storage/delivery-store.ts';
import { createSecretBox } from '../../../src/storage/secret-box.ts';
import { createWebhookStore } from '../../../src/storage/webhook-store.ts';
import { createWebhookReactor } from '../../../src/webhooks/reactor.ts';
import type { Assignment } from '../../../src/worker/server-api.ts';
import { aWebhook } from '../../support/builders.ts';
import { Death, type Life, mortal } from '../../support/mortal-database.ts';
import { openRunWorld, type RunWorld, type RunWorldOptions } from '../../support/run-world.ts';

/** A server with three stacks that may die at any await and is started again on what it left. */
export interface Lives extends AsyncDisposable {
  /** Of the present life. */
  readonly world: RunWorld;
  readonly life: Life;
  readonly stackKeys: readonly string[];
  /** Assignments whose workers are at work. */
  readonly held: Assignment[];
  /** Assignments of workers that lost them and do not know. */
  readonly ghosts: Assignment[];
  /** Does it and, should the server have died over it, starts the next one. Rejects for every other reason. */
  survive(work: () => Promise<unknown>): Promise<void>;
  /** The next start of a server dies too, after so many steps. */
  doomNext(steps: number): void;
}

const box = createSecretBox(Buffer.alloc(32, 7));
const reactors: NonNullable<RunWorldOptions['reactors']> = ({ database, newId }) => [
  createWebhookReactor({
    ...{ webhooks: createWebhookStore(database, box), deliveries: createDeliveryStore(database), newId },
    pump: { wake: () => {} },
  }),
];

/** `turns`: how long each transaction hesitates, so that calls at the same time overtake each other. */
export async function openLives(turns: () => number): Promise<Lives> {
  const first = await openRunWorld({ reactors });
  const stackKeys: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { key } = await first.addStack();
    stackKeys.push(key);
    await first.database.write((tx) =>
      createWebhookStore(first.database, box).insert(tx, aWebhook({ id: first.newId(), stackKey: key })),
    );
  }
  const held: Assignment[] = [];
  const ghosts: Assignment[] = [];
  let doom: number | null = null;
  let life = mortal(first.database, turns);
  let world = await nextWorld();

  function nextWorld(): Promise<RunWorld> {
    return openRunWorld({ former: first, reactors, intercept: () => life.database });
  }

  /** As app.ts starts a server, as far as runs go. */
  async function start(): Promise<void> {
    ghosts.push(...held.splice(0));
    life = mortal(first.database, turns);
    life.endAfter(doom);
    doom = null;
    world = await nextWorld();
    await world.recovery.start();
    await world.recovery.needingWorkspace();
    await world.scheduler.sweep();
    await world.scheduler.settled();
  }

  async function survive(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      await world.scheduler.settled();
    } catch (error) {
      if (!(error instanceof Death)) throw error;
    }
    if (life.isOver) await survive(start);
  }

  return {
    get world() {
      return world;
    },
    get life() {
      return life;
    },
    ...{ stackKeys, held, ghosts, survive },
    doomNext(steps) {
      doom = steps;
    },
    [Symbol.asyncDispose]: () => first[Symbol.asyncDispose](),
  };
}

export async function stackOf({ world }: Lives, key: string): Promise<Stack> {
  const found = await world.stackStore.findByKey(key);
  if (!found) throw new Error('the stack is gone');
  return found;
}
