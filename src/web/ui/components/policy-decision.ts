import { html } from 'hono/html';
import type { z } from 'zod';
import type { decisionSchema, simulationSchema } from '../../api/policy-object.ts';
import type { Markup } from '../layout.ts';
import { outcomeBadge } from './outcome-badge.ts';
import { timeAgo } from './time.ts';
import { visibleText } from './visible-text.ts';

export type Decision = z.output<typeof decisionSchema>;
type Said = Pick<z.output<typeof simulationSchema>, 'messages' | 'failure'>;

const longestMessage = 4000;

/** What one policy said of one thing. `about`: what of it the page does not say already. */
export function policyDecision(decision: Decision, about: Markup, nowMs: number): Markup {
  const { outcome, policy, subject, engine, durationMs, at } = decision;
  return html`<li><div class="head">${outcomeBadge(outcome)}<span class="name">${about}</span></div>
${whatItSaid(decision)}
<p class="small soft">${policy.kind}, version ${policy.version}, on <bdi>${subject}</bdi>, in ${seconds(durationMs)} by ${engine}, ${timeAgo(at, nowMs)}</p></li>`;
}

/** Its messages, or why it could not be judged. */
export function whatItSaid({ messages, failure }: Said): Markup | string {
  if (failure !== undefined) {
    const { code, message, line, column } = failure;
    const place =
      line === undefined ? '' : `line ${line}${column === undefined ? '' : `, column ${column}`}: `;
    return html`<p class="note">${place}${visibleText(message, longestMessage)} <span class="small soft mono">${code}</span></p>`;
  }
  if (messages.length === 0) return '';
  return html`<ul class="messages">${messages.map((message) => html`<li>${visibleText(message, longestMessage)}</li>`)}</ul>`;
}

/** "0.04 s" */
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
