// @ts-check
/**
 * Keeps the pages of a run true: at every change of its state the page is asked for once more, and each element with
 * `data-live` is replaced by the one of the same id. Whoever put scripts on such an element hears `live:replaced`.
 */
import { followEvents } from './event-stream.js';
import { replaceKeeping } from './replace.js';

const frame = document.getElementById('run-frame');
const away = document.getElementById('run-away');
const news = document.getElementById('run-news');
let shownVersion = Number(frame?.dataset['version']);
let isAsking = false;
let isStale = false;
let pauseMs = 1000;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

async function refresh() {
  isStale = true;
  if (isAsking) return;
  isAsking = true;
  clearTimeout(timer);
  try {
    while (isStale) {
      isStale = false;
      await replaceWithFresh();
    }
    pauseMs = 1000;
  } catch {
    // The event that it was for does not come again. A hidden page is asked for when somebody looks at it.
    timer = setTimeout(() => document.hidden || refresh(), pauseMs);
    pauseMs = Math.min(pauseMs * 2, 60_000);
  } finally {
    isAsking = false;
  }
}

/** Throws when there is no answer now, and may be one later: no connection, a server that starts, too many requests. */
async function replaceWithFresh() {
  const answer = await fetch(frame?.dataset['page'] ?? location.pathname);
  if (answer.status >= 500 || answer.status === 429) throw new Error(`answered ${answer.status}`);
  // Logged out, or not allowed to see it any more: what is shown stays, and is not taken for the truth.
  const isRefused = answer.redirected || [401, 403, 404].includes(answer.status);
  if (away) away.hidden = !isRefused;
  if (!answer.ok || isRefused) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const version = Number(fresh.getElementById('run-frame')?.dataset['version']);
  if (!(version >= shownVersion)) return;
  const isNews = version > shownVersion;
  shownVersion = version;
  document.title = fresh.title;
  for (const old of document.querySelectorAll('[data-live]')) {
    const replacement = fresh.getElementById(old.id);
    if (replacement) replaceKeeping(old, document.adoptNode(replacement));
  }
  if (isNews && news) news.textContent = document.getElementById('run-frame')?.dataset['news'] ?? '';
}

if (frame && frame.dataset['over'] === undefined) {
  followEvents({
    url: `/api/v1/runs/${frame.dataset['run']}/states/stream`,
    after: String(shownVersion),
    onRefused: () => void refresh(),
    on: {
      state: ({ stateVersion }) => {
        if (stateVersion > shownVersion) void refresh();
      },
      end: () => void refresh(),
    },
  });
  // What keeps the run back, or waits for it, changes without a change of its state.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void refresh();
  });
}
