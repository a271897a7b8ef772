import { describe, expect, it } from 'vitest';
import { serverSentEvents } from '../../src/cli/server-sent-events.ts';
import { appendLog } from '../support/append-log.ts';
import { aPullRequest, person } from '../support/builders.ts';
import { anInstallation, branchHead, untilUnconfirmed } from '../web/installation.ts';
import { addTroubledRun } from '../web/troubled-run.ts';
import { aCommandLine } from './command-line.ts';

describe('slipway run', () => {
  it('triggers a run and leads to its log', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    await installation.addStack();

    const made = await run('run trigger network-prod');
    const list = await run('run list network-prod --json');

    const [{ id }] = list.json().items;
    expect(made.out).toBe(`Started run ${id}.\n`);
    expect(made.err).toBe(`Next: slipway run logs ${id} --follow\n`);
    expect(list.json().items[0]).toMatchObject({ type: 'TRACKED', triggeredBy: 'operator' });
  });

  it('shows where a run stands and what can be done about it', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const stack = await installation.addStack();
    const first = await installation.move(await installation.addRun(stack), ...untilUnconfirmed);
    const second = await installation.addRun(stack);

    const shown = await run(`run show ${first.id}`);
    const waiting = await run(`run show ${second.id}`);
    const states = await run(`run states ${first.id}`);

    expect(shown.err).toContain(`Next: slipway run confirm ${first.id}, or slipway run discard ${first.id}`);
    expect(shown.out).toContain(`commit   ${branchHead.hash} Widen the network (Ada Example)`);
    expect(waiting.out).toContain(`waits for  run ${first.id}, which is UNCONFIRMED`);
    expect(states.out).toMatch(/^VERSION +STATE +TIME +BY +NOTE\n1 +QUEUED .* ada\n2 +READY/);
  });

  it('lists why a run stands where it stands', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const stack = await installation.addStack();
    const first = await installation.move(await installation.addRun(stack), ...untilUnconfirmed);
    await installation.addRun(stack);

    const waiting = await run('run list network-prod');
    const note = ['--note', 'too wide\nreally'];
    await run(['run', 'discard', first.id, ...note]);
    const over = await run('run list network-prod');
    const shown = await run(`run show ${first.id}`);

    expect(waiting.out).toMatch(new RegExp(`QUEUED .* waits for run ${first.id}, which is UNCONFIRMED\n`));
    expect(over.out).toMatch(/DISCARDED .* too wide really\n/);
    expect(shown.out).toContain('note     too wide really\n');
  });

  it('explains what happened and mends what can be mended', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const stack = await installation.addStack();
    const failed = await addTroubledRun(installation, stack);

    const shown = await run(`run show ${failed.id}`);
    const explained = await run(`run explain ${failed.id}`);
    const asJson = await run(`run explain ${failed.id} --json`);
    const mended = await run(`run mend ${failed.id}`);

    expect(shown.err).toBe(`Next: slipway run explain ${failed.id}\n`);
    expect(explained.out).toMatch(
      /^The lock of the state is held by somebody else\. Nothing was applied\.\nThe state is locked\.\n\n/,
    );
    expect(explained.out).toContain(
      `1. Read in the log what was said.\n   slipway run logs ${failed.id}\n2. A task releases`,
    );
    expect(explained.out).toContain('The task would run: pulumi cancel --yes\n');
    expect(asJson.json()).toMatchObject({ run: failed.id, mend: { standing: 'possible' } });
    const task = await installation.runs.newestOfType(stack.key, 'TASK');
    expect(mended.out).toBe(`Started the task ${task?.id}: pulumi cancel --yes\n`);
    expect(mended.err).toContain(`slipway run retry ${failed.id}`);
  });

  it('shows what was executed and what was planned', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const { runs, database } = installation;
    const made = await installation.addRun(await installation.addStack());
    const nothing = [await run(`run commands ${made.id}`), await run(`run changes ${made.id}`)];
    await database.write((tx) =>
      runs.addCommand(tx, made.id, {
        phase: 'planning',
        label: 'preview',
        argv: ['pulumi', 'preview', '--diff'],
        startedAtMs: 1_795_000_000_000,
        durationMs: 1250,
        exitCode: 0,
      }),
    );
    const step = (op: string, name: string) => ({ op, type: 'random:x', urn: `urn:${name}` });
    const steps = [step('same', 'kept'), step('create', 'made')];
    const sealed = await runs.sealPlan(made.id, { hasChanges: true, steps, file: null });
    await database.write((tx) => runs.savePlan(tx, sealed));

    const commands = await run(`run commands ${made.id}`);
    const changes = await run(`run changes ${made.id}`);
    const all = await run(`run changes ${made.id} --all`);
    const json = await run(`run changes ${made.id} --json`);

    expect(nothing.map(({ out }) => out)).toEqual([
      'Nothing was executed yet.\n',
      'Nothing was planned yet.\n',
    ]);
    expect(commands.out).toMatch(/^PHASE .*\nplanning +0 +1\.3 +preview +pulumi preview --diff\n$/);
    expect(changes.out).toMatch(/^STEP .*\ncreate +random:x +urn:made\n$/);
    expect(all.out).toContain('urn:kept');
    expect(json.json()).toEqual({ hasChanges: true, items: steps });
  });

  it('does not let a commit message steer the terminal', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const stack = await installation.addStack();
    const commit = {
      ...branchHead,
      authorName: 'A\u001b[31mda\u202e',
      message: 'x\u001b]0;owned\u0007\nmore',
    };
    const made = await installation.commands.create({
      ...{ stackKey: stack.key, type: 'TRACKED', branch: 'main', commit },
      ...{ by: person('ada'), dedupeKey: null },
    });
    if (made === 'duplicate') throw new Error('cannot be');

    const shown = await run(`run show ${made.id}`);

    expect(['\u001b', '\u0007', '\u202e'].filter((character) => shown.out.includes(character))).toEqual([]);
  });

  it('shows the pull request of a preview, and that it gets no secrets', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const { key: stackKey } = await installation.addStack();
    const pullRequest = aPullRequest({ isFork: true, title: 'Wi\u001b[31mden it' });
    const made = await installation.commands.create({
      ...{ stackKey, type: 'PROPOSED', branch: 'mallory:topic', commit: branchHead, by: person('ada') },
      ...{ pullRequest, isUntrusted: true, dedupeKey: null },
    });
    if (made === 'duplicate') throw new Error('cannot be');

    const shown = await run(`run show ${made.id}`);
    const json = await run(`run show ${made.id} --json`);

    expect(shown.out).toMatch(/^pull request +#7 Wi.*den it \(bob, for main, of a fork\)$/m);
    expect(shown.out).not.toContain('\u001b');
    expect(shown.out).toMatch(/^trust +untrusted, sees no secrets: it comes from a fork/m);
    expect(json.json()).toMatchObject({ pullRequest, untrusted: true, trust: 'untrusted' });
  });

  it('confirms, once', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const made = await installation.move(
      await installation.addRun(await installation.addStack()),
      ...untilUnconfirmed,
    );

    const stale = await run(`run confirm ${made.id} --state-version 1`);
    const first = await run(['run', 'confirm', made.id, '--note', 'looks good']);
    const second = await run(`run confirm ${made.id} --json`);

    expect([stale.exitCode, first.exitCode, second.exitCode]).toEqual([5, 0, 5]);
    expect(first.out).toContain(`Run ${made.id} is CONFIRMED.`);
    expect(second.json()).toMatchObject({ code: 'state-conflict', state: 'CONFIRMED' });
  });

  it('cancels and retries', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const made = await installation.addRun(await installation.addStack());

    const cancelled = await run(`run cancel ${made.id}`);
    const again = await run(`run retry ${made.id} --json`);

    expect(cancelled.out).toBe(`Run ${made.id} is CANCELED.\n`);
    expect(again.json().id).not.toBe(made.id);
  });

  it('tears down only by the name of the stack', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const stack = await installation.addStack();
    const made = await installation.move(await installation.addRun(stack, 'DESTROY'), ...untilUnconfirmed);

    const shown = await run(`run show ${made.id}`);
    const wrong = await run(`run confirm ${made.id}`);
    const right = await run(['run', 'confirm', made.id, '--confirmation', 'Network Prod']);

    expect(shown.err).toContain("--confirmation 'Network Prod'");
    expect([wrong.exitCode, right.exitCode]).toEqual([6, 0]);
  });
});

