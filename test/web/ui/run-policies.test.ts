import { describe, expect, it } from 'vitest';
import type { Review } from '../../../src/runs/approvals/review.ts';
import type { Outcome } from '../../../src/runs/run.ts';
import { addJudgedRun, changesDigest } from '../denied-run.ts';
import { untilUnconfirmed } from '../installation.ts';
import { hostile, openPolicies, plain } from './policies/policies-world.ts';
import { formFields, formsOf } from './settings/settings-world.ts';

type Who = Parameters<typeof openPolicies>[0];

async function opened(who: Who = 'admin') {
  const all = await openPolicies(who);
  const page = async (id: string) => (await all.visit(`/runs/${id}/policies`)).text;
  return { ...all, page, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

/** A run that a plan policy has denied. */
async function denied(who: Who = 'admin', outcome: Outcome = 'policy_denied') {
  const all = await opened(who);
  const run = await addJudgedRun(all.installation, all.stack, { outcome });
  const override = (reason: string) => all.submit(`/runs/${run.id}/override`, { reason });
  const overrides = () => all.installation.policies.feature.overrides.of(run);
  return { ...all, run, override, overrides, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

describe('what policies said of a run', () => {
  it('is listed with the policy, its version, its messages and why it failed', async () => {
    await using all = await opened();
    const { id } = await all.addPolicy({ name: hostile });
    const { id: runId } = await all.installation.addRun(all.stack);
    await all.addDecision(id, { messages: [`first\n${hostile}`, 'second'] }, { runId, subject: hostile });
    const failure = { code: 'timeout', message: 'it took too long' } as const;
    await all.addDecision(id, { outcome: 'failed', messages: [], failure }, { runId });

    const text = await all.page(runId);

    expect(text).toContain(`href="/policies/${id}"`);
    expect(text).toContain(`href="/policies/${id}/workbench?run=${runId}"`);
    expect(plain(text)).toContain('PLAN, version 1, on');
    expect(plain(text)).toContain('in 0.01 s by opa 1.22.0');
    expect(plain(text)).toContain('it took too long timeout');
    expect(text).toContain('\\u{202e}');
    expect(text).not.toContain('<script>alert');
  });

  it('is nothing where no policy is attached, and the page says so', async () => {
    await using all = await opened('reader');
    const { id } = await all.installation.addRun(all.stack);

    const text = await all.page(id);

    expect(plain(text)).toContain('No policy judged this run: none is attached to the stack.');
    expect(text).toContain('href="/stacks/acme/network-prod/settings/policies"');
  });

  it('is nothing yet where none was asked', async () => {
    await using all = await opened('reader');
    await all.attach((await all.addPolicy()).id);
    const { id } = await all.installation.addRun(all.stack);

    expect(plain(await all.page(id))).toContain(
      'One policy judges the stack, but none was asked of this run so far.',
    );
  });

  it('is for who reads the stack', async () => {
    await using all = await opened('stranger');
    const { id } = await all.installation.addRun(all.stack);

    expect((await all.visit(`/runs/${id}/policies`)).answer.status).toBe(404);
  });
});

describe('the override of a denied run', () => {
  it('names the digest and what follows, wants a reason, and offers the next run', async () => {
    await using all = await denied();
    const before = await all.page(all.run.id);
    expect(before).toContain(changesDigest);
    expect(plain(before)).toContain(
      'This run stays denied. The next run of the stack passes if it is of commit',
    );

    const empty = await all.override('   ');
    const done = await all.override(` agreed ${hostile} `);
    const after = await all.page(all.run.id);

    expect(empty.answer.status).toBe(422);
    expect(empty.text).toContain('id="reason-wrong"');
    expect([done.answer.status, done.location]).toEqual([303, `/runs/${all.run.id}/policies`]);
    expect(await all.overrides()).toMatchObject([{ actorName: 'root-ada', reason: `agreed ${hostile}` }]);
    expect(plain(after)).toContain('root-ada lets exactly these changes pass although policies deny them');
    expect(formFields(after, `/runs/${all.run.id}/retry`)).toMatchObject({
      state_version: [String(all.run.stateVersion)],
    });
    expect(after).not.toContain(`action="/runs/${all.run.id}/override"`);
    expect(after).not.toContain('<script>alert');
  });

  it('is shown on the next run with the same changes', async () => {
    await using all = await denied();
    await all.override('known');
    const again = await addJudgedRun(all.installation, all.stack);

    const text = await all.page(again.id);

    expect(plain(text)).toContain('root-ada lets exactly these changes pass');
    expect(text).toContain(`They were denied in <a href="/runs/${all.run.id}/policies">`);
  });

  it.each(['reader', 'writer'] as const)('is nothing that a %s can do', async (role) => {
    await using all = await denied(role);

    const text = await all.page(all.run.id);

    expect(text).not.toContain('/override"');
    expect(plain(text)).toContain('An administrator of the stack can let exactly these changes pass.');
    expect((await all.override('mine')).answer.status).toBe(403);
    expect(await all.overrides()).toEqual([]);
  });

  it('is not offered where a policy could not be evaluated', async () => {
    await using all = await denied('admin', 'policy_failed');

    const text = await all.page(all.run.id);
    const refused = await all.override('all the same');

    expect(text).not.toContain('/override"');
    expect(plain(text)).toContain('mend the policy or detach it from the stack');
    expect(refused.answer.status).toBe(409);
    expect(plain(refused.text)).toContain('a policy could not be evaluated');
  });

  it('is not offered where approval policies have rejected the run', async () => {
    await using all = await denied('admin', 'approval_rejected');

    const text = await all.page(all.run.id);
    const refused = await all.override('all the same');

    expect(text).not.toContain('/override"');
    expect(plain(text)).toContain('Approval policies have rejected it');
    expect(refused.answer.status).toBe(409);
    expect(plain(refused.text)).toContain('approval policies have rejected it');
  });
});

describe('a run that waits for approval', () => {
  async function waiting(who: Who) {
    const all = await opened(who);
    all.installation.guards.push('p1 1');
    const queued = await all.installation.addRun(all.stack);
    return { ...all, queued, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
  }

  it('offers to approve and reject, and shows who did', async () => {
    await using all = await waiting('writer');
    const { queued: run } = all;
    const shown = await all.page(run.id);
    expect(plain(shown)).toContain('Waits for approval:');
    expect(plain(shown)).toContain('once the approval policies of the stack let it');
    expect(plain(shown)).toContain('Once they let it, the run starts by itself.');

    const fields = { state_version: String(run.stateVersion), note: `fine ${hostile}` };
    const said = await all.submit(`/runs/${run.id}/approve`, fields);
    const after = await all.page(run.id);

    expect(said.answer.status).toBe(303);
    expect(plain(after)).toMatch(/ada writer approved QUEUED .* fine /);
    expect(after).not.toContain('<script>alert');
  });

  it('shows no buttons to who only reads', async () => {
    await using all = await waiting('reader');

    const text = await all.page(all.queued.id);

    expect(plain(text)).toContain('Waits for approval:');
    expect(formsOf(text)).toBe(0);
    expect(text).not.toContain('Approve');
  });

  it('cannot be confirmed, and says why', async () => {
    await using all = await opened('writer');
    const run = await all.installation.move(await all.installation.addRun(all.stack), ...untilUnconfirmed);
    expect(await all.page(run.id)).not.toContain('disabled');
    all.installation.guards.push('p1 1');

    const text = await all.page(run.id);

    expect(text).toContain(
      '<button type="button" disabled aria-describedby="run-blocked">Confirm and apply</button>',
    );
    expect(text).toContain('id="run-blocked"');
    expect(plain(text)).toContain('It has to be approved first');
    expect(plain(text)).toContain('somebody still has to confirm the plan');
  });

  it('shows the approvals of earlier runs that count for the same changes', async () => {
    await using all = await opened('writer');
    const { installation, stack } = all;
    const first = await addJudgedRun(installation, stack);
    const second = await addJudgedRun(installation, stack);
    const by = { reviewer: { key: 'person:grace', name: 'grace' }, role: 'admin', via: 'comment' } as const;
    const review: Review = {
      ...{ id: '01J000000000000000000000RV', runId: first.id, stackKey: stack.key, ...by },
      ...{ state: 'UNCONFIRMED', stateVersion: 6, changesDigest, verdict: 'approve', note: null, atMs: 1 },
    };
    await installation.database.write((tx) => installation.approvals.reviews.insert(tx, review));

    const [own, carried] = [await all.page(first.id), await all.page(second.id)];

    expect(plain(own)).toMatch(/grace admin approved by comment/);
    expect(own).not.toContain('an earlier run');
    expect(carried).toContain(
      `of <a href="/runs/${first.id}/policies">an earlier run</a> with the same changes`,
    );
  });
});
