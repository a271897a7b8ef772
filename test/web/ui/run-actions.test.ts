import { describe, expect, it } from 'vitest';
import type { Role } from '../../../src/access/actor.ts';
import type { Run, RunType } from '../../../src/runs/run.ts';
import { step } from '../../runs/plan/plan-steps.ts';
import { type Installation, untilUnconfirmed } from '../installation.ts';
import { savePlan } from '../save-plan.ts';
import { openBrowser } from './browser.ts';

const hostile = '<script>alert(1)</script>"';
const delta = { added: 2, changed: 0, deleted: 1, resources: 3 };

/** Somebody with that role is logged in, and there is a run that waits for confirmation. */
async function opened(type: RunType = 'TRACKED', role: Role = 'writer') {
  const all = openBrowser();
  const { installation } = all;
  const stack = await installation.addStack('Network Prod');
  const made = await installation.addRun(stack, type);
  await savePlan(installation, made, {
    steps: [
      step('create', 'new', null, {}),
      step('delete', 'assets', {}, null),
      step('create-replacement', `db ${hostile}`, {}, {}, { type: 'aws:rds/instance:Instance' }),
    ],
  });
  const run = await withDelta(installation, await installation.move(made, ...untilUnconfirmed));
  installation.roles.set('ada', role);
  await all.logIn();
  const form_token = await all.formToken();
  const press = (verb: string, fields: Record<string, string> = {}, of = run) =>
    all.post(`/runs/${of.id}/${verb}`, { form_token, state_version: String(of.stateVersion), ...fields });
  const page = async (of = run) => (await all.visit(`/runs/${of.id}/log`)).text;
  return { ...all, stack, run, press, page, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

/** The worker's report would have said it. */
async function withDelta({ database, runs }: Installation, run: Run): Promise<Run> {
  const change = { state: run.state, note: null, delta };
  const changed = await database.write((tx) => runs.change(tx, run.id, run.stateVersion, change));
  if (!changed || changed === 'blocked') throw new Error('cannot be');
  return changed;
}

/** What the panels say, by their button. */
function panels(text: string): Record<string, string> {
  const plain = (part = '') =>
    part
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
  return Object.fromEntries(
    [...text.matchAll(/<details class="act"[^>]*><summary[^>]*>(.*?)<\/summary>(.*?)<\/details>/gs)].map(
      ([, words, panel]) => [plain(words), plain(panel)],
    ),
  );
}

describe('the buttons of a run', () => {
  it('say what follows, and what is lost, before it is done', async () => {
    await using all = await opened();

    const shown = panels(await all.page());

    expect(Object.keys(shown)).toEqual(['Confirm and apply', 'Discard plan']);
    expect(shown['Confirm and apply']).toContain(
      '2 created, 1 deleted in Network Prod by commit 1f0c2b3. This plan is what is applied.',
    );
    expect(shown['Confirm and apply']).toContain('Deleted: assets aws:s3/bucket:Bucket may hold data');
    expect(shown['Confirm and apply']).toContain('Deleted and made anew: db &lt;script&gt;');
    expect(shown['Discard plan']).toContain('Nothing is applied');
  });

  it('are not there for who only reads', async () => {
    await using all = await opened('TRACKED', 'reader');
    expect(panels(await all.page())).toEqual({});
  });

  it('are those that the state allows', async () => {
    await using all = await opened();
    const { installation, stack, run } = all;
    const waiting = await installation.addRun(stack);
    const begun = await installation.move(await installation.addRun(stack, 'PROPOSED'), { kind: 'claim' });
    const over = await installation.move(run, { kind: 'discard' });

    expect(Object.keys(panels(await all.page(begun)))).toEqual(['Stop run']);
    expect(Object.keys(panels(await all.page(over)))).toEqual(['Run it again']);
    expect(panels(await all.page(over))['Run it again']).toContain('waits for somebody to confirm it');
    expect(Object.keys(panels(await all.page(waiting)))).toEqual(['Cancel run']);
  });

  it('take a note', async () => {
    await using all = await opened();

    const { answer, location } = await all.press('discard', { note: ` ${hostile} ` });

    expect([answer.status, location]).toEqual([303, `/runs/${all.run.id}`]);
    expect((await all.installation.runs.events(all.run.id)).at(-1)).toMatchObject({
      ...{ state: 'DISCARDED', actor: 'ada', note: hostile },
    });
    const { text } = await all.visit(`/runs/${all.run.id}/details`);
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toContain('<script>alert');
  });

  it('put a waiting run first', async () => {
    await using all = await opened();
    const { installation, stack, run } = all;
    const [second, third] = [await installation.addRun(stack), await installation.addRun(stack)];
    expect(panels(await all.page(third))['Put it first']).toContain('What is under way goes on.');

    const { answer } = await all.press('prioritize', {}, third);
    await installation.move(run, { kind: 'discard' });

    expect(answer.status).toBe(303);
    expect(await installation.runs.find(third.id)).toMatchObject({ state: 'READY' });
    expect(await installation.runs.find(second.id)).toMatchObject({ state: 'QUEUED' });
  });
});

describe('who is too late', () => {
  it('is told what happened meanwhile, and keeps the note', async () => {
    await using all = await opened();
    await all.installation.commands.discard(all.run.id, { actor: 'grace', note: hostile });

    const { answer, text } = await all.press('confirm', { note: 'looks <b>fine</b>' });

    expect(answer.status).toBe(409);
    expect(text.replace(/<[^>]*>/g, '')).toContain('“Confirm and apply” was not done.');
    expect(text).toMatch(/DISCARDED<\/span> by grace, .*?: &lt;script&gt;/);
    expect(text).toContain('Your note was: looks &lt;b&gt;fine&lt;/b&gt;');
    expect(Object.keys(panels(text))).toEqual(['Run it again']);
  });
});

describe('a tear-down', () => {
  it('is confirmed with the name of the stack; what was typed stays', async () => {
    await using all = await opened('DESTROY');
    expect(panels(await all.page())['Confirm and destroy']).toContain('That cannot be undone.');

    const wrong = await all.press('confirm', { confirmation: hostile, note: 'no longer needed' });
    const right = await all.press('confirm', { confirmation: 'Network Prod' });

    expect(wrong.answer.status).toBe(422);
    expect(wrong.text).toContain('<details class="act" name="act" open>');
    expect(wrong.text).toContain('aria-invalid="true" aria-describedby="confirmation-wrong"');
    expect(wrong.text).toContain('value="&lt;script&gt;alert(1)&lt;/script&gt;&quot;"');
    expect(wrong.text).toContain('value="no longer needed"');
    expect(wrong.text).not.toContain('<script>alert');
    expect(right.answer.status).toBe(303);
    expect(await all.installation.runs.find(all.run.id)).toMatchObject({ state: 'CONFIRMED' });
  });
});
