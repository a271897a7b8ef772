/** When to kill: at any time, but mostly when there is something to be lost. */
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '../../../demo/wait.ts';
import type { Scenario } from '../../support/scenario.ts';
import type { Load } from './load.ts';
import { pick, type Random } from './random.ts';

export interface Moment {
  readonly name: string;
  /** Resolves when it has come. */
  come(): Promise<void>;
}

/** A moment that does not come is as good as any other. */
const patience = { timeoutMs: 5000, intervalMs: 3 };

export function createMoments({ receiver }: Scenario, load: Load, random: Random): { next(): Moment } {
  const soon = (maxMs: number) => delay(random() * maxMs);

  async function untilSeen(what: string, isSeen: () => boolean): Promise<void> {
    await waitFor(what, isSeen, patience).catch(() => undefined);
  }

  async function untilTold(states: readonly string[]): Promise<void> {
    const from = receiver.received.length;
    const isOne = ({ state }: { state: string | null }) => state !== null && states.includes(state);
    await untilSeen('a state', () => receiver.received.slice(from).some(isOne));
  }

  const anyTime: Moment = { name: 'at any time', come: () => soon(2000) };
  const afterPush: Moment = {
    name: 'after a 202',
    async come() {
      const from = load.pushes.length;
      await untilSeen('a push', () => load.pushes.slice(from).some(({ isAccepted }) => isAccepted));
      await soon(25);
    },
  };
  const afterCommand: Moment = {
    name: 'after a command',
    async come() {
      const from = load.promised.length;
      await untilSeen('a command', () => load.promised.length > from);
      await soon(60);
    },
  };
  const afterChange: Moment = {
    name: 'after a change of state',
    async come() {
      await untilTold([
        pick(random, ['QUEUED', 'READY', 'PREPARING', 'PLANNING', 'UNCONFIRMED', 'FINISHED']),
      ]);
      await soon(60);
    },
  };
  const whileLooking: Moment = {
    name: 'while a preview runs',
    async come() {
      await untilTold(['PLANNING']);
      await soon(900);
    },
  };
  const whileChanging: Moment = {
    name: 'while the world changes',
    async come() {
      await untilTold(['APPLYING', 'DESTROYING', 'PERFORMING']);
      await soon(900);
    },
  };
  const all = [
    ...[anyTime, anyTime, afterPush, afterCommand, afterChange, afterChange],
    ...[whileLooking, whileLooking, whileChanging, whileChanging, whileChanging],
  ];
  return { next: () => pick(random, all) };
}
