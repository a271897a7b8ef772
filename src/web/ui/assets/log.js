// @ts-check
/** The log of a run: follows it, loads on demand what is not there, finds lines. */
import { followEvents } from './event-stream.js';
import { createLogPhase } from './log-phase.js';
import { createLogSearch } from './log-search.js';

const log = /** @type {HTMLElement | null} */ (document.getElementById('log'));
const newest = /** @type {HTMLButtonElement | null} */ (document.getElementById('log-newest'));
const order = ['preparing', 'initializing', 'planning', 'applying', 'destroying', 'performing'];

if (log && newest) start(log, newest);

/** @param {HTMLElement} log @param {HTMLButtonElement} newest */
function start(log, newest) {
  const api = `/api/v1/runs/${log.dataset['run']}/logs`;
  /** @type {Map<string, import('./log-phase.js').LogPhase>} */
  const phases = new Map();
  /** Text that came and is not in the page yet. @type {Map<string, string[]>} */
  const waiting = new Map();
  let isOver = false;
  let isDue = false;
  let unseenLines = 0;

  const search = createLogSearch({
    phases: () => order.flatMap((name) => phases.get(name) ?? []),
    loadAll: async () => {
      for (const name of order) await loadEarlier(name);
    },
    show: ({ phase, index }) => show(phase.reveal(index)),
  });

  /** @param {string} name */
  function phaseOf(name) {
    const known = phases.get(name);
    if (known) return known;
    const element = document.getElementById(`log-${name}`) ?? newPhase(name);
    const host = /** @type {HTMLElement} */ (element.querySelector('.log-lines'));
    const firstLine = Number(element.dataset['line'] ?? 1);
    const phase = createLogPhase({ name, host, firstLine, query: () => search.query() });
    phases.set(name, phase);
    return phase;
  }

  /** @param {string} name */
  function newPhase(name) {
    document.getElementById('log-empty')?.remove();
    const element = document.createElement('details');
    element.className = 'phase';
    element.id = `log-${name}`;
    element.dataset['phase'] = name;
    element.open = true;
    const summary = element.appendChild(document.createElement('summary'));
    summary.appendChild(document.createElement('h2')).textContent = name;
    const lines = element.appendChild(document.createElement('div'));
    lines.className = 'log-lines';
    lines.tabIndex = 0;
    lines.role = 'group';
    lines.ariaLabel = `Output of ${name}`;
    const later = order.slice(order.indexOf(name) + 1).map((each) => document.getElementById(`log-${each}`));
    log.insertBefore(element, later.find((each) => each !== null) ?? null);
    return element;
  }

  /** What stands before the part that the page came with. @param {string} name */
  async function loadEarlier(name) {
    const element = document.getElementById(`log-${name}`);
    const offset = Number(element?.dataset['offset'] ?? 0);
    if (!element || offset === 0) return;
    element.dataset['offset'] = '0';
    const text = await textOf(`${api}?phase=${name}&offset=0&limit=${offset}`);
    if (text === null) {
      // It can be asked for again.
      element.dataset['offset'] = String(offset);
      return;
    }
    element.querySelector('.earlier')?.remove();
    const before = document.documentElement.scrollHeight;
    phaseOf(name).prepend(text);
    // What the reader looks at stays where it is.
    window.scrollBy({ top: document.documentElement.scrollHeight - before, behavior: 'instant' });
    search.restart();
  }

  const isAtEnd = () => window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 80;
  const toEnd = () => window.scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });

  /** Once in a frame, however many events came. */
  function flush() {
    isDue = false;
    const follows = log.dataset['over'] === undefined && isAtEnd();
    for (const [name, texts] of waiting) phaseOf(name).append(texts.join(''));
    waiting.clear();
    if (isOver) for (const phase of phases.values()) phase.finish();
    search.update();
    void goToHash();
    if (follows && location.hash === shownHash) toEnd();
    if (isAtEnd()) unseenLines = 0;
    tellNewest();
  }

  function tellNewest() {
    newest.hidden = unseenLines === 0;
    const count = unseenLines.toLocaleString('en');
    newest.textContent = `Jump to newest (${count} new ${unseenLines === 1 ? 'line' : 'lines'})`;
  }

  function schedule() {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(flush);
  }

  /** @param {HTMLElement | null} line */
  function show(line) {
    for (const each of log.querySelectorAll('.target')) each.classList.remove('target');
    line?.classList.add('target');
    line?.scrollIntoView({ block: 'center', behavior: 'instant' });
  }

  let shownHash = '';
  async function goToHash() {
    const [, name = '', number = ''] = /^#([a-z]+)-(\d+)$/.exec(location.hash) ?? [];
    if (location.hash === shownHash || !order.includes(name)) return;
    if (!document.getElementById(`log-${name}`)) return;
    const phase = phaseOf(name);
    if (Number(number) < phase.firstLine()) await loadEarlier(name);
    const line = phase.reveal(Number(number) - phase.firstLine());
    // It may still be on its way.
    if (!line) return;
    shownHash = location.hash;
    show(line);
  }

  for (const element of /** @type {NodeListOf<HTMLElement>} */ (log.querySelectorAll('.phase'))) {
    const name = element.dataset['phase'] ?? '';
    const link = element.querySelector('.earlier a');
    if (!link) continue;
    link.textContent = 'show them';
    link.addEventListener('click', (event) => {
      event.preventDefault();
      void loadEarlier(name);
    });
  }
  newest.addEventListener('click', toEnd);
  window.addEventListener('scroll', () => {
    if (unseenLines === 0 || !isAtEnd()) return;
    unseenLines = 0;
    tellNewest();
  });
  window.addEventListener('hashchange', goToHash);

  followEvents({
    url: `${api}/stream`,
    after: log.dataset['after'] ?? '',
    on: {
      log: ({ phase, offset, text }) => {
        const shownBefore = Number(document.getElementById(`log-${phase}`)?.dataset['size'] ?? 0);
        if (offset >= shownBefore) unseenLines += text.split('\n').length - 1;
        const texts = waiting.get(phase) ?? [];
        texts.push(text);
        waiting.set(phase, texts);
        schedule();
      },
      end: () => {
        isOver = true;
        schedule();
      },
    },
  });
}

/** Null when there is no answer now. @param {string} url */
async function textOf(url) {
  try {
    const answer = await fetch(url);
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}
