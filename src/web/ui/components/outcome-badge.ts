import { html } from 'hono/html';
import type { Markup } from '../layout.ts';

/** How the outcome of a policy looks. Never by colour alone. */
const looks: Readonly<Record<string, { readonly look: string; readonly icon: string }>> = {
  ...all(['passed', 'approved', 'allowed', 'admin', 'tracked', 'proposed'], { look: 'good', icon: '✓' }),
  ...all(['triggered', 'notified'], { look: 'good', icon: '▸' }),
  ...all(['warned'], { look: 'person', icon: '!' }),
  ...all(['denied', 'rejected', 'failed'], { look: 'bad', icon: '✗' }),
};
const quiet = { look: 'waiting', icon: '·' };

function all<T>(outcomes: readonly string[], look: T): Record<string, T> {
  return Object.fromEntries(outcomes.map((outcome) => [outcome, look]));
}

/** `failed` means that nothing was judged: said so, as it is not what the policy decided. */
export function outcomeBadge(outcome: string): Markup {
  const { look, icon } = looks[outcome] ?? quiet;
  const words = outcome === 'failed' ? 'could not be judged' : outcome;
  return html`<span class="badge ${look}" data-icon="${icon}">${words}</span>`;
}
