import { z } from 'zod';
import type { CommandOutputs, VendorCommand } from '../../worker/vendor.ts';
import type { VendorFailure } from '../../worker/vendor-results.ts';
import { explainFailure } from './failure.ts';
import { nameOf } from './violation.ts';

/** Shows the state as it is kept, secrets encrypted. It takes no lock and changes nothing. */
export function exportState(): VendorCommand {
  return {
    label: 'pulumi stack export',
    argv: ['pulumi', 'stack', 'export'],
    environment: {},
    writesOutput: false,
    capturesStdout: true,
  };
}

const exported = z.looseObject({
  deployment: z.looseObject({
    pending_operations: z
      .array(z.looseObject({ type: z.string(), resource: z.looseObject({ urn: z.string() }) }))
      .nullish(),
  }),
});

/** For the run and for people: more than a handful are one accident. */
const maxOperations = 100;
const maxNames = 10;
const maxUrn = 1000;

/**
 * Operations that had begun when pulumi was killed. An update or a delete that was cut off is seen by the next refresh,
 * which every run does; of a creation nothing but the provider knows, and the next run would create it again.
 */
export async function readPending(
  outputs: CommandOutputs,
  tell: (line: string) => void,
): Promise<VendorFailure | null> {
  if (outputs.exitCode !== 0) return explainFailure(outputs, null);
  const operations = pendingIn(outputs.captured);
  if (operations === null) return unreadable;
  const creating = operations.filter(({ op }) => op === 'creating');
  const others = operations.length - creating.length;
  if (others > 0)
    tell(`cut off and not a creation: ${others}; the refresh of this run sees what became of it`);
  return creating.length === 0 ? null : halfCreated(creating);
}

interface Operation {
  readonly op: string;
  readonly urn: string;
}

function pendingIn(captured: Uint8Array | null): Operation[] | null {
  if (captured === null) return null;
  try {
    const { deployment } = exported.parse(JSON.parse(Buffer.from(captured).toString('utf8')));
    return (deployment.pending_operations ?? []).map(({ type, resource }) => ({
      op: type,
      urn: resource.urn.slice(0, maxUrn),
    }));
  } catch {
    return null;
  }
}

const unreadable: VendorFailure = {
  kind: 'unreadable',
  message:
    'Whether the apply that was cut off left something half done cannot be told: the exported state cannot be read.',
  hint: 'Look at what the task `pulumi stack export` prints, then retry the run.',
};

function halfCreated(creating: readonly Operation[]): VendorFailure {
  const names = creating.slice(0, maxNames).map(({ urn }) => `- ${nameOf(urn)}`);
  const rest = creating.length - names.length;
  return {
    kind: 'failed',
    message: [
      'An apply was cut off while it created resources. They may exist without the state knowing them; this run would create them again:',
      ...names,
      ...(rest > 0 ? [`- and ${rest} more`] : []),
    ].join('\n'),
    hint: 'See whether they exist: delete what does, or note its id. Then an administrator takes the pending creations out of the state, and the run can be retried.',
    trouble: { kind: 'pending-operations', operations: creating.slice(0, maxOperations) },
  };
}
