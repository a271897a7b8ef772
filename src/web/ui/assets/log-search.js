// @ts-check
/** Searching in a log: how many lines have it, from one to the next. */
import { plainText } from './ansi.js';

/** @typedef {{ readonly phase: import('./log-phase.js').LogPhase, readonly index: number }} Place */

/** More are counted by nobody. */
const mostFound = 10_000;

/**
 * @param {object} options
 * @param {() => Iterable<import('./log-phase.js').LogPhase>} options.phases
 * @param {() => Promise<void>} options.loadAll What was not loaded is searched, too.
 * @param {(place: Place) => void} options.show
 */
export function createLogSearch({ phases, loadAll, show }) {
  const form = /** @type {HTMLFormElement} */ (document.getElementById('log-search'));
  const field = /** @type {HTMLInputElement} */ (document.getElementById('log-query'));
  const found = /** @type {HTMLElement} */ (document.getElementById('log-found'));
  let query = '';
  /** @type {Place[]} */
  let places = [];
  let current = -1;
  let isComplete = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** How many lines of each phase were searched: what comes later is searched by itself. */
  let searched = new WeakMap();

  function findAgain() {
    places = [];
    searched = new WeakMap();
    find();
  }

  function find() {
    if (query === '') return;
    for (const phase of phases()) {
      const lines = phase.lines();
      let index = searched.get(phase) ?? 0;
      for (; index < lines.length && places.length < mostFound; index += 1) {
        if (
          plainText(lines[index] ?? '')
            .toLowerCase()
            .includes(query)
        )
          places.push({ phase, index });
      }
      searched.set(phase, index);
    }
  }

  function tell() {
    const more = places.length === mostFound ? '+' : '';
    const count = `${places.length.toLocaleString('en')}${more} ${places.length === 1 ? 'line' : 'lines'}`;
    found.textContent = query === '' ? '' : current < 0 ? count : `${current + 1} of ${count}`;
  }

  /** @param {number} step */
  function go(step) {
    if (places.length === 0) return;
    current = (current + step + places.length) % places.length;
    const place = places[current];
    if (place) show(place);
    tell();
  }

  async function search() {
    const wanted = field.value.trim().toLowerCase();
    if (wanted === query) return;
    query = wanted;
    current = -1;
    if (query !== '' && !isComplete) {
      isComplete = true;
      found.textContent = 'loading the log …';
      await loadAll();
    }
    findAgain();
    for (const phase of phases()) phase.redraw();
    tell();
  }

  form.hidden = false;
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(search, 150);
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  field.addEventListener('keydown', async (event) => {
    if (event.key === 'Escape') {
      field.value = '';
      await search();
      field.blur();
    }
    if (event.key !== 'Enter') return;
    event.preventDefault();
    await search();
    go(event.shiftKey ? -1 : 1);
  });
  document.getElementById('log-next')?.addEventListener('click', () => go(1));
  document.getElementById('log-previous')?.addEventListener('click', () => go(-1));
  document.addEventListener('keydown', (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
    field.select();
  });

  return {
    query: () => query,
    /** More lines came behind the others; where the reader is stays. */
    update() {
      if (query === '') return;
      find();
      tell();
    },

    /** Lines came before others: all of them have other places now. */
    restart() {
      if (query === '') return;
      current = -1;
      findAgain();
      tell();
    },
  };
}
