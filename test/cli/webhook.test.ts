import { describe, expect, it } from 'vitest';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

const endpoint = 'https://receiver.example/hook';

describe('slipway webhook', () => {
  it('adds, shows, changes and deletes a webhook', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    await installation.addStack();

    const added = await run(`webhook add network-prod ${endpoint} --secret - --json`, {
      input: 'correct horse\n',
    });
    const { id } = added.json();
    const shown = await run(`webhook show ${id}`);
    const list = await run('webhook list network-prod');
    const off = await run(`webhook update ${id} --disable --no-secret --json`);
    const deleted = await run(`webhook delete ${id}`);

    expect(added.json()).toMatchObject({ endpoint, enabled: true });
    expect(added.out).not.toContain('correct horse');
    expect(shown.out).toMatch(/^secret +correct horse$/m);
    expect(list.out).toContain(`${id}  ${endpoint}  enabled`);
    expect(list.out).not.toContain('correct');
    expect(off.json()).toMatchObject({ enabled: false, secret: null });
    expect(deleted.exitCode).toBe(0);
    expect((await run(`webhook show ${id}`)).exitCode).toBe(3);
  });

  it('replaces a secret and prints the new one alone', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const { webhooks } = installation;
    const { id } = await webhooks.create((await installation.addStack()).key, { endpoint });

    const random = await run(`webhook regenerate-secret ${id}`);
    const given = await run(`webhook regenerate-secret ${id} --secret -`, { input: 'battery staple' });

    expect(random.out).toMatch(/^[\w-]{43}\n$/);
    expect(given.out).toBe('battery staple\n');
  });

  it('shows deliveries and sends one again', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const stack = await installation.addStack();
    const { id } = await installation.webhooks.create(stack.key, { endpoint });
    const made = await installation.addRun(stack);

    const list = await run(`webhook deliveries ${id}`);
    const last = await run(`webhook deliveries ${id} --limit 1 --json`);
    const again = await run(`webhook resend ${last.json().items[0].id}`);

    expect(list.out).toContain(`${made.id}  2        pending  0`);
    expect(last.json().items).toHaveLength(1);
    expect(again.out).toContain('will be sent again');
  });

  it.each([
    [`webhook add network-prod http://127.0.0.1/`, 6],
    [`webhook add network-prod ${endpoint}`, 5],
    ['webhook update 01JRUN0000000000000000000A', 2],
    ['webhook update 01JRUN0000000000000000000A --enable --disable', 2],
    ['webhook resend 01JRUN0000000000000000000A', 3],
    ['webhook deliveries 01JRUN0000000000000000000A --limit 0', 2],
  ])('%s ends with %i', async (line, exitCode) => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    await installation.webhooks.create((await installation.addStack()).key, { endpoint });

    expect(await run(line)).toMatchObject({ exitCode, out: '' });
  });
});
