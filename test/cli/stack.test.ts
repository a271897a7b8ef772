import { describe, expect, it } from 'vitest';
import { anInstallation } from '../web/installation.ts';
import { aCommandLine } from './command-line.ts';

const create = 'stack create Net --repository acme/infra --login-url file:///state --stack-name dev';

describe('slipway stack', () => {
  it('creates, shows, changes and deletes a stack', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);

    const made = await run(`${create} --label prod --label eu --no-plan-binding --json`);
    const shown = await run('stack show acme/net');
    const changed = await run([
      'stack',
      'update',
      'net',
      '--autodeploy',
      '--label',
      '',
      '--hook',
      'beforeInit=npm ci',
      '--json',
    ]);
    const refused = await run('stack delete net');
    const deleted = await run('stack delete net --yes');
    const list = await run('stack list --json');

    expect(made.json()).toMatchObject({
      id: 'net',
      labels: ['prod', 'eu'],
      planBinding: false,
      autodeploy: false,
    });
    expect(shown.out).toMatch(/^stack +acme\/net\nname +Net\nlabels +prod, eu\nstate +NONE\n/);
    expect(shown.out).toContain('loginUrl');
    expect(changed.json()).toMatchObject({ labels: [], autodeploy: true, hooks: { beforeInit: ['npm ci'] } });
    expect([refused.exitCode, refused.err]).toEqual([2, expect.stringContaining('--yes')]);
    expect(deleted).toMatchObject({ exitCode: 0, out: 'Deleted net.\n' });
    expect(list.json()).toEqual({ items: [] });
  });

  it('sets whose pull requests are previewed, and which bots are trusted', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);

    const made = await run(
      `${create} --allow-forks --trusted-bot renovate[bot] --trusted-bot Copilot --json`,
    );
    const shown = await run('stack show net');
    const changed = await run(['stack', 'update', 'net', '--no-allow-forks', '--trusted-bot', '', '--json']);

    expect(made.json()).toMatchObject({ allowForks: true, trustedBots: ['renovate[bot]', 'Copilot'] });
    expect(shown.out).toMatch(/^on +plan binding, pull requests of forks$/m);
    expect(shown.out).toMatch(/^trusted bots +renovate\[bot\], Copilot$/m);
    expect(changed.json()).toMatchObject({ allowForks: false, trustedBots: [] });
  });

  it('sets which checks and deployments GitHub shows', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);

    const made = await run(
      `${create} --checks aggregate --unaffected-checks --deployment-environment production --json`,
    );
    const shown = await run('stack show net');
    const none = await run([
      ...['stack', 'update', 'net', '--checks', 'each', '--no-unaffected-checks', '--json'],
      ...['--deployment-environment', ''],
    ]);
    const shownNone = await run('stack show net');

    const said = { checks: 'aggregate', unaffectedChecks: true, deploymentEnvironment: 'production' };
    expect(made.json()).toMatchObject(said);
    expect(shown.out).toMatch(/^on +plan binding, checks of unaffected commits$/m);
    expect(shown.out).toMatch(/^checks +one for a commit$/m);
    expect(shown.out).toMatch(/^environment +production$/m);
    expect(none.json()).toMatchObject({ checks: 'each', unaffectedChecks: false, deploymentEnvironment: '' });
    expect(shownNone.out).toMatch(/^environment +no deployments$/m);
  });

  it('lists stacks in columns and says what to do when there are none', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);

    const none = await run('stack list');
    await installation.addStack();
    await installation.addStack('dns', 'globex/infra');
    const two = await run('stack list');

    expect(none.err).toContain('Next: slipway stack create');
    expect(two.out.split('\n')).toEqual([
      'STACK              STATE  REPOSITORY    BRANCH  ROOT  LOCKED BY',
      'acme/network-prod  NONE   acme/infra    main    .',
      'globex/dns         NONE   globex/infra  main    .',
      '',
    ]);
  });

  it('asks for the account when an id is not enough', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    await installation.addStack('net');
    await installation.addStack('net', 'globex/infra');

    const both = await run('stack show net');
    const one = await run('stack show globex/net');
    const none = await run('stack show other --json');
    const odd = await run('stack show a/b/c');

    expect(both).toMatchObject({ exitCode: 2, err: expect.stringContaining('acme/net, globex/net') });
    expect(one.exitCode).toBe(0);
    expect(none.exitCode).toBe(3);
    expect(none.json()).toMatchObject({ code: 'not-found' });
    expect(odd.exitCode).toBe(2);
  });

  it.each([
    ['stack create Net --repository acme/infra', 2, 'the tool and its settings are missing'],
    [`${create.replace(' --stack-name dev', '')}`, 2, 'Pulumi needs --stack-name'],
    [`${create} --workspace prod`, 2, 'belong to different tools'],
    [`${create} --tool terraform`, 2, 'is no setting of Terraform'],
    ['stack create Net --repository acme/infra --workspace prod', 2, 'terraform, opentofu'],
    ['stack create Net --repository acme/infra --tool make', 2, 'Allowed choices are pulumi, terraform'],
    [
      'stack create Net --repository acme/infra --tool pulumi',
      2,
      'Pulumi needs --login-url and --stack-name',
    ],
    [`${create} --hook npm`, 2, 'must be name=command'],
    [`${create} --hook beforeLunch=eat`, 6, 'beforeLunch'],
    [`${create} --vendor {`, 2, 'not valid JSON'],
    [create.replace('acme/infra', 'acme/none'), 6, 'not installed'],
    [create.replace('Net', 'Network-Prod'), 5, 'already'],
    ['stack update net', 2, 'nothing to change'],
    ['stack show', 2, "missing required argument 'stack'"],
    ['stack fly net', 2, "unknown command 'fly'"],
    ['stack list --colour', 2, "unknown option '--colour'"],
  ])('%s ends with %i', async (line, exitCode, message) => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    await installation.addStack();

    const result = await run(line);

    expect(result).toMatchObject({ exitCode, out: '' });
    expect(result.err).toMatch(/^slipway: /);
    expect(result.err).toContain(message);
  });

  it('has the settings of every tool as flags, and changes one among the others', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    await installation.addStack();
    const vendorOf = async (line: string) => (await run(`${line} --json`)).json().vendor;
    const net = 'stack create Net --repository acme/infra --tool terraform';

    expect(await vendorOf(`${net} --workspace prod --variable-file prod.tfvars`)).toEqual({
      terraform: { workspace: 'prod', variableFile: 'prod.tfvars' },
    });
    expect(await vendorOf('stack update net --workspace test')).toEqual({
      terraform: { workspace: 'test', variableFile: 'prod.tfvars' },
    });
    expect(await vendorOf('stack update net --variable-file= --description new')).toEqual({
      terraform: { workspace: 'test' },
    });
    expect((await run('stack show net')).out).toMatch(/vendor +terraform\n +workspace +test\n/);
    expect(await vendorOf('stack update net --tool opentofu')).toEqual({ opentofu: {} });
    expect(await vendorOf('stack update network-prod --stack-name other')).toEqual({
      pulumi: { loginUrl: 'file:///state', stackName: 'other' },
    });
    expect((await run('stack create --help')).out).toContain('Terraform, OpenTofu: Workspace, e.g. prod');
  });

  it('locks and unlocks', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    await installation.addStack();

    await run(['stack', 'lock', 'network-prod', '--note', 'migrating']);
    const locked = await run('stack list');
    await run('stack unlock network-prod');

    expect(locked.out).toContain('operator');
    expect((await run('stack show network-prod --json')).json().lock).toBeNull();
  });
});

