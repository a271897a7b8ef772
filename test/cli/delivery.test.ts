import { describe, expect, it } from 'vitest';
import { secondsOf } from '../../src/cli/moment.ts';
import { attempted } from '../web/attempted.ts';
import { anInstallation } from '../web/installation.ts';
import { eventually } from '../webhooks/receiver.ts';
import { aCommandLine } from './command-line.ts';

const endpoint = 'https://receiver.example/hook';

async function prepared() {
  const installation = anInstallation();
  const { run } = aCommandLine(installation);
  const stack = await installation.addStack();
  const { id } = await installation.webhooks.create(stack.key, { endpoint, secret: 'correct horse' });
  const made = await installation.addRun(stack);
  return {
    installation,
    line: run,
    webhook: id,
    run: made,
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}

describe('slipway webhook delivery', () => {
  it('prints the attempts, what to do, and what went over the wire', async () => {
    await using world = await prepared();
    const { deliveryId, body } = await attempted(world.installation, world.webhook);

    const shown = await world.line(`webhook delivery ${deliveryId}`);
    const raw = await world.line(`webhook delivery ${deliveryId} --body`);

    expect(shown.out).toContain('attempt 1 failed after 12 ms: 401');
    expect(shown.out).toMatch(/what +The receiver refused the signature/);
    expect(shown.out).toMatch(/address +10\.0\.0\.7 port 443/);
    expect(shown.out).toMatch(
      /times +name 1\.5 ms, connection 2 ms, TLS 3 ms, first byte 9\.1 ms, all 9\.4 ms/,
    );
    expect(shown.out).toContain('  x-token: ***');
    expect(shown.out).toContain('  wrong signature');
    expect(shown.err).toContain(`slipway webhook resend ${deliveryId}`);
    expect(raw.out).toBe(Buffer.from(body ?? []).toString('utf8'));
  });

  it('says when there was no attempt', async () => {
    await using world = await prepared();
    const list = await world.line(`webhook deliveries ${world.webhook} --status pending --json`);

    const shown = await world.line(`webhook delivery ${list.json().items[0].id}`);

    expect(shown.out).toContain('No attempt yet');
    expect(shown.err).toBe('');
  });

  it('is found by what became of it', async () => {
    await using world = await prepared();
    const { deliveryId } = await attempted(world.installation, world.webhook);

    const failed = await world.line(`webhook deliveries ${world.webhook} --status failed`);
    const wrong = await world.line(`webhook deliveries ${world.webhook} --status odd`);

    expect(failed.out.split('\n')[1]).toContain(deliveryId);
    expect(failed.out.trimEnd().split('\n')).toHaveLength(2);
    expect(failed.err).toContain(`slipway webhook delivery ${deliveryId}`);
    expect(wrong.exitCode).toBe(2);
  });
});

describe('slipway webhook curl', () => {
  it('prints the command alone', async () => {
    await using world = await prepared();
    const { deliveryId } = await attempted(world.installation, world.webhook);

    const printed = await world.line(`webhook curl ${deliveryId} --attempt 1`);
    const missing = await world.line(`webhook curl ${deliveryId} --attempt 2`);

    expect(printed.out).toContain(`--data-binary @- '${endpoint}'\n`);
    expect(missing.exitCode).toBe(3);
    expect(missing.err).toContain('Nothing is known');
  });
});

describe('slipway webhook replay', () => {
  it('counts, starts, lists and cancels', async () => {
    await using world = await prepared();
    const { webhook } = world;

    const dry = await world.line(`webhook replay ${webhook} --since 2020-01-01 --dry-run`);
    const started = await world.line(`webhook replay ${webhook} --since 2020-01-01 --state ready`);
    const list = await world.line(`webhook replays ${webhook}`);
    const [replay] = (await world.line(`webhook replays ${webhook} --json`)).json().items;
    const again = await world.line(`webhook replay ${webhook} --since 2020-01-01`);
    const none = await world.line(`webhook replay ${webhook} --since 2020-01-01 --state failed --dry-run`);
    const canceled = await world.line(`webhook cancel-replay ${webhook} ${replay.id}`);

    expect(dry.out).toMatch(
      /^2 state changes would be sent\.\n {2}QUEUED 1\n {2}READY 1\nNothing before 2026/,
    );
    expect(started.out).toContain(`1 state change will be sent by replay ${replay.id}.`);
    expect(started.err).toContain(`slipway webhook replays ${webhook}`);
    expect(list.out).toMatch(/running +0 of 1 .* operator +READY/);
    expect(again.exitCode).toBe(5);
    expect(none.out).toMatch(/^Nothing to send\.\nNothing before/);
    expect(canceled.out).toContain('is canceled: 0 of 1');
  });

  it('follows until the end, or says that it was canceled', async () => {
    await using world = await prepared();
    const { webhook, installation } = world;
    const line = `webhook replay ${webhook} --since 2020-01-01 --follow`;

    const following = world.line(line);
    const running = await eventually(
      () => installation.replays.list(webhook, { before: null, limit: 1 }),
      (list) => list.length === 1,
    );
    await installation.replays.cancel(running[0]?.id ?? '', 'ada');
    const { exitCode, err } = await following;

    expect(exitCode).toBe(1);
    expect(err).toContain('was canceled');
  });

  it.each([
    ['90s', 1_795_000_000 - 90],
    ['2h', 1_795_000_000 - 7200],
    ['3d', 1_795_000_000 - 259_200],
    ['1794000000', 1_794_000_000],
    ['2026-11-18T08:00Z', 1_794_988_800],
    ['2026-11-18', 1_794_960_000],
  ])('takes %s for a time', (text, seconds) => {
    expect(secondsOf(text, 1_795_000_000_999, '--since')).toBe(seconds);
  });

  it.each(['', 'h', '-2h', '2w', '1.5h', 'yesterday', '1e3', '2026-13-01'])('takes %j for none', (text) => {
    expect(() => secondsOf(text, 0, '--since')).toThrow('--since: not a time');
  });
});

describe('slipway webhook test', () => {
  it('prints the phases and warns of the certificate', async () => {
    await using world = await prepared();

    const tested = await world.line(`webhook test ${world.webhook}`);

    expect(tested.exitCode).toBe(0);
    expect(tested.out).toMatch(
      /DNS +1\.5 ms\nTCP +2 ms, 10\.0\.0\.7 port 443\nTLS +3 ms, certificate until .*\nanswer +9\.1 ms\nresult +204\n/,
    );
    expect(tested.out).toMatch(/warning +The certificate of the receiver ends in 11 days/);
  });

  it('fails with what to do', async () => {
    await using world = await prepared();
    const failed = { kind: 'failed', error: 'dns', detail: 'ENOTFOUND', statusCode: null } as const;
    const rest = { retryAfterMs: null, wantsNoMore: null, durationMs: 3, exchange: null };
    world.installation.outcomes.push({ ...failed, ...rest });

    const tested = await world.line(`webhook test ${world.webhook}`);

    expect(tested.exitCode).toBe(1);
    expect(tested.out).toMatch(/result +dns, ENOTFOUND/);
    expect(tested.out).toMatch(/to do +Check the spelling/);
  });
});

describe('slipway run deliveries', () => {
  it('says whether everything arrived', async () => {
    await using world = await prepared();
    const { deliveryId } = await attempted(world.installation, world.webhook, {
      status: 'exhausted',
      nextAttemptAtMs: null,
    });

    const told = await world.line(`run deliveries ${world.run.id}`);

    expect(told.out).toMatch(/receiver\.example +1 +QUEUED +red +exhausted/);
    expect(told.out).toMatch(/receiver\.example +2 +READY +amber +pending/);
    expect(told.out).toContain('Not everything arrived.');
    expect(told.err).toContain(`slipway webhook delivery ${deliveryId}`);
  });
});