describe('slipway run prioritize', () => {
  it('puts a run first, once it is in the version that was looked at', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const stack = await installation.addStack();
    for (let before = 0; before < 2; before += 1) await installation.addRun(stack);
    const waiting = await installation.addRun(stack);

    const late = await run(`run prioritize ${waiting.id} --state-version 7`);
    const done = await run(`run prioritize ${waiting.id} --state-version 1`);

    expect([late.exitCode, done.exitCode]).toEqual([5, 0]);
    expect(done.out).toBe(`Run ${waiting.id} is QUEUED.\n`);
    expect((await installation.runs.firstQueued(stack.key, null))?.id).toBe(waiting.id);
  });
});

describe('slipway run logs', () => {
  it('prints the log, whole or from an offset', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const made = await installation.addRun(await installation.addStack());
    await appendLog(installation.logs, made.id, 'preparing', 'eins ');
    await appendLog(installation.logs, made.id, 'planning', 'zwei\n');

    const all = await run(`run logs ${made.id}`);
    const rest = await run(`run logs ${made.id} --phase planning --offset 2 --json`);

    expect(all.out).toBe('eins zwei\n');
    expect(rest.json()).toEqual({ text: 'ei\n', nextOffset: 5 });
  });

  it('follows until the run is over', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const made = await installation.addRun(await installation.addStack());
    await appendLog(installation.logs, made.id, 'preparing', 'one\n');

    const following = run(`run logs -f ${made.id}`);
    await appendLog(installation.logs, made.id, 'planning', 'two\n');
    await installation.move(made, { kind: 'cancel' });
    const followed = await following;

    expect(followed).toMatchObject({ exitCode: 0, out: 'one\ntwo\n', err: `Run ${made.id} is CANCELED.\n` });
  });

  it('says at once when there is no such run', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);

    expect((await run('run logs -f 01JRUN0000000000000000000A')).exitCode).toBe(3);
    expect((await run('run logs -f 01JRUN0000000000000000000A --json')).exitCode).toBe(2);
  });
});