describe('slipway stack env', () => {
  it('takes secrets from standard input and never shows them', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    const stack = await installation.addStack();

    const set = await run('stack env set network-prod TOKEN', { input: 'hunter2hunter2\n' });
    const dash = await run('stack env set network-prod KEY --value -', { input: 'line 1\nline 2\n' });
    await run('stack env set network-prod REGION --value eu --plain');
    const list = await run('stack env list network-prod');

    expect([set.err, dash.err]).toEqual(['', '']);
    const stored = await installation.stackStore.environment(stack.key);
    expect(stored.map(({ value }) => value)).toEqual(['line 1\nline 2', 'eu', 'hunter2hunter2']);
    expect(list.out).toContain('REGION  all             eu');
    expect(list.out).toContain('TOKEN   all             (secret)');
    expect(set.out + list.out).not.toContain('hunter2');
  });

  it('warns when a secret can be seen', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    await installation.addStack();

    const given = await run('stack env set network-prod TOKEN --value hunter2hunter2 --json');
    const typed = await run('stack env set network-prod TOKEN');

    expect(given.err).toContain('on the command line');
    expect(given.json()).toEqual({ name: 'TOKEN', secret: true, access: 'all' });
    expect(typed.err).toContain('visible');
  });

  it('refuses reserved names and forgets variables', async () => {
    await using installation = anInstallation();
    const { run } = aCommandLine(installation);
    await installation.addStack();

    const reserved = await run('stack env set network-prod LD_PRELOAD', { input: 'evil.so' });
    const unset = await run('stack env unset network-prod NONE');

    expect(reserved).toMatchObject({ exitCode: 6, err: expect.stringContaining('LD_PRELOAD') });
    expect(unset.exitCode).toBe(3);
  });
});
