import type { App } from './app.ts';

/**
 * The process of the server: settings, app, start, stop on a signal. Everything else is imported late, after
 * the version of Node was looked at: an older one crashes in better-sqlite3 without a word.
 */
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(`Slipway needs Node 24 or newer, this is ${process.version}: use npm start.\n`);
  process.exit(1);
}

/**
 * What changes the world is waited for, and the longest of it is a tear-down: planned again (70 min), torn down (70, and 10
 * to record what it did), after_run hooks (70), and a full disk may hold up each report for 10. A second signal ends
 * it at once.
 */
const stopLimitMs = 5 * 60 * 60_000;

/** Resolves with the exit code once the server has stopped, or could not start. */
export async function serve(): Promise<number> {
  const { environmentOfProcess, widenThreadPool } = await import('./config/environment.ts');
  widenThreadPool();
  const { readConfig } = await import('./config.ts');
  const { createLogger } = await import('./logger.ts');
  const { hintOfTheSystem, isOfTheSystem, UserError } = await import('./user-error.ts');
  try {
    const config = readConfig(environmentOfProcess());
    if (config.github === null) {
      throw new UserError('config-invalid', 'WEBHOOK_SECRET, APP_ID and PRIVATE_KEY_PATH: missing', {
        hint: 'The server needs the settings of a GitHub App; .env.example explains each. `slipway doctor` works without.',
      });
    }
    const { openApp } = await import('./app.ts');
    const stopping = nextSignal();
    const app = await openApp(config, createLogger(config.logLevel));
    try {
      await app.start();
      await stopping;
    } finally {
      await stop(app);
    }
    return 0;
  } catch (error) {
    if (error instanceof UserError) {
      refuse(error.message, error.hint);
      return error.code === 'config-invalid' ? 2 : 1;
    }
    // Anything else is a bug of ours, and its trace is for us.
    if (!isOfTheSystem(error)) throw error;
    refuse(error.message, hintOfTheSystem);
    return 1;
  }
}

function refuse(message: string, hint?: string): void {
  process.stderr.write(`slipway: ${message}\n${hint ? `         ${hint}\n` : ''}`);
}

function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
}

async function stop(app: App): Promise<void> {
  const giveUp = () => process.exit(1);
  process.once('SIGTERM', giveUp).once('SIGINT', giveUp);
  setTimeout(giveUp, stopLimitMs).unref();
  await app[Symbol.asyncDispose]();
}

// Not only the exit code: whatever is still open must not keep a stopped server alive.
if (import.meta.main) process.exit(await serve());
