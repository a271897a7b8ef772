// @ts-check
// Filters the changes that are on the page while somebody types. Without it, the form asks the server.

/** @param {HTMLInputElement} input */
function filter(input) {
  const tree = document.querySelector('.tree');
  if (!tree) return;
  const wanted = input.value.trim().toLowerCase();
  /** What stands above a change that is shown: the nearest of each depth. */
  let quiet = /** @type {HTMLElement[]} */ ([]);
  let [shown, total] = [0, 0];
  for (const row of /** @type {Iterable<HTMLElement>} */ (tree.children)) {
    const depth = Number(/\bd(\d)\b/.exec(row.className)?.[1]);
    quiet = quiet.slice(0, depth);
    if (row.classList.contains('quiet')) {
      row.hidden = true;
      quiet[depth] = row;
      continue;
    }
    total += 1;
    const text = ['summary', '.urn', '.row'].map((part) => row.querySelector(part)?.textContent ?? '');
    row.hidden = !text.join(' ').toLowerCase().includes(wanted);
    if (row.hidden) continue;
    shown += 1;
    for (const above of quiet) if (above) above.hidden = false;
  }
  const output = input.form?.querySelector('output');
  if (output) output.textContent = wanted === '' ? '' : `${shown} of ${total} changes`;
}

// On the document: the page may be changed in place. Only where all that the server found is on the page, and it
// was not asked for a text: what it left out cannot be found here.
document.addEventListener('input', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.id !== 'plan-text') return;
  if ('whole' in target.dataset && target.defaultValue === '') filter(target);
});
