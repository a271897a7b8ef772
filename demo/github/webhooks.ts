/**
 * Sends the App's webhooks as GitHub does: signed, once, no retry, ten seconds for an answer, and kept for
 * redelivery with the same GUID and the same bytes.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import type { GithubState } from './state.ts';

export interface WebhookTarget {
  url: string;
  /** Empty: nothing is signed. */
  secret: string;
  /** json when absent. */
  contentType?: 'json' | 'form';
  /** Whether certificates go unchecked. */
  insecureSsl?: boolean;
}

export interface Delivery {
  /** The X-GitHub-Delivery GUID; the same for every redelivery. */
  guid: string;
  event: string;
  action: string | null;
  installationId: number | null;
  repositoryId: number | null;
  body: string;
  payload: Record<string, unknown>;
  /** One for each time it was sent; a redelivery adds one. */
  answers: DeliveryAnswer[];
}

export interface DeliveryAnswer {
  /** Of this sending, in the API's list of deliveries. */
  id: number;
  /** 0: no answer (nobody listens, timed out, or no webhook was set). */
  status: number;
  body: string;
  redelivery: boolean;
  atMs: number;
  durationMs: number;
}

export interface SentDelivery {
  deliveryId: string;
  status: number;
}

export interface OutgoingEvent {
  event: string;
  payload: Record<string, unknown>;
  installationId?: number;
  repositoryId?: number;
}

const answerTimeoutMs = 10_000;

export class Webhooks implements AsyncDisposable {
  readonly deliveries: Delivery[] = [];
  target: WebhookTarget | null;
  readonly #state: GithubState;
  readonly #agent = new Agent();
  readonly #background = new Set<Promise<unknown>>();

  constructor(state: GithubState, target: WebhookTarget | null) {
    this.#state = state;
    this.target = target;
  }

  /** Sends and waits for the answer. */
  send(outgoing: OutgoingEvent): Promise<SentDelivery> {
    const action = outgoing.payload['action'];
    const delivery: Delivery = {
      guid: randomUUID(),
      event: outgoing.event,
      action: typeof action === 'string' ? action : null,
      installationId: outgoing.installationId ?? null,
      repositoryId: outgoing.repositoryId ?? null,
      body: JSON.stringify(outgoing.payload),
      payload: outgoing.payload,
      answers: [],
    };
    this.deliveries.push(delivery);
    return this.#attempt(delivery, false);
  }

  /** Where the App is not installed, or did not subscribe, GitHub tells it nothing: no delivery, status 0. */
  async sendIfAny(outgoing: OutgoingEvent | null): Promise<SentDelivery> {
    return outgoing ? this.send(outgoing) : { deliveryId: '', status: 0 };
  }

  /** For events that follow from an API request: GitHub answers the request without waiting for them. */
  sendLater(outgoing: OutgoingEvent): void {
    this.#track(this.send(outgoing));
  }

  redeliver(guid: string): Promise<SentDelivery> {
    const delivery = this.deliveries.find((each) => each.guid === guid);
    if (!delivery) throw new Error(`no delivery ${guid} was ever sent`);
    return this.#attempt(delivery, true);
  }

  redeliverLater(guid: string): void {
    this.#track(this.redeliver(guid));
  }

  /** Resolves when nothing sent in the background is without an answer. */
  async settled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  #track(sending: Promise<unknown>): void {
    this.#background.add(sending);
    void sending.finally(() => this.#background.delete(sending));
  }

  async #attempt(delivery: Delivery, redelivery: boolean): Promise<SentDelivery> {
    const atMs = this.#state.nowMs();
    const started = performance.now();
    const answer = this.target ? await this.#post(this.target, delivery) : { status: 0, body: '' };
    const durationMs = Math.round(performance.now() - started);
    delivery.answers.push({ id: this.#state.nextId(), ...answer, redelivery, atMs, durationMs });
    return { deliveryId: delivery.guid, status: answer.status };
  }

  async #post(target: WebhookTarget, delivery: Delivery): Promise<{ status: number; body: string }> {
    const isForm = target.contentType === 'form';
    const body = isForm ? new URLSearchParams({ payload: delivery.body }).toString() : delivery.body;
    try {
      const response = await request(target.url, {
        method: 'POST',
        dispatcher: this.#agent,
        headers: deliveryHeaders(this.#state, delivery, target, body),
        body,
        signal: AbortSignal.timeout(answerTimeoutMs),
      });
      return { status: response.statusCode, body: await response.body.text() };
    } catch (error) {
      return { status: 0, body: error instanceof Error ? error.message : String(error) };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
    await this.settled();
  }
}

function deliveryHeaders(
  state: GithubState,
  delivery: Delivery,
  { secret, contentType }: WebhookTarget,
  body: string,
): Record<string, string> {
  const hmac = (algorithm: string): string => createHmac(algorithm, secret).update(body).digest('hex');
  return {
    accept: '*/*',
    'content-type': contentType === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
    'user-agent': 'GitHub-Hookshot/5l1pway',
    'x-github-delivery': delivery.guid,
    'x-github-event': delivery.event,
    'x-github-hook-id': String(hookId),
    'x-github-hook-installation-target-id': String(state.app.id),
    'x-github-hook-installation-target-type': 'integration',
    ...(secret === ''
      ? {}
      : {
          'x-hub-signature': `sha1=${hmac('sha1')}`,
          'x-hub-signature-256': `sha256=${hmac('sha256')}`,
        }),
  };
}

/** An App has one hook. */
const hookId = 390_001;
