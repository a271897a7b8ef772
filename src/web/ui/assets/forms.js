// @ts-check
/**
 * Forms that change something are sent once, however often the button is pressed; and Escape, or a click beside it,
 * closes a panel that lies over the page. What was typed in it stays.
 */

/** For how long a second press is taken for a slip: the answer is there by then, or somebody stopped it. */
const slipMs = 5000;

/** @type {WeakMap<EventTarget, number>} */
const sentAt = new WeakMap();

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.method !== 'post' || event.defaultPrevented) return;
  const now = performance.now();
  if (now - (sentAt.get(form) ?? Number.NEGATIVE_INFINITY) < slipMs) event.preventDefault();
  else sentAt.set(form, now);
});

const openPanel = () => /** @type {HTMLDetailsElement | null} */ (document.querySelector('.act[open]'));

document.addEventListener('keydown', (event) => {
  const panel = openPanel();
  if (event.key !== 'Escape' || !panel) return;
  // The focus must not be lost in what is hidden now.
  if (panel.contains(document.activeElement)) panel.querySelector('summary')?.focus();
  panel.open = false;
});

document.addEventListener('click', ({ target }) => {
  const panel = openPanel();
  if (panel && target instanceof Node && !panel.contains(target)) panel.open = false;
});
