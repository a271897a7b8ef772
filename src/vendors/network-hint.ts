/** What people can do about something that a run did not reach. */
export const networkHint =
  'Runs reach only what SANDBOX_NETWORK and SANDBOX_ALLOWED_HOSTS let through; ask the operator of this server.';
