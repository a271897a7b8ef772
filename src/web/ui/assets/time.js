// @ts-check
/**
 * Shows every <time data-show> as the reader's own clock has it, keeps "5 minutes ago" true, and says the time in UTC
 * on hover. The page as it came says the same in UTC.
 */

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
const steps = /** @type {const} */ ([
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
]);
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

/** @param {Date} then @param {number} nowMs */
function ago(then, nowMs) {
  const seconds = Math.trunc((then.getTime() - nowMs) / 1000);
  const step = steps.find(([length]) => Math.abs(seconds) >= length);
  if (step) return relative.format(Math.trunc(seconds / step[0]), step[1]);
  return seconds > 0 ? 'in a moment' : 'just now';
}

/** @param {Date} then @param {number} nowMs */
function onTheClock(then, nowMs) {
  const isToday = then.toDateString() === new Date(nowMs).toDateString();
  return isToday ? clock.format(then) : `${day.format(then)}, ${clock.format(then)}`;
}

/** @param {HTMLTimeElement} time @param {number} nowMs */
function show(time, nowMs) {
  const then = new Date(time.dateTime);
  if (Number.isNaN(then.getTime())) return;
  const text = time.dataset['show'] === 'clock' ? onTheClock(then, nowMs) : ago(then, nowMs);
  // Written only when it differs: it would be a change that others watch for.
  if (time.textContent !== text) time.textContent = text;
  const title = `${exact.format(then)}\n${then.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  if (time.title !== title) time.title = title;
}

function showAll() {
  const nowMs = Date.now();
  for (const time of document.querySelectorAll('time[data-show]')) {
    show(/** @type {HTMLTimeElement} */ (time), nowMs);
  }
}

showAll();
setInterval(showAll, 15_000);
document.addEventListener('visibilitychange', showAll);
// What a script puts into the page later.
let isDue = false;
new MutationObserver((changes) => {
  if (isDue || !changes.some(({ addedNodes }) => [...addedNodes].some((node) => node instanceof Element)))
    return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    showAll();
  });
}).observe(document.body, { childList: true, subtree: true });
