/** What scripts may rely on; listed in docs/cli.md. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  /** The command line or a setting is wrong: nothing was tried. */
  usage: 2,
  notFound: 3,
  /** No token, a wrong one, or too few rights. */
  forbidden: 4,
  conflict: 5,
  /** The server understood and will not: the input is not acceptable. */
  refused: 6,
  unreachable: 7,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export function exitCodeOfStatus(status: number): ExitCode {
  switch (status) {
    case 401:
    case 403:
      return exitCodes.forbidden;
    case 404:
    case 410:
      return exitCodes.notFound;
    case 409:
      return exitCodes.conflict;
    case 400:
    case 413:
    case 415:
    case 422:
      return exitCodes.refused;
    default:
      return exitCodes.failed;
  }
}
