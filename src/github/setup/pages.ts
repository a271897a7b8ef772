import { html, raw } from 'hono/html';
import type { UserError } from '../../user-error.ts';

type Markup = ReturnType<typeof html>;

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: #1b1f24; background: #fff; }
h1 { font-size: 1.5rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid #d8dee4; }
button { font: inherit; padding: .5rem 1rem; border: 0; border-radius: 6px; color: #fff; background: #1f6f43; cursor: pointer; }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117; } th, td { border-color: #30363d; } a { color: #6cb6ff; } }
`;

/** Everything that a page holds is escaped by the template. `nonce` lets its own style in, and nothing else. */
function page(nonce: string, title: string, content: Markup | Promise<Markup>) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Slipway</title>
<style nonce="${nonce}">${raw(style)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>`;
}

export interface BeginPage {
  readonly registrationUrl: string;
  readonly manifest: string;
  readonly facts: readonly (readonly [string, string])[];
}

/** Sends the manifest to GitHub by the browser of whoever presses the button. */
export function beginPage(nonce: string, { registrationUrl, manifest, facts }: BeginPage) {
  return page(
    nonce,
    'Register the GitHub App',
    html`<p>GitHub asks you to confirm, then sends you back here. The name can be changed there.</p>
<table>${facts.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</table>
<form method="post" action="${registrationUrl}">
<input type="hidden" name="manifest" value="${manifest}">
<button type="submit">Go on to GitHub</button>
</form>`,
  );
}

export interface DonePage {
  readonly name: string;
  readonly installUrl: string;
  readonly files: readonly string[];
}

export function donePage(nonce: string, { name, installUrl, files }: DonePage) {
  return page(
    nonce,
    'The App is registered',
    html`<p>${name} is registered, and its credentials are in ${files.join(' and ')}. This page is no longer served.</p>
<p><a href="${installUrl}" rel="noreferrer">Install it on your repositories</a>, then start the server with <code>npm start</code>.
<code>npx slipway doctor --github</code> says whether anything is missing.</p>`,
  );
}

/** `againPath`: where the same step is tried again; null when there is only a new beginning, at `beginPath`. */
export function troublePage(nonce: string, error: UserError, againPath: string | null, beginPath: string) {
  return page(
    nonce,
    'That did not work',
    html`<p>${error.message} ${error.hint ?? ''}</p>
${
  againPath === null
    ? html`<p><a href="${beginPath}">Begin again</a></p>`
    : html`<form method="post" action="${againPath}"><button type="submit">Try again</button></form>`
}`,
  );
}

export function plainPage(nonce: string, title: string, text: string) {
  return page(nonce, title, html`<p>${text}</p>`);
}
