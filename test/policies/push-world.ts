import { homedir } from 'node:os';
import { createLogger } from '../../src/logger.ts';
import { createJudging } from '../../src/policies/judging.ts';
import { createOpa } from '../../src/policies/opa.ts';
import { digestOf } from '../../src/policies/policy.ts';
import { createPushJudge } from '../../src/policies/push-judge.ts';
import { createRecording } from '../../src/policies/recording.ts';
import { createNoSandbox } from '../../src/sandbox/none.ts';
import type { PushJudge } from '../../src/stacks/push-judge.ts';
import { createDecisionStore } from '../../src/storage/decision-store.ts';
import { createFlagStore } from '../../src/storage/flag-store.ts';
import { createPolicyStore } from '../../src/storage/policy-store.ts';
import { createSecretBox } from '../../src/storage/secret-box.ts';
import { findTool, toolCacheDir } from '../../src/tools.ts';
import { aPolicy } from '../support/policies.ts';
import { openRunWorld } from '../support/run-world.ts';
import { tempDirectory } from '../support/temp-database.ts';

/** From a push to its runs, with a stack that push policies judge: by the real opa, without the sandbox. */
export async function openPushWorld({ withoutOpa = false } = {}) {
  const directory = tempDirectory();
  const ending = new AbortController();
  // Needs the database of the world.
  let made: PushJudge;
  const pushJudge: PushJudge = {
    judged: (stacks) => made.judged(stacks),
    judge: (stacks, event) => made.judge(stacks, event),
  };
  const world = await openRunWorld({ pushJudge });
  const { database, clock, newId, runs } = world;
  const policies = createPolicyStore(database);
  const box = createSecretBox(Buffer.alloc(32, 7));
  const decisions = createDecisionStore(database, box, { clock, newId });
  const flags = createFlagStore(database);
  const opa = createOpa({
    path: withoutOpa ? null : opaPath(),
    sandbox: createNoSandbox(),
    directory: directory.path,
  });
  made = createPushJudge({
    ...{ policies, runs, clock, ending: ending.signal },
    recording: createRecording({ decisions, flags }),
    judging: createJudging({ engine: opa, clock, logger: createLogger('silent') }),
  });
  const stack = await world.addStack();

  async function addPolicy(name: string, rules: string) {
    const source = { body: `package slipway\n\n${rules}\n`, regoVersion: 1 } as const;
    const declared = [...rules.matchAll(/^\s*(\w+) (?:if|:=|contains)/gm)].map(([, rule = '']) => rule);
    const policy = aPolicy({
      ...{ id: newId(), name, kind: 'PUSH', rules: [...new Set(declared)] },
      ...{ ...source, digest: digestOf(source) },
    });
    await database.write(async (tx) => {
      await policies.insert(tx, policy);
      await policies.attach(tx, policy.id, stack.key);
    });
    return policy;
  }

  return {
    ...{ ...world, stack, decisions, flags, addPolicy, end: () => ending.abort() },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

function opaPath(): string {
  const cacheDir = toolCacheDir(homedir(), process.env['XDG_CACHE_HOME']);
  const found = findTool('opa', { path: process.env['PATH'] ?? '', cacheDir });
  if (!found) throw new Error('opa is not installed: npm run setup -- --with opa');
  return found.path;
}
