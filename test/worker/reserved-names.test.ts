import { describe, expect, it } from 'vitest';
import { networkEnvironment } from '../../src/sandbox/network/network-environment.ts';
import { checkVariable } from '../../src/stacks/environment.ts';
import * as commands from '../../src/vendors/pulumi/commands.ts';
import { baseEnvironment, refusesVariable } from '../../src/vendors/pulumi/environment.ts';
import { readExports } from '../../src/worker/hooks.ts';
import { commandEnvironment, type RunContext, vendorContext } from '../../src/worker/run-context.ts';
import { aRun, aStack, stackSettings } from '../support/builders.ts';

const directories = { tree: '/workspace', git: '/git', home: '/home/runner', tmp: '/tmp', login: '/login' };
const context = {
  assignment: {
    run: aRun(),
    stack: aStack(),
    frozen: { settings: stackSettings(), variables: [], exports: {} },
  },
  vendor: { toolPath: () => ['/opt/pulumi'], baseEnvironment },
  workspace: { inside: directories, host: directories, localState: null },
  sandbox: { kind: 'bubblewrap' },
  projectRoot: '/workspace',
  exports: {},
} as unknown as RunContext;

/** Everything that is set for the commands of a run, besides what bash itself sets. */
function namesThatAreSet(): string[] {
  const forCommand = vendorContext(context, '/output');
  const environments = [
    commandEnvironment(context, { phase: 'planning', half: 'plan', budget: {} as never, log: {} as never }),
    commands.plan(forCommand, 'apply').environment,
    commands.plan(forCommand, 'destroy').environment,
    commands.apply(forCommand, 'apply', { planPath: '/run/slipway/plan', followsPlan: true }).environment,
    commands.apply(forCommand, 'destroy', { planPath: null, followsPlan: false }).environment,
    networkEnvironment({}, false),
    { BASH_ENV: '', SLIPWAY_EXPORTS: '', PWD: '' },
  ];
  return [...new Set(environments.flatMap((environment) => Object.keys(environment)))].sort();
}

const isRefusedForStacks = (name: string) => {
  try {
    checkVariable({ name, value: 'long enough', secret: true, access: 'all' }, refusesVariable);
    return false;
  } catch {
    return true;
  }
};
const isCarried = (name: string) => {
  const { carried } = readExports(Buffer.from(`${name}=x\0`), refusesVariable);
  return Object.hasOwn(carried, name);
};

/** A default that stacks and hooks may change. */
const defaults = ['LANG'];

describe('a variable that Slipway sets', () => {
  const reserved = namesThatAreSet().filter((name) => !defaults.includes(name));

  it('is one of many', () => {
    expect(reserved.length).toBeGreaterThan(40);
    for (const name of [
      'SLIPWAY',
      'TERM',
      'PULUMI_OPTION_PLAN',
      'PULUMI_SKIP_CONFIRMATIONS',
      'GIT_CONFIG_COUNT',
    ])
      expect(reserved).toContain(name);
  });

  it.each(reserved)('%s can be set by no stack, and by no hook but for PATH', (name) => {
    expect(isRefusedForStacks(name)).toBe(true);
    expect(isCarried(name)).toBe(name === 'PATH');
  });

  it.each(defaults)('%s is a default', (name) => {
    expect(isRefusedForStacks(name)).toBe(false);
    expect(isCarried(name)).toBe(true);
    const changed = { ...context, exports: { [name]: 'de_DE.UTF-8' } };
    expect(
      commandEnvironment(changed, { phase: 'planning', half: 'plan', budget: {} as never, log: {} as never })[
        name
      ],
    ).toBe('de_DE.UTF-8');
  });
});

describe('what steers the shell, the linker, git, Node or Pulumi', () => {
  it.each([
    ...['LD_PRELOAD', 'LD_AUDIT', 'LD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES'],
    ...['ENV', 'SHELLOPTS', 'BASHOPTS', 'PS4', 'PROMPT_COMMAND', 'IFS', 'HOME', 'SHELL'],
    ...['GIT_DIR', 'GIT_SSH_COMMAND', 'GIT_EXEC_PATH', 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS'],
    ...['PULUMI_OPTION_TARGET', 'PULUMI_OPTION_SHOW_SECRETS', 'PULUMI_OPTION_CWD', 'PULUMI_OPTION_ANYTHING'],
    ...['PULUMI_EXPERIMENTAL', 'PULUMI_SKIP_CHECKPOINTS', 'PULUMI_CONTINUE_ON_ERROR', 'CLAUDECODE'],
  ])('%s is refused from stacks and hooks alike', (name) => {
    expect(isRefusedForStacks(name)).toBe(true);
    expect(isCarried(name)).toBe(false);
  });

  it.each([
    ...['PULUMI_CONFIG_PASSPHRASE', 'PULUMI_ACCESS_TOKEN', 'PULUMI_PARALLEL', 'PULUMI_DIY_BACKEND_GZIP'],
    ...['AWS_ACCESS_KEY_ID', 'GOOGLE_CREDENTIALS', 'PYTHONPATH', 'GOFLAGS', 'NODE_ENV', 'LC_ALL', 'TZ'],
  ])('%s is free', (name) => {
    expect(isRefusedForStacks(name)).toBe(false);
    expect(isCarried(name)).toBe(true);
  });
});
