import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

// By its path: it is written for browsers, of which the compiler knows nothing here.
const live: string = join(import.meta.dirname, '../../../src/web/ui/assets/live.js');

/** What live.js sees of a browser: a page of a run in version 3, a stream, and answers in their order. */
function stubBrowser(answers: readonly (() => Promise<unknown>)[]) {
  const listeners = new Map<string, (event: { lastEventId: string; data: string }) => void>();
  const asked: string[] = [];
  const next = answers[Symbol.iterator]();
  const frame = { dataset: { run: 'r1', version: '3', page: '/runs/r1/log', news: '' } };
  const page = {
    title: 'old',
    hidden: false,
    getElementById: (id: string) => (id === 'run-frame' ? frame : null),
    querySelectorAll: () => [],
    addEventListener: () => {},
    removeEventListener: () => {},
  };
  vi.stubGlobal('document', page);
  vi.stubGlobal('location', { pathname: '/runs/r1' });
  vi.stubGlobal(
    'EventSource',
    class {
      static readonly CLOSED = 2;
      addEventListener(name: string, listener: (event: { lastEventId: string; data: string }) => void) {
        listeners.set(name, listener);
      }
      close() {}
    },
  );
  vi.stubGlobal('fetch', (path: string) => {
    asked.push(path);
    return next.next().value?.() ?? Promise.reject(new Error('nothing more was to be asked'));
  });
  vi.stubGlobal(
    'DOMParser',
    class {
      parseFromString = (title: string) => ({
        title,
        getElementById: () => ({ dataset: { version: '4' } }),
      });
    },
  );
  const tell = (name: string, data: unknown) =>
    listeners.get(name)?.({ lastEventId: '4', data: JSON.stringify(data) });
  return { page, asked, tell };
}

const fresh = async () => ({ ok: true, status: 200, redirected: false, text: async () => 'UNCONFIRMED' });
const refusal = (status: number) => async () => ({ ok: false, status, redirected: false });
const noConnection = () => Promise.reject(new TypeError('fetch failed'));

beforeEach(() => {
  vi.resetModules();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test.each([
  ['without a connection', noConnection],
  ['by a proxy whose server starts', refusal(502)],
  ['by too many requests', refusal(429)],
])('a change of state that cannot be shown %s is shown later', async (_, failure) => {
  const { page, asked, tell } = stubBrowser([failure, failure, fresh]);
  await import(live);

  tell('state', { stateVersion: 4 });
  await vi.advanceTimersByTimeAsync(1000);
  expect([asked.length, page.title]).toEqual([2, 'old']);
  await vi.advanceTimersByTimeAsync(2000);

  expect([asked.length, page.title]).toEqual([3, 'UNCONFIRMED']);
});

test('a page that may not be seen any more is not asked for again', async () => {
  const { asked, tell } = stubBrowser([refusal(404)]);
  await import(live);

  tell('state', { stateVersion: 4 });
  await vi.advanceTimersByTimeAsync(600_000);

  expect(asked).toEqual(['/runs/r1/log']);
});

test('a hidden page is not asked for', async () => {
  const { page, asked, tell } = stubBrowser([noConnection]);
  await import(live);

  tell('state', { stateVersion: 4 });
  page.hidden = true;
  await vi.advanceTimersByTimeAsync(600_000);

  expect(asked).toHaveLength(1);
});
