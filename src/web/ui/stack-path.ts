/** Of the page of a stack; below /api/v1, of the stack itself. */
export const stackPath = (account: string, id: string): string =>
  `/stacks/${encodeURIComponent(account)}/${encodeURIComponent(id)}`;
