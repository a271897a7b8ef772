import { describe, expect, it } from 'vitest';
import type { Role } from '../../../src/access/actor.ts';
import type { ToolTrouble } from '../../../src/stacks/vendor-settings.ts';
import { addTroubledRun, heldLock } from '../troubled-run.ts';
import { openBrowser } from './browser.ts';

async function opened(role: Role, trouble: ToolTrouble = heldLock) {
  const all = openBrowser();
  const { installation } = all;
  const stack = await installation.addStack('Network Prod');
  const run = await addTroubledRun(installation, stack, { trouble });
  installation.roles.set('ada', role);
  await all.logIn();
  const form_token = await all.formToken();
  const post = (path: string, fields: Record<string, string> = {}) =>
    all.post(path, { form_token, ...fields });
  const page = async () => (await all.visit(`/runs/${run.id}/log`)).text;
  return { ...all, stack, run, post, page, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

const button = 'Start the task that mends it';

describe('what to do next, on the page of a run that met trouble', () => {
  it('is to start the task, whose command and consequence stand beside the button', async () => {
    await using all = await opened('admin');
    const { installation, run, stack } = all;

    const text = await all.page();
    expect(text).toContain('What to do next');
    expect(text).toContain('Be sure that nobody is at work any more');
    expect(text).toContain('<pre>pulumi cancel --yes</pre>');
    expect(text).toContain(button);

    const pressed = await all.post(`/runs/${run.id}/mend`);
    const task = await installation.runs.newestOfType(stack.key, 'TASK');
    expect(task).toMatchObject({ command: 'pulumi cancel --yes' });
    expect([pressed.answer.status, pressed.location]).toEqual([303, `/runs/${task?.id}`]);
    expect(await all.page()).not.toContain(button);
  });

  it('is to unlock the stack first, and leads back to the run', async () => {
    await using all = await opened('admin');
    const { installation, run, stack } = all;
    await installation.stacks.lock(stack, { kind: 'person', login: 'grace', email: 'g@example.com' }, 'mine');

    const text = await all.page();
    expect(text).not.toContain(button);
    expect(text).toContain(`<input type="hidden" name="run" value="${run.id}">`);

    const unlocked = await all.post('/stacks/acme/network-prod/unlock', { run: run.id });
    expect(unlocked.location).toBe(`/runs/${run.id}`);
    expect(await all.page()).toContain(button);
  });

  it('is for an administrator to do', async () => {
    await using all = await opened('writer');

    const text = await all.page();

    expect(text).toContain('An administrator of the stack can start this task.');
    expect(text).not.toContain(button);
    expect((await all.post(`/runs/${all.run.id}/mend`)).answer.status).toBe(403);
  });

  it('shows what the tool said as text', async () => {
    const hostile = '<script>alert(1)</script>';
    await using all = await opened('admin', { ...heldLock, holder: hostile } as ToolTrouble);

    const text = await all.page();

    expect(text).toContain('&lt;script&gt;alert(1)');
    expect(text).not.toContain(hostile);
  });
});
