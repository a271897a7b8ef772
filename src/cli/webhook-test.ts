import type { Command } from 'commander';
import { z } from 'zod';
import { connect } from './api-client.ts';
import { webhookPath } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { CliFailure } from './failure.ts';
import { fields, outputOf, time } from './output.ts';

const phase = z.number().nullable();
const testObject = z.object({
  ok: z.boolean(),
  outcome: z.string(),
  statusCode: z.number().optional(),
  error: z.string().optional(),
  detail: z.string().optional(),
  explanation: z.object({ what: z.string(), advice: z.string() }).optional(),
  phases: z.object({ dnsMs: phase, connectMs: phase, tlsMs: phase, firstByteMs: phase, totalMs: z.number() }),
  certificate: z
    .object({ expiresAt: z.number(), daysLeft: z.number(), warning: z.string().optional() })
    .optional(),
  exchange: z
    .object({ connection: z.object({ address: z.string(), port: z.number() }).nullable() })
    .optional(),
});
type Test = z.infer<typeof testObject>;

/** `slipway webhook test` */
export function addWebhookTestCommand(webhook: Command, context: CliContext): void {
  webhook
    .command('test')
    .description('send one request marked as a test, now, and show how far it comes')
    .argument('<webhook>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      const output = outputOf(context, command);
      const answer = await client.call('POST', `${webhookPath(id)}/test`);
      const test = testObject.parse(answer);
      output.result(answer, () => shown(test));
      if (!test.ok) throw new CliFailure(exitCodes.failed, '');
      output.next(`slipway webhook deliveries ${id}`);
    });
}

function shown({ phases, exchange, certificate, explanation, ...result }: Test): string {
  const connection = exchange?.connection;
  const answered = [result.statusCode?.toString() ?? result.error ?? result.outcome, result.detail];
  return fields([
    ['DNS', took(phases.dnsMs)],
    ['TCP', took(phases.connectMs, connection ? `${connection.address} port ${connection.port}` : '')],
    ['TLS', took(phases.tlsMs, certificate ? `certificate until ${time(certificate.expiresAt)}` : '')],
    ['answer', took(phases.firstByteMs)],
    ['result', answered.filter((part) => part !== undefined).join(', ')],
    ['all', took(phases.totalMs)],
    ['warning', certificate?.warning],
    ['what', explanation?.what],
    ['to do', explanation?.advice],
  ]);
}

function took(ms: number | null, more = ''): string | undefined {
  if (ms === null) return undefined;
  return more === '' ? `${ms} ms` : `${ms} ms, ${more}`;
}
