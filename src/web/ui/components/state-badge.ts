import { html } from 'hono/html';
import { isTerminal, type RunState } from '../../../runs/run.ts';
import type { Markup } from '../layout.ts';

/** How a state looks: what it waits for, or how it ended. Never by colour alone. */
type Look = 'waiting' | 'working' | 'person' | 'good' | 'bad' | 'ended';

const icons: Record<Look, string> = {
  waiting: '·',
  working: '▸',
  person: '?',
  good: '✓',
  bad: '✗',
  ended: '–',
};

function lookOf(state: RunState | 'NONE'): Look {
  switch (state) {
    case 'UNCONFIRMED':
    case 'PENDING_REVIEW':
      return 'person';
    case 'FINISHED':
      return 'good';
    case 'FAILED':
      return 'bad';
    case 'NONE':
    case 'QUEUED':
    case 'READY':
    case 'CONFIRMED':
      return 'waiting';
    default:
      return isTerminal(state) ? 'ended' : 'working';
  }
}

export function stateBadge(state: RunState | 'NONE'): Markup {
  const look = lookOf(state);
  const words = state === 'NONE' ? 'never ran' : state;
  return html`<span class="badge ${look}" data-icon="${icons[look]}">${words}</span>`;
}
