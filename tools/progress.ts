/** Progress goes to stderr, so that stdout stays one JSON value under --json. */
export function say(line: string): void {
  process.stderr.write(`set-up: ${line}\n`);
}

/** Says every 15 seconds how long it has been, as a sign of life in terminals and in CI logs alike. */
export async function withElapsedTime<T>(label: string, work: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const seconds = () => Math.round((performance.now() - startMs) / 1000);
  const timer = setInterval(() => say(`${label}: ${seconds()} s`), 15_000);
  try {
    const result = await work();
    say(`${label}: done in ${seconds()} s`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
