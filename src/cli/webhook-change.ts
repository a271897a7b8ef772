import type { Command } from 'commander';
import { connect } from './api-client.ts';
import { webhookObject, webhookPath } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { usageFailure } from './failure.ts';
import { outputOf } from './output.ts';
import { stackArgument, stackPathOf } from './stack-name.ts';
import { hoursOf, type WebhookFlags, webhookBody, withWebhookFlags } from './webhook-settings.ts';
import { describedWebhook } from './webhook-text.ts';

interface AddFlags extends WebhookFlags {
  readonly generateSecret?: boolean;
  readonly disable?: boolean;
}

interface UpdateFlags extends WebhookFlags {
  readonly endpoint?: string;
  readonly overlapHours?: string;
  readonly allEvents?: boolean;
  readonly removeHeader?: readonly string[];
  readonly enable?: boolean;
  readonly disable?: boolean;
}

/** `slipway webhook add` and `slipway webhook update` */
export function addWebhookChangeCommands(webhook: Command, context: CliContext): void {
  withWebhookFlags(
    webhook
      .command('add')
      .description('send the state changes of the runs of a stack to an endpoint')
      .argument(...stackArgument)
      .argument('<endpoint>', 'http or https URL'),
  )
    .option('--generate-secret', 'a random secret, printed')
    .option('--disable', 'send nothing yet')
    .action(async (name: string, endpoint: string, flags: AddFlags, command: Command) => {
      const generates = flags.generateSecret === true;
      if (generates && flags.secret !== undefined)
        throw usageFailure('--generate-secret and --secret contradict each other');
      const output = outputOf(context, command);
      const given = await webhookBody(context, output, flags);
      await using client = await connect(context);
      const body = {
        endpoint,
        ...given,
        ...(generates && { generateSecret: true }),
        enabled: !flags.disable,
      };
      const made = await client.call('POST', `${await stackPathOf(client, name)}/webhooks`, body);
      const { id, secret } = webhookObject.parse(made);
      output.result(made, () =>
        [`Added webhook ${id}.`, ...(secret ? [`Its secret: ${secret}`] : [])].join('\n'),
      );
      if (!generates && flags.secret === undefined)
        output.next(`slipway webhook regenerate-secret ${id}, so that receivers can verify`);
    });

  withWebhookFlags(
    webhook.command('update').description('change what is given, leave the rest').argument('<webhook>'),
  )
    .option('--endpoint <url>')
    .option('--no-secret', 'sign with the empty string')
    .option(
      '--overlap-hours <hours>',
      'with --secret: the secret before it is still used for so long; default 0',
    )
    .option('--all-events', 'every state of every run; --state and --run-type replace what was there')
    .option('--remove-header <name>', 'repeatable', (value, before: readonly string[] = []) => [
      ...before,
      value,
    ])
    .option('--enable', 'send from now on, and forget what failed')
    .option('--disable', 'send nothing, and stop what is pending')
    .action(async (id: string, flags: UpdateFlags, command: Command) => {
      refuseContradictions(flags);
      const output = outputOf(context, command);
      const body = await changesOf(context, flags, command);
      if (Object.keys(body).length === 0)
        throw usageFailure('nothing to change', 'See `slipway webhook update --help`.');
      await using client = await connect(context);
      // Afterwards it counts as well, and nobody can say any more what it missed.
      const before = flags.enable ? webhookObject.parse(await client.call('GET', webhookPath(id))) : null;
      const changed = await client.call('PATCH', webhookPath(id), body);
      output.result(changed, () => describedWebhook(webhookObject.parse(changed)));
      if (before?.missed) output.note(`It missed ${before.missed} state changes.`);
    });

  async function changesOf(
    context: CliContext,
    flags: UpdateFlags,
    command: Command,
  ): Promise<Record<string, unknown>> {
    const { headers, ...given } = await webhookBody(context, outputOf(context, command), flags);
    const removed = Object.fromEntries((flags.removeHeader ?? []).map((name) => [name, null]));
    return {
      ...given,
      ...(headers || flags.removeHeader ? { headers: { ...removed, ...(headers ?? {}) } } : {}),
      ...(flags.endpoint === undefined ? {} : { endpoint: flags.endpoint }),
      ...(flags.overlapHours === undefined ? {} : { overlapHours: hoursOf(flags.overlapHours) }),
      ...(flags.allEvents ? { filter: null } : {}),
      ...(flags.enable ? { enabled: true } : {}),
      ...(flags.disable ? { enabled: false } : {}),
    };
  }
}

function refuseContradictions(flags: UpdateFlags): void {
  if (flags.enable && flags.disable) throw usageFailure('--enable and --disable contradict each other');
  if (flags.allEvents && (flags.state || flags.runType))
    throw usageFailure('--all-events contradicts --state and --run-type');
}
