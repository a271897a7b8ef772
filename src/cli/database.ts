import type { Command } from 'commander';
import { toUnixSeconds } from '../clock.ts';
import type { Config } from '../config.ts';
import type { DatabaseReport } from '../storage/care/check.ts';
import type { RotationStep } from '../storage/care/rotate-key.ts';
import { type CliContext, configOf } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure } from './failure.ts';
import { fields, oneLine, outputOf, time } from './output.ts';

const afterRestore = `
The next start of the server ends the runs that may have gone on since the backup, and locks every stack: docs/operations.md.`;

/** `slipway db ...`: the database of this machine, without a server; storage is loaded when it is needed. */
export function addDatabaseCommands(db: Command, context: CliContext): void {
  db.command('backup')
    .description('copy the database to a new file, while a server runs or not; the key is not in it')
    .argument('<file>', 'must not exist')
    .action(async (file: string, _options: unknown, command: Command) => {
      const { backUp } = await import('../storage/care/backup.ts');
      const { config, output } = opened(command);
      const made = backUp(config, file, Date.now());
      const { path, bytes, key } = made;
      output.result({ path, bytes, takenAt: toUnixSeconds(made.takenAtMs), key }, () =>
        fields([
          ['written', path],
          ['size', `${bytes} bytes`],
          ['key', key ?? undefined],
        ]),
      );
      output.next(
        key === null
          ? `find its key: ${config.secretKeyPath} does not open it`
          : `keep it apart from ${config.secretKeyPath}, which opens it`,
      );
    });

  db.command('check')
    .description('read the whole database and say what is wrong with it; changes nothing')
    .argument('[file]', 'a backup; default: the database of DATA_DIR')
    .action(async (file: string | undefined, _options: unknown, command: Command) => {
      const { checkDatabase } = await import('../storage/care/check.ts');
      const { config, output } = opened(command);
      const { secretKeyPath } = config;
      const report = checkDatabase({ secretKeyPath, databasePath: file ?? config.databasePath });
      const { takenAtMs, ...rest } = report;
      const takenAt = takenAtMs === null ? null : toUnixSeconds(takenAtMs);
      output.result({ ...rest, takenAt }, () => described(report));
      // The report says it all; nothing is printed on top of it.
      if (!report.ok) throw new CliFailure(exitCodes.failed, '');
    });

  db.command('restore')
    .description(
      'put a backup where the database has to be; there must be none, and the key must be in its place',
    )
    .argument('<file>', 'as `db backup` made it, or another copy')
    .addHelpText('after', afterRestore)
    .action(async (file: string, _options: unknown, command: Command) => {
      const { restore } = await import('../storage/care/backup.ts');
      const { config, output } = opened(command);
      const { path, takenAtMs, key } = restore(config, file);
      const takenAt = toUnixSeconds(takenAtMs);
      output.result({ path, takenAt, key }, () => `Restored ${path} as of ${time(takenAt)}.`);
      output.next(
        'slipway db check, then start the server: every stack will be locked until you have looked',
      );
    });

  db.command('rotate-key')
    .description('encrypt every secret with a new key; the server must be stopped')
    .action(async (_options: unknown, command: Command) => {
      const { rotateKey } = await import('../storage/care/rotate-key.ts');
      const { config, output } = opened(command);
      const result = rotateKey(config, (step) => {
        if (!output.isJson) output.note(steps[step]);
      });
      const { secrets, key, oldKey, oldKeyPath } = result;
      output.result(result, () =>
        fields([
          ['secrets', String(secrets)],
          ['key', `${config.secretKeyPath} (${key})`],
          ['old key', `${oldKeyPath} (${oldKey})`],
        ]),
      );
      output.next('keep the old key with the backups made before now, and remove it here');
    });

  /** SLIPWAY_URL does not matter: a database is cared for where it lies. */
  function opened(command: Command) {
    const config: Config = configOf(context);
    const output = outputOf(context, command);
    if (config.remote) output.note(`Note: this is the database of ${config.dataDir}, not of SLIPWAY_URL.`);
    return { config, output };
  }
}

const steps: Readonly<Record<RotationStep, string>> = {
  'key-made': 'A new key is made.',
  resealed: 'Every secret is encrypted with it.',
  committed: 'The database is written.',
  'key-replaced': 'The new key is in its place.',
};

function described({ path, bytes, takenAtMs, key, secrets, problems, ok }: DatabaseReport): string {
  const found = fields([
    ['database', path],
    ['size', `${bytes} bytes`],
    ['backup of', takenAtMs === null ? undefined : time(toUnixSeconds(takenAtMs))],
    ['key', key ?? undefined],
    ['secrets', String(secrets)],
    ['state', ok ? 'ok' : 'see below'],
  ]);
  return [found, ...problems.map((problem) => `FAIL  ${oneLine(problem)}`)].join('\n');
}
