import { describe, expect, it } from 'vitest';
import { anInstallation, call, untilUnconfirmed } from './installation.ts';

async function withGuardedRun() {
  const installation = anInstallation();
  installation.guards.push('p1 1');
  const run = await installation.move(
    await installation.addRun(await installation.addStack()),
    { kind: 'make-ready' },
    ...untilUnconfirmed,
  );
  const token = await installation.token('writer');
  const path = `/api/v1/runs/${run.id}`;
  const ask = (method: string, what: string, body?: unknown) =>
    call(installation, method, `${path}${what}`, { token, body });
  return { installation, run, ask, [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose]() };
}

describe('a run that approval policies guard', () => {
  it('says what it waits for, and is not confirmed', async () => {
    await using fixture = await withGuardedRun();
    const blockedBy = {
      kind: 'approval',
      reason: 'the approval policies of the stack have not judged it yet',
    };

    expect((await fixture.ask('GET', '')).body).toMatchObject({ state: 'UNCONFIRMED', blockedBy });
    expect((await fixture.ask('POST', '/confirm', {})).body).toMatchObject({
      ...{ status: 409, code: 'approval-required' },
      detail: `The run waits for approval: ${blockedBy.reason}.`,
    });
  });

  it('is reviewed by those who may write, and shows their reviews', async () => {
    await using fixture = await withGuardedRun();
    const { run } = fixture;

    const approved = await fixture.ask('POST', '/approve', { stateVersion: run.stateVersion, note: 'fine' });
    const rejected = await fixture.ask('POST', '/reject');
    const reviews = await fixture.ask('GET', '/reviews');

    expect([approved.status, rejected.status]).toEqual([200, 200]);
    expect(approved.body).toMatchObject({ id: run.id, state: 'UNCONFIRMED' });
    const by = { reviewer: 'writer-token', role: 'writer', via: 'api', state: 'UNCONFIRMED' };
    expect(reviews.body).toMatchObject({
      items: [
        { ...by, verdict: 'approve', note: 'fine' },
        { ...by, verdict: 'reject' },
      ],
    });
  });

  it('is not reviewed by readers, nor in another state than was looked at', async () => {
    await using fixture = await withGuardedRun();
    const token = await fixture.installation.token('reader');
    const path = `/api/v1/runs/${fixture.run.id}/approve`;

    expect((await call(fixture.installation, 'POST', path, { token, body: {} })).status).toBe(403);
    const late = await fixture.ask('POST', '/approve', { stateVersion: 1 });
    expect(late.body).toMatchObject({ code: 'state-conflict', state: 'UNCONFIRMED' });
    fixture.installation.guards.pop();
    expect((await fixture.ask('POST', '/approve')).body).toMatchObject({ code: 'no-approval-policies' });
    expect((await fixture.ask('GET', '/reviews')).body.items).toEqual([]);
  });
});
