import { type Fixture, isRightAnswer } from './fixture.ts';

/** What a receiver made of a fixture, as far as its answer tells. */
export interface FixtureAnswer {
  readonly fixture: Fixture;
  /** Null without an answer. */
  readonly status: number | null;
  /** Why there was none: a code of Node, or `timeout`. */
  readonly error: string | null;
  readonly isRight: boolean;
}

/** As long as Slipway itself waits. */
const timeoutMs = 15_000;

/** Sends one after the other, because their order is part of the test. Follows no redirect. */
export async function sendFixtures(
  fixtures: readonly Fixture[],
  url: string,
  send: typeof fetch,
): Promise<readonly FixtureAnswer[]> {
  const answers: FixtureAnswer[] = [];
  for (const fixture of fixtures) {
    const { status, error } = await post(fixture, url, send);
    const isRight = status !== null && isRightAnswer(fixture.expected, status);
    answers.push({ fixture, status, error, isRight });
  }
  return answers;
}

async function post(
  { headers, body }: Fixture,
  url: string,
  send: typeof fetch,
): Promise<Pick<FixtureAnswer, 'status' | 'error'>> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(url, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
      redirect: 'manual',
      signal,
    });
    await response.body?.cancel();
    return { status: response.status, error: null };
  } catch (error) {
    return { status: null, error: signal.aborted ? 'timeout' : codeOf(error) };
  }
}

/** Never the message: it may hold the address, and that may hold a secret. */
function codeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : 'network error';
}