describe('server-sent events', () => {
  it('are read in pieces of any size', async () => {
    const text = ': hello\n\nid: 1\nevent: log\ndata: {"a":\ndata: "🚀"}\n\nevent: end\ndata: {}\n\nhalf: ';
    for (const size of [1, 2, 3, 7, 100]) {
      const bytes = new TextEncoder().encode(text);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
          controller.close();
        },
      });

      expect(await Array.fromAsync(serverSentEvents(body))).toEqual([
        { id: '1', event: 'log', data: '{"a":\n"🚀"}' },
        { id: '1', event: 'end', data: '{}' },
      ]);
    }
  });
});

describe('slipway events', () => {
  it('catches up, page by page, and says where to go on', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const stack = await installation.addStack();
    const { id } = await installation.move(await installation.addRun(stack), ...untilUnconfirmed);

    const all = (await run('events --json')).json();
    const first = await run('events --limit 2');
    const rest = (await run(`events --json --after ${all.items[1].cursor}`)).json();

    const states = all.items.map(({ payload }: { payload: { state: string } }) => payload.state);
    expect(states.slice(0, 3)).toEqual(['QUEUED', 'READY', 'PREPARING']);
    expect(states.at(-1)).toBe('UNCONFIRMED');
    expect(all.nextCursor).toBeNull();
    expect(first.out).toMatch(new RegExp(`acme/network-prod +${id} +TRACKED +1 +QUEUED\n.* 2 +READY\n$`));
    expect(first.err).toBe(`Next: slipway events --after ${all.items[1].cursor}\n`);
    expect(rest.items).toEqual(all.items.slice(2));
    expect((await run('events --limit 0')).exitCode).toBe(2);
  });
});
