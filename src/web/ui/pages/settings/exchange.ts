import { html } from 'hono/html';
import type { z } from 'zod';
import type { exchangeSchema } from '../../../api/attempt-object.ts';
import type { Markup } from '../../layout.ts';

type Exchange = z.output<typeof exchangeSchema>;

/** What went over the wire. */
export function exchangeShown(
  { key, request, response, connection, timingsMs, resentAtOnce }: Exchange,
  statusCode: number | undefined,
): Markup {
  return html`<dl class="facts">
<dt>Signed with</dt><dd>${key === null ? 'no secret' : html`<code>${key}</code>`}</dd>
<dt>Connection</dt><dd>${connection === null ? 'none was made' : connectionWords(connection)}${resentAtOnce ? html`<p class="help">A kept connection broke before the answer; the request went out once more on another.</p>` : ''}</dd>
</dl>
${timingsShown(timingsMs)}
<h3>Request headers</h3>${headersShown(request.headers)}
<h3>Response${statusCode === undefined ? '' : `: ${statusCode}`}</h3>${response === null ? html`<p class="soft">There was none.</p>` : responseShown(response)}`;
}

function connectionWords({ address, port, reused, tls }: NonNullable<Exchange['connection']>): Markup {
  const host = address.includes(':') ? `[${address}]` : address;
  const certificate = tls?.validTo
    ? `, certificate until ${new Date(tls.validTo * 1000).toISOString().slice(0, 10)}`
    : '';
  return html`<code>${host}:${port}</code>, ${tls ? `${tls.protocol}${certificate}` : 'not encrypted'}${reused ? ', kept from an earlier attempt' : ''}`;
}

function timingsShown(timings: Exchange['timingsMs']): Markup {
  const steps = [
    ['Name', timings.dns],
    ['Connect', timings.connect],
    ['TLS', timings.tls],
    ['First byte', timings.firstByte],
    ['Whole', timings.total],
  ] as const;
  return html`<div class="scroll" tabindex="0"><table><caption class="hidden">How long each step took; first byte and whole count from the beginning</caption>
<thead><tr>${steps.map(([words]) => html`<th scope="col">${words}</th>`)}</tr></thead>
<tbody><tr>${steps.map(([, ms]) => html`<td>${ms === null ? '–' : `${ms} ms`}</td>`)}</tr></tbody></table></div>`;
}

function responseShown({
  headers,
  body,
  bodyEncoding,
  bodyTruncated,
  location,
}: NonNullable<Exchange['response']>): Markup {
  const notes = [
    ...(bodyEncoding === 'base64' ? ['It is no text, so it is shown as base64.'] : []),
    ...(bodyTruncated ? ['It was longer; the rest is not kept.'] : []),
  ];
  return html`${location === null ? '' : html`<p>It leads to <code>${location}</code>, and redirects are not followed.</p>`}
${headersShown(headers)}
${body === '' ? html`<p class="soft">Without a body.</p>` : html`<pre class="card" tabindex="0" aria-label="Body of the response">${body}</pre>`}
${notes.map((note) => html`<p class="help">${note}</p>`)}`;
}

const headersShown = (headers: Readonly<Record<string, string>>): Markup =>
  html`<pre class="card" tabindex="0" aria-label="Headers">${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}</pre>`;
