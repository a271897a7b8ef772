// Receives Slipway's webhooks, with nothing but Node:
//
//   WEBHOOK_SECRET=... PORT=8080 node receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.WEBHOOK_SECRET ?? '';
const maxBodyBytes = 1_000_000;
const toleranceSeconds = 300;

// A real receiver keeps both in its database: here a restart forgets them, and they only grow.
const handled = new Set(); // ids of deliveries
const latest = new Map(); // id of a run -> its highest stateVersion so far

/** Your work. Put what takes long into a queue: the sender waits 15 seconds for an answer. */
function handle(payload) {
  console.log(`news ${payload.run.id} ${payload.stateVersion} ${payload.state}`);
}

/**
 * webhook-signature covers the id and the time beside the body, so an old request cannot be sent again.
 * `body` is the bytes as they came: JSON that was parsed and written again is rarely the same.
 */
function isGenuine(headers, body) {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '' } = headers;
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) return false;
  const digest = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const expected = Buffer.from(`v1,${digest}`);
  // While the secret is being changed there are two, one of each secret.
  return (headers['webhook-signature'] ?? '').split(' ').some((signature) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function receive(id, payload) {
  const { stateVersion, run } = payload;
  if (handled.has(id)) {
    console.log(`duplicate ${run.id} ${stateVersion}`);
  } else if (stateVersion <= (latest.get(run.id) ?? 0)) {
    console.log(`outdated ${run.id} ${stateVersion}`);
  } else {
    handle(payload);
    latest.set(run.id, stateVersion);
  }
  // Not before the work is done: if that throws, the next attempt must not be taken for a duplicate.
  handled.add(id);
}

async function statusFor(request) {
  if (request.method !== 'POST') return 405;
  const length = Number(request.headers['content-length']);
  if (Number.isNaN(length)) return 411;
  if (length > maxBodyBytes) return 413;

  const body = Buffer.concat(await request.toArray());
  if (!isGenuine(request.headers, body)) {
    console.log('refused');
    return 401;
  }
  // The id is also in X-Slipway-Delivery, but signed only here.
  receive(request.headers['webhook-id'], JSON.parse(body));
  return 204;
}

if (secret === '') throw new Error('WEBHOOK_SECRET is empty: anybody could write what this would believe');

const server = createServer(async (request, response) => {
  const status = await statusFor(request).catch((error) => {
    console.error(error);
    return 500;
  });
  // After an answer to a body that was not read, the connection is of no more use.
  if (!request.complete) response.setHeader('connection', 'close');
  response.writeHead(status).end();
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
