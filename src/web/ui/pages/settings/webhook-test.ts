import { html } from 'hono/html';
import { testSchema } from '../../../api/webhook-test.ts';
import type { Markup } from '../../layout.ts';
import type { Form, FormResult } from '../../page-routes.ts';
import { exchangeShown } from './exchange.ts';
import { webhookApiPath, webhookFacts, webhookFrame } from './webhook-frame.ts';

/** One request at once, and what came of it. */
export async function testWebhook(form: Form): Promise<FormResult> {
  const facts = await webhookFacts(form);
  const result = testSchema.parse(await form.api.send('POST', `${webhookApiPath(form)}/test`));
  const { ok, outcome, statusCode, error, detail, explanation, certificate, exchange } = result;
  const failed = [outcome, statusCode, error, detail].filter((part) => part !== undefined).join(', ');
  const body = html`<div class="notice ${ok ? 'good' : 'bad'}"><p>${ok ? `The receiver took it: ${statusCode}.` : `The receiver did not take it: ${failed}.`}</p>
${explanation === undefined ? '' : html`<p>${explanation.what} ${explanation.advice}</p>`}</div>
${certificate?.warning === undefined ? '' : warning(certificate.warning)}
<p>It was marked as a test, by a header. It is no delivery: nothing of it is kept or tried again.</p>
${exchange ? exchangeShown(exchange, statusCode) : ''}
<p><a class="button" href="${facts.path}">Back to the webhook</a></p>`;
  return { page: webhookFrame(facts, { title: 'Test', body }), status: 200 };
}

const warning = (text: string): Markup => html`<div class="notice person"><p>${text}</p></div>`;
