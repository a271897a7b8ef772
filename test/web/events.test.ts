import { describe, expect, it } from 'vitest';
import { anInstallation, call, type Installation } from './installation.ts';

interface Page {
  readonly items: readonly { cursor: string; payload: { run: { id: string }; stateVersion: number } }[];
  readonly nextCursor: string | null;
  readonly incomplete?: true;
}

async function page(installation: Installation, token: string, after: string, limit = 3): Promise<Page> {
  const path = `/api/v1/events?limit=${limit}&after=${after}`;
  return (await call(installation, 'GET', path, { token })).body as Page;
}

describe('catching up on events', () => {
  it('misses and repeats none that is written meanwhile', async () => {
    await using installation = anInstallation();
    const { addRun, database } = installation;
    const stack = await installation.addStack();
    const token = await installation.token('reader', 'acme');
    const wanted = 24;

    let written = false;
    const writing = (async () => {
      for (let ordinal = 0; ordinal < wanted; ordinal += 1) await addRun(stack, 'PROPOSED');
    })().finally(() => {
      written = true;
    });
    const seen: string[] = [];
    let last = '';
    for (let idle = 0; idle < 2; ) {
      // The look after the end of the writing must see all of it.
      const isLast = written;
      const { items } = await page(installation, token, last);
      for (const { cursor, payload } of items) {
        seen.push(`${payload.run.id} ${payload.stateVersion}`);
        last = cursor;
      }
      if (isLast && items.length === 0) idle += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;

    const rows = await database.read
      .selectFrom('run_event')
      .select(['run_id', 'state_version'])
      .orderBy('seq')
      .execute();
    expect(seen).toEqual(rows.map((row) => `${row.run_id} ${row.state_version}`));
    expect(new Set(rows.map((row) => row.run_id)).size).toBe(wanted);
  });

  it('goes on behind a cursor whose entry is gone, and says when something was removed behind it', async () => {
    await using installation = anInstallation();
    const { addRun, move, retention, database } = installation;
    const stack = await installation.addStack();
    const token = await installation.token('reader');
    const old = await move(await addRun(stack), { kind: 'cancel' });
    const all = await page(installation, token, '', 50);
    const [first, end] = [all.items[0]?.cursor ?? '', all.items.at(-1)?.cursor ?? ''];
    await addRun(stack);
    const before = await page(installation, token, first);

    await database.write((tx) => retention.removeRuns(tx, [old.id]));

    const fromStart = await page(installation, token, '');
    const fromFirst = await page(installation, token, first);
    const fromEnd = await page(installation, token, end);
    expect(before.incomplete).toBeUndefined();
    expect([fromStart.incomplete, fromFirst.incomplete, fromEnd.incomplete]).toEqual([true, true, undefined]);
    expect(fromEnd.items.length).toBeGreaterThan(0);
    expect(fromFirst.items).toEqual(fromEnd.items);
  });

  it('takes a cursor of its own only', async () => {
    await using installation = anInstallation();
    const token = await installation.token('reader');

    const answer = await call(installation, 'GET', '/api/v1/events?after=tomorrow', { token });

    expect(answer.body).toMatchObject({ status: 422, errors: [{ path: 'after' }] });
  });
});
