// @ts-check
/**
 * Puts an element in the place of another without taking anything out of the reader's hand: what was typed, what was
 * opened, where the focus was.
 *
 * @param {Element} old
 * @param {HTMLElement} fresh
 */
export function replaceKeeping(old, fresh) {
  const typed = typedIn(old);
  const opened = new Set([...old.querySelectorAll('details[open]')].map(nameOf));
  const closed = new Set([...old.querySelectorAll('details:not([open])')].map(nameOf));
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const focus = focused && { name: nameOf(focused), selection: selectionOf(focused) };

  old.replaceWith(fresh);

  for (const field of fieldsOf(fresh)) {
    const value = typed.get(nameOf(field));
    if (value !== undefined) field.value = value;
  }
  for (const details of fresh.querySelectorAll('details')) {
    if (opened.has(nameOf(details))) details.open = true;
    if (closed.has(nameOf(details))) details.open = false;
  }
  if (focus) focusAgain(fresh, focus);
  fresh.dispatchEvent(new CustomEvent('live:replaced', { bubbles: true }));
}

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Field */

/** @param {Element} within @returns {Field[]} */
const fieldsOf = (within) => [
  .../** @type {NodeListOf<Field>} */ (within.querySelectorAll('input:not([type=hidden]), textarea, select')),
];

/** What differs from what the page came with. @param {Element} within */
function typedIn(within) {
  const changed = fieldsOf(within).filter((field) =>
    field instanceof HTMLSelectElement
      ? [...field.options].some((option) => option.selected !== option.defaultSelected)
      : field.value !== field.defaultValue,
  );
  return new Map(changed.map((field) => [nameOf(field), field.value]));
}

/** The same for an element and its successor: its id, or what it is in which form. @param {Element} element */
function nameOf(element) {
  if (element.id !== '') return `#${element.id}`;
  const form = element.closest('form')?.getAttribute('action') ?? '';
  const isDetails = element instanceof HTMLDetailsElement;
  // The name of <details> is that of a group, of which one is open at a time.
  const own = (isDetails ? null : element.getAttribute('name')) ?? element.getAttribute('href') ?? '';
  const words = isDetails ? element.querySelector('summary') : element;
  return [element.localName, form, own, own === '' ? words?.textContent?.trim() : ''].join('\n');
}

/** @param {Element} element */
function selectionOf(element) {
  const isText = element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement;
  return isText && element.selectionStart !== null ? [element.selectionStart, element.selectionEnd] : null;
}

/** @param {HTMLElement} fresh @param {{ name: string, selection: (number | null)[] | null }} focus */
function focusAgain(fresh, { name, selection }) {
  const candidates = /** @type {NodeListOf<HTMLElement>} */ (
    fresh.querySelectorAll('a, button, input, select, textarea, summary, [tabindex]')
  );
  const successor = [...candidates].find((each) => nameOf(each) === name);
  if (!successor) {
    // It is gone; the keyboard stays where it was in the page.
    fresh.tabIndex = -1;
    fresh.focus({ preventScroll: true });
    return;
  }
  successor.focus({ preventScroll: true });
  if (!selection) return;
  if (successor instanceof HTMLTextAreaElement || successor instanceof HTMLInputElement) {
    successor.setSelectionRange(selection[0] ?? null, selection[1] ?? null);
  }
}
