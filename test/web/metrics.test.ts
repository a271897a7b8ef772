import { describe, expect, it } from 'vitest';
import { parsePrometheusText } from '../support/prometheus-text.ts';
import { anInstallation, call } from './installation.ts';

describe('the metrics', () => {
  it('count answers by class, errors included', async () => {
    await using installation = anInstallation({ health: () => Promise.reject(new Error('broken')) });
    const token = await installation.token('admin');
    for (const path of ['/healthz', '/metrics', '/nowhere', '/readyz']) await call(installation, 'GET', path);

    const { text } = await call(installation, 'GET', '/metrics', { token });

    const counted = parsePrometheusText(text).get('slipway_http_responses_total')?.samples.values();
    expect([...(counted ?? [])]).toEqual([0, 1, 0, 2, 1]);
  });

  it('are what Prometheus reads, and say what there is', async () => {
    await using installation = anInstallation();
    const stack = await installation.addStack();
    await installation.webhooks.create(stack.key, {
      endpoint: 'https://receiver.example/secret-path?token=s3cret',
    });
    const run = await installation.addRun(stack);
    const measured = { durationMs: 12, lagMs: 3, endToEndMs: 15, isExhausted: false };
    installation.metrics.webhooks.attemptEnded({ outcome: 'delivered', ...measured });

    const token = await installation.token('reader');
    const { status, headers, text } = await call(installation, 'GET', '/metrics', { token });

    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    const families = parsePrometheusText(text);
    const values = new Map([...families.values()].flatMap(({ samples }) => [...samples]));
    expect(values.get('slipway_runs{state="READY"}')).toBe(1);
    expect(values.get('slipway_runs{state="APPLYING"}')).toBe(0);
    expect(values.get('slipway_webhooks{state="enabled"}')).toBe(1);
    expect(values.get('slipway_webhook_deliveries_due')).toBe(2);
    expect(values.get('slipway_webhook_oldest_due_seconds')).toBeGreaterThan(0);
    expect(values.get('slipway_webhook_attempts_total{outcome="delivered"}')).toBe(1);
    expect(values.get('slipway_build_info{version="0.1.0"}')).toBe(1);
    // Nothing that names somebody, or grows with what there is.
    for (const name of ['://', 'receiver', 's3cret', run.id, stack.key, stack.id, 'acme']) {
      expect(text.toLowerCase()).not.toContain(name.toLowerCase());
    }
  });

  it.each([
    ['without a token', undefined, 401],
    ['with a wrong one', 'slipway_nobody-has-this', 401],
  ])('are nobody’s business %s', async (_what, token, status) => {
    await using installation = anInstallation();
    const answer = await call(installation, 'GET', '/metrics', token === undefined ? {} : { token });

    expect(answer.body).toMatchObject({ status, code: 'unauthenticated' });
    expect(answer.text).not.toContain('slipway_');
  });

  it('are not for a token of one account, which is told what to use', async () => {
    await using installation = anInstallation();
    const token = await installation.token('admin', 'acme');

    const answer = await call(installation, 'GET', '/metrics', { token });

    expect(answer.body).toMatchObject({
      status: 403,
      code: 'forbidden',
      hint: expect.stringContaining('token create'),
    });
  });

  it('are for everybody when the operator says so', async () => {
    await using installation = anInstallation({
      metrics: { text: async () => 'x 1\n', responded: () => undefined, isAnonymous: true },
    });

    const anonymous = await call(installation, 'GET', '/metrics');
    const withWrongToken = await call(installation, 'GET', '/metrics', { token: 'slipway_nobody-has-this' });

    expect([anonymous.status, anonymous.text]).toEqual([200, 'x 1\n']);
    expect(withWrongToken.status).toBe(200);
  });
});
