import type { Command } from 'commander';
import { connect } from './api-client.ts';
import { webhookObject, webhookPath } from './api-objects.ts';
import type { CliContext } from './context.ts';
import { outputOf } from './output.ts';
import { secretInput } from './secret-input.ts';
import { hoursOf, secretOption } from './webhook-settings.ts';

interface RegenerateFlags {
  readonly secret?: string;
  readonly overlapHours: string;
}

/** `slipway webhook regenerate-secret` and `slipway webhook end-overlap` */
export function addWebhookSecretCommands(webhook: Command, context: CliContext): void {
  webhook
    .command('regenerate-secret')
    .description('a new secret, random unless given; receivers have some time to follow')
    .argument('<webhook>')
    .option(...secretOption)
    .option(
      '--overlap-hours <hours>',
      'the old one is still used for so long, 168 at most; with 0 it ends at once',
      '24',
    )
    .action(async (id: string, flags: RegenerateFlags, command: Command) => {
      const output = outputOf(context, command);
      const body = {
        overlapHours: hoursOf(flags.overlapHours),
        ...(flags.secret === undefined
          ? {}
          : { secret: await secretInput(context, output, flags.secret, 'the secret') }),
      };
      await using client = await connect(context);
      const answer = await client.call('POST', `${webhookPath(id)}/secret/regenerate`, body);
      output.result(answer, () => webhookObject.pick({ secret: true }).parse(answer).secret ?? '');
      if (body.overlapHours > 0)
        output.next(`slipway webhook end-overlap ${id}, once every receiver has the new secret`);
    });

  webhook
    .command('end-overlap')
    .description('stop using replaced secrets now')
    .argument('<webhook>')
    .action(async (id: string, _options: unknown, command: Command) => {
      await using client = await connect(context);
      await client.call('DELETE', `${webhookPath(id)}/secret/old`);
      outputOf(context, command).result({ ended: true }, () => `Webhook ${id} uses its newest secret only.`);
    });
}
