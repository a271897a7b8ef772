import { z } from 'zod';
import { attemptObject, deliveryObject } from './api-objects.ts';
import { fields, oneLine, shortened, time } from './output.ts';

const phase = z.number().nullable();
const headers = z.record(z.string(), z.string());

const exchange = z.object({
  key: z.string().nullable(),
  request: z.object({ headers }),
  response: z.object({ headers, body: z.string(), bodyTruncated: z.boolean() }).nullable(),
  connection: z
    .object({
      address: z.string(),
      port: z.number(),
      reused: z.boolean(),
      tls: z.object({ protocol: z.string(), validTo: z.number().nullable() }).nullable(),
    })
    .nullable(),
  timingsMs: z.object({ dns: phase, connect: phase, tls: phase, firstByte: phase, total: z.number() }),
});

export const deliveryDetails = deliveryObject.extend({
  webhook: z.string(),
  attempts: z.array(
    attemptObject.extend({
      number: z.number(),
      at: z.number(),
      durationMs: z.number().optional(),
      explanation: z.object({ what: z.string(), advice: z.string() }).optional(),
      exchange: exchange.optional(),
    }),
  ),
});
type Details = z.infer<typeof deliveryDetails>;
type Attempt = Details['attempts'][number];

/** Of an answer's body; `--json` has it whole. */
const shownBody = 500;

/** The delivery, its attempts in a line each, and the last of them with all that is known. */
export function described(delivery: Details): string {
  const { nextAttemptAt, attempts } = delivery;
  const head = fields([
    ['delivery', delivery.id],
    ['webhook', delivery.webhook],
    ['run', `${delivery.run} (version ${delivery.stateVersion})`],
    ['policy', delivery.policy?.name],
    ['status', delivery.status],
    ['created', time(delivery.createdAt)],
    ['next attempt', nextAttemptAt === undefined ? undefined : time(nextAttemptAt)],
  ]);
  const last = attempts.at(-1);
  if (!last) return `${head}\n\nNo attempt yet, or none that is still kept.`;
  const { explanation } = last;
  return [
    head,
    attempts.map(line).join('\n'),
    ...(explanation
      ? [
          fields([
            ['what', explanation.what],
            ['to do', explanation.advice],
          ]),
        ]
      : []),
    ...(last.exchange ? [onTheWire(last.exchange)] : []),
  ].join('\n\n');
}

function line({ number, at, outcome, statusCode, error, detail, durationMs }: Attempt): string {
  const result = [statusCode ?? error, detail].filter((part) => part !== undefined).join(', ');
  const took = durationMs === undefined ? '' : ` after ${durationMs} ms`;
  return oneLine(`${time(at)}  attempt ${number} ${outcome}${took}${result === '' ? '' : `: ${result}`}`);
}

function onTheWire({ key, request, response, connection, timingsMs }: z.infer<typeof exchange>): string {
  const tls = connection?.tls;
  const facts = fields([
    ['address', connection ? `${connection.address} port ${connection.port}` : undefined],
    ['connection', connection?.reused ? 'kept from an attempt before' : undefined],
    [
      'tls',
      tls ? `${tls.protocol}${tls.validTo ? `, certificate until ${time(tls.validTo)}` : ''}` : undefined,
    ],
    ['times', phases(timingsMs)],
    ['signed with', key ?? 'no secret'],
  ]);
  const sent = ['sent', ...headerLines(request.headers)].join('\n');
  if (!response) return `${facts}\n\n${sent}`;
  const body = shortened(oneLine(response.body), shownBody);
  const received = ['received', ...headerLines(response.headers), ...(body === '' ? [] : ['', `  ${body}`])];
  return [facts, sent, received.join('\n')].join('\n\n');
}

const headerLines = (all: Readonly<Record<string, string>>): string[] =>
  Object.entries(all).map(([name, value]) => `  ${oneLine(`${name}: ${value}`)}`);

function phases(timings: z.infer<typeof exchange>['timingsMs']): string {
  const named = [
    ['name', timings.dns],
    ['connection', timings.connect],
    ['TLS', timings.tls],
    ['first byte', timings.firstByte],
    ['all', timings.total],
  ] as const;
  return named.flatMap(([name, ms]) => (ms === null ? [] : [`${name} ${ms} ms`])).join(', ');
}
