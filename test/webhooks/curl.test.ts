import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { verify } from '@octokit/webhooks-methods';
import { describe, expect, it } from 'vitest';
import { curlCommand } from '../../src/webhooks/curl.ts';
import { fc } from '../support/fast-check.ts';
import { startOutgoing } from './outgoing.ts';
import { eventually, startReceiver } from './receiver.ts';

/** What a command prints in a shell; not synchronous, because the receiver is in this process. */
async function shell(name: 'sh' | 'bash', command: string): Promise<Buffer> {
  const child = spawn(name, [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => void chunks.push(chunk));
  child.stdin.end(command);
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  return Buffer.concat(chunks);
}

const nasty = `it's "$(exit 9)" \`id\` \\ \n %s ! é \u2028 😀`;

describe('the curl command of an attempt', () => {
  it.each(['sh', 'bash'] as const)('sends the same bytes and headers again in %s', async (name) => {
    await using receiver = await startReceiver();
    await using app = await startOutgoing();
    const made = { endpoint: `${receiver.url}?a='b'&c=$HOME`, secret: 'correct horse' };
    const { id } = await app.webhooks.create(app.stackKey, made);
    await (await app.startRun()).change(1);
    const [delivery] = await eventually(
      () => app.deliveriesOf(id),
      ([one]) => one?.status === 'delivered',
    );
    const whole = await app.deliveries.find(delivery?.id ?? '');
    const command = whole && (await app.deliveries.curl(whole, null));

    const printed = await shell(name, command ?? '');

    const [first, again] = receiver.received;
    expect(printed.toString()).toContain('HTTP/1.1 204');
    expect(again?.body).toEqual(first?.body);
    expect(again?.path).toBe(first?.path);
    const ofTransport = ['connection'];
    const headersOf = (one: typeof first) =>
      Object.fromEntries(Object.entries(one?.headers ?? {}).filter(([key]) => !ofTransport.includes(key)));
    expect(headersOf(again)).toEqual(headersOf(first));
    const signature = again?.headers['x-signature-256'] ?? '';
    expect(await verify('correct horse', again?.body.toString('utf8') ?? '', signature)).toBe(true);
  });

  it('carries bodies that are longer than an argument may be, and whatever is in them', async () => {
    await using receiver = await startReceiver();
    const body = Buffer.from(nasty.repeat(6000));
    const headers = { 'content-type': 'application/json', 'x-odd': `it's $HOME`, 'x-empty': '' };

    await shell('sh', curlCommand({ url: receiver.url, headers, body }));

    expect(body.length).toBeGreaterThan(200_000);
    expect(receiver.received[0]?.body.equals(body)).toBe(true);
    expect(receiver.received[0]?.headers).toMatchObject({ 'x-odd': `it's $HOME`, 'x-empty': '' });
  });

  it('says which values it does not know', () => {
    const command = curlCommand({
      url: 'https://receiver.example/',
      headers: { 'x-token': '***', 'x-other': 'value' },
      body: Buffer.from('{}'),
    });

    expect(command.split('\n')[0]).toBe('# The value of x-token is not kept: put it in the place of ***.');
    expect(command).not.toContain('x-other is not kept');
  });

  it('is one word for each value, whatever the value', async () => {
    // No carriage return and no NUL: HTTP and JSON have none.
    const text = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((value) => !/[\0\r]/.test(value));
    const samples = fc.sample(text, 60).map((value) => value.toWellFormed());
    for (const sample of [nasty, ...samples]) {
      const command = curlCommand({ url: sample, headers: {}, body: Buffer.from(sample) });
      const printed = await shell(
        'sh',
        `curl() { cat; for last; do :; done; printf '%s' "$last"; }\n${command}`,
      );
      expect(printed.toString()).toBe(sample + sample);
    }
  });
});
