import { describe, expect, test } from 'vitest';
import * as commands from '../../../src/vendors/pulumi/commands.ts';
import { baseEnvironment, refusesVariable } from '../../../src/vendors/pulumi/environment.ts';
import type { VendorContext } from '../../../src/worker/vendor.ts';

const context: VendorContext = {
  settings: { pulumi: { loginUrl: 'file:///state/net', stackName: 'acme/net/prod' } },
  paths: {
    checkout: '/workspace',
    projectRoot: '/workspace/infra',
    home: '/home/run',
    login: '/login',
    output: '/output',
    cache: null,
  },
  localStateDirectory: null,
};
const eventLog = { PULUMI_DEBUG_COMMANDS: 'true', PULUMI_OPTION_EVENT_LOG: '/output/events.jsonl' };
const flags = ['--refresh', '--diff', '--show-replacement-steps'];

describe('initialization', () => {
  test('logs in and selects the stack with the words of the specification', () => {
    const [login, select] = commands.initialize(context, false, () => {});
    expect(login?.command.argv).toEqual(['pulumi', 'login', 'file:///state/net']);
    expect(login?.fallback).toBeUndefined();
    expect(select?.command.argv).toEqual([
      'pulumi',
      'stack',
      'select',
      '--create',
      '--select',
      'acme/net/prod',
    ]);
    expect(select?.fallback?.command.argv).toEqual([
      'pulumi',
      'stack',
      'select',
      '--create',
      '--stack',
      'acme/net/prod',
    ]);
  });

  test('falls back only when that very flag is unknown', () => {
    const when = commands.refusesSelectFlag;
    expect(when({ exitCode: 1, stderr: 'error: unknown flag: --select\n' })).toBe(true);
    expect(when({ exitCode: 255, stderr: 'error: unknown flag: --select' })).toBe(true);
    expect(when({ exitCode: 0, stderr: 'error: unknown flag: --select' })).toBe(false);
    expect(when({ exitCode: 1, stderr: 'error: unknown flag: --create' })).toBe(false);
    expect(when({ exitCode: 1, stderr: 'error: incorrect passphrase' })).toBe(false);
  });

  test('runs the released form at once when the binary is known to refuse the other', () => {
    const [, select] = commands.initialize(context, true, () => {});
    expect(select?.command.argv.slice(3)).toEqual(['--create', '--stack', 'acme/net/prod']);
    expect(select?.fallback).toBeUndefined();
  });

  test('logs in at the host directory where there are no mounts, whatever its name', () => {
    const local = { ...context, localStateDirectory: '/srv/my state/100%' };
    const url = 'file:///srv/my%20state/100%25';
    expect(commands.login(local).argv).toEqual(['pulumi', 'login', url]);
    expect(baseEnvironment(local)['PULUMI_BACKEND_URL']).toBe(url);
  });
});

describe('planning', () => {
  test('previews and saves the plan', () => {
    const command = commands.plan(context, 'apply');
    expect(command.argv).toEqual(['pulumi', 'preview', ...flags]);
    expect(command.environment).toEqual({ ...eventLog, PULUMI_OPTION_SAVE_PLAN: '/output/plan.json' });
    expect(command.writesOutput).toBe(true);
  });

  test('of a tear-down previews that, for which there are no plans', () => {
    const command = commands.plan(context, 'destroy');
    expect(command.argv).toEqual(['pulumi', 'destroy', '--preview-only', ...flags]);
    expect(command.environment).toEqual(eventLog);
  });
});

describe('applying', () => {
  const confirmed = { ...eventLog, PULUMI_SKIP_CONFIRMATIONS: 'true' };

  test('keeps the preview of up and binds it to the plan after a person confirmed', () => {
    const command = commands.apply(context, 'apply', { planPath: '/plan/plan.json', followsPlan: false });
    expect(command.argv).toEqual(['pulumi', 'up', ...flags]);
    expect(command.environment).toEqual({ ...confirmed, PULUMI_OPTION_PLAN: '/plan/plan.json' });
  });

  test('skips the preview of up when it follows the plan at once', () => {
    const command = commands.apply(context, 'apply', { planPath: '/plan/plan.json', followsPlan: true });
    expect(command.environment).toEqual({
      ...confirmed,
      PULUMI_OPTION_PLAN: '/plan/plan.json',
      PULUMI_OPTION_SKIP_PREVIEW: 'true',
    });
  });

  test('goes without a plan where plan binding is off', () => {
    const command = commands.apply(context, 'apply', { planPath: null, followsPlan: false });
    expect(command.environment).toEqual(confirmed);
  });

  test('of a tear-down never passes a plan, which destroy does not know', () => {
    const command = commands.apply(context, 'destroy', { planPath: '/plan/plan.json', followsPlan: false });
    expect(command.argv).toEqual(['pulumi', 'destroy', ...flags]);
    expect(command.environment).toEqual(confirmed);
  });
});

describe('variables', () => {
  test('of every command keep the run to its own home, backend and stack', () => {
    expect(baseEnvironment(context)).toEqual({
      PULUMI_HOME: '/home/run/.pulumi',
      PULUMI_CREDENTIALS_PATH: '/login',
      PULUMI_CREDENTIAL_STORE: 'plaintext',
      PULUMI_BACKEND_URL: 'file:///state/net',
      PULUMI_STACK: 'acme/net/prod',
      PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER: 'true',
      PULUMI_SKIP_UPDATE_CHECK: 'true',
      PULUMI_IGNORE_AMBIENT_PLUGINS: 'true',
      PULUMI_OPTION_NON_INTERACTIVE: 'true',
      PULUMI_OPTION_COLOR: 'never',
      PULUMI_OPTION_SUPPRESS_PROGRESS: 'true',
    });
  });

  test('that we set, on any command, cannot be set by users', () => {
    const all = [
      baseEnvironment(context),
      commands.plan(context, 'apply').environment,
      commands.apply(context, 'apply', { planPath: '/p', followsPlan: true }).environment,
    ].flatMap((environment) => Object.keys(environment));
    expect(all.filter((name) => !refusesVariable(name))).toEqual([]);
  });

  test.each([
    'PULUMI_OPTION_TARGET',
    'PULUMI_OPTION_SHOW_SECRETS',
    'PULUMI_OPTION_CWD',
    'PULUMI_OPTION_',
    'PULUMI_API',
    'PULUMI_EXPERIMENTAL',
    'PULUMI_SKIP_CHECKPOINTS',
    'PULUMI_CONTINUE_ON_ERROR',
    'PULUMI_DEBUG_PROVIDERS',
    'PULUMI_DEFAULT_ORGANIZATION',
    'CLAUDECODE',
    'AI_AGENT',
  ])('such as %s are refused', (name) => {
    expect(refusesVariable(name)).toBe(true);
  });

  test.each([
    'PULUMI_CONFIG_PASSPHRASE',
    'PULUMI_CONFIG_PASSPHRASE_FILE',
    'PULUMI_ACCESS_TOKEN',
    'PULUMI_PARALLEL',
    'PULUMI_DIY_BACKEND_GZIP',
    'PULUMI_DIY_BACKEND_LEGACY_LAYOUT',
    'PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION',
    'PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES',
    'PULUMI_PYTHON_CMD',
    'PULUMI_RUN_PROGRAM',
    'PULUMI_CONSOLE_DOMAIN',
    'AWS_ACCESS_KEY_ID',
    'GOOGLE_CREDENTIALS',
    'MY_OPTION',
  ])('such as %s are the users own', (name) => {
    expect(refusesVariable(name)).toBe(false);
  });
});
