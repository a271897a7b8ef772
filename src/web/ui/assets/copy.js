// @ts-check
// Puts a button below each block that is worth copying; without it the text can be marked by hand.

for (const block of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button');
  const words = `Copy ${(block.getAttribute('aria-label') ?? 'text').toLowerCase()}`;
  button.type = 'button';
  button.className = 'copy';
  button.textContent = words;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(block.textContent ?? '');
      button.textContent = 'Copied';
    } catch {
      // Not over plain http: from another machine: mark it, and the keyboard does the rest.
      getSelection()?.selectAllChildren(block);
      button.textContent = 'Marked: press Ctrl+C';
    }
    setTimeout(() => {
      button.textContent = words;
    }, 2000);
  });
  block.after(button);
}
