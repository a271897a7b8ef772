/** What was asked for, by the operation of the API. test/web/ui/audit.test.ts finds the ones that lack words. */
const words: Readonly<Record<string, string>> = {
  'POST /api/v1/stacks': 'Make a stack',
  'PATCH /api/v1/stacks/{account}/{stack}': 'Change settings of the stack',
  'DELETE /api/v1/stacks/{account}/{stack}': 'Delete the stack',
  'PUT /api/v1/stacks/{account}/{stack}/environment/{name}': 'Set a variable',
  'DELETE /api/v1/stacks/{account}/{stack}/environment/{name}': 'Remove a variable',
  'PUT /api/v1/stacks/{account}/{stack}/lock': 'Lock the stack',
  'DELETE /api/v1/stacks/{account}/{stack}/lock': 'Unlock the stack',
  'POST /api/v1/stacks/{account}/{stack}/runs': 'Start a run',
  'POST /api/v1/stacks/{account}/{stack}/webhooks': 'Add a webhook',
  'POST /api/v1/runs/{run}/confirm': 'Confirm the run',
  'POST /api/v1/runs/{run}/discard': 'Discard the run',
  'POST /api/v1/runs/{run}/cancel': 'Cancel the run',
  'POST /api/v1/runs/{run}/stop': 'Stop the run',
  'POST /api/v1/runs/{run}/prioritize': 'Put the run first',
  'POST /api/v1/runs/{run}/retry': 'Retry the run',
  'POST /api/v1/runs/{run}/approve': 'Approve the run',
  'POST /api/v1/runs/{run}/reject': 'Reject the run',
  'POST /api/v1/runs/{run}/mend': 'Mend the state',
  'POST /api/v1/runs/{run}/override': 'Let denied changes pass',
  'PUT /api/v1/runs/{run}/seen': 'Look at the plan',
  'POST /api/v1/policies': 'Make a policy',
  'POST /api/v1/policies/check': 'Check the source of a policy',
  'POST /api/v1/policies/{policy}/simulate': 'Try a policy out',
  'POST /api/v1/policies/{policy}/simulate-runs': 'Try a policy out on runs',
  'PUT /api/v1/policies/{policy}': 'Change a policy',
  'DELETE /api/v1/policies/{policy}': 'Delete a policy',
  'PUT /api/v1/stacks/{account}/{stack}/policies/{policy}': 'Attach a policy',
  'DELETE /api/v1/stacks/{account}/{stack}/policies/{policy}': 'Detach a policy',
  'PATCH /api/v1/webhooks/{webhook}': 'Change a webhook',
  'DELETE /api/v1/webhooks/{webhook}': 'Delete a webhook',
  'POST /api/v1/webhooks/{webhook}/secret/regenerate': 'Replace the secret of a webhook',
  'DELETE /api/v1/webhooks/{webhook}/secret/old': 'End the old secrets of a webhook',
  'POST /api/v1/webhooks/{webhook}/test': 'Test a webhook',
  'POST /api/v1/webhooks/{webhook}/replay': 'Send webhooks of a while again',
  'POST /api/v1/webhooks/{webhook}/replays/{replay}/cancel': 'Cancel sending webhooks again',
  'POST /api/v1/deliveries/{delivery}/resend': 'Send a webhook again',
  'POST /api/v1/inbox/{delivery}/replay': 'Handle a delivery of GitHub again',
  'POST /api/v1/tokens': 'Make a token',
  'DELETE /api/v1/tokens/{token}': 'Revoke a token',
  'DELETE /api/v1/sessions/{session}': 'Log out another browser',
  'POST /api/v1/modules': 'Make a module',
  login: 'Log in',
  logout: 'Log out',
  'logout everywhere': 'Log out everywhere',
  'comment misunderstood': 'Write a comment that is no command',
};

/** For people; an operation that nobody has found words for is as the log has it. */
export function operationWords(operation: string): string {
  const known = words[operation];
  if (known !== undefined) return known;
  const [, where, what] = /^(comment|check) (.+)$/.exec(operation) ?? [];
  if (what === undefined) return operation;
  return where === 'comment' ? `Comment: ${what}` : `Button on GitHub: ${what}`;
}

export const ways: Readonly<Record<string, string>> = {
  api: 'API',
  ui: 'web UI',
  cli: 'command line',
  comment: 'comment on GitHub',
  check: 'check on GitHub',
};
