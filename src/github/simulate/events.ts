/** Events of GitHub that start something by themselves. */
export const simulatedEvents = ['push', 'pull_request', 'issue_comment', 'merge_group'] as const;
export type SimulatedEvent = (typeof simulatedEvents)[number];
