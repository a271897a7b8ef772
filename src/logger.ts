import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** Field names whose values never reach a log, wherever a caller may have put them. */
const secretFields = ['authorization', 'cookie', 'password', 'privateKey', 'secret', 'token', 'value'];

/** Logs are one JSON object a line with a constant `msg`; what varies is in fields. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    redact: {
      paths: secretFields.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      censor: '***',
    },
  };
  return destination ? pino(options, destination) : pino(options);
}
