/** What came of an event for each stack, told by outcome: many stacks may have the same one, and none is left out. */
export function createOutcomeNotes() {
  const stacksOf = new Map<string, string[]>();
  return {
    add(stackId: string, outcome: string): void {
      const ids = stacksOf.get(outcome);
      if (ids) ids.push(stackId);
      else stacksOf.set(outcome, [stackId]);
    },
    all(): readonly string[] {
      if (stacksOf.size === 0) return ['no stack belongs to the repository'];
      return [...stacksOf].map(([outcome, ids]) => noteOf(outcome, ids));
    },
  };
}

function noteOf(outcome: string, stackIds: readonly string[]): string {
  const [only] = stackIds;
  if (stackIds.length === 1) return `${only}: ${outcome}`;
  return `${stackIds.length} stacks: ${outcome} (${stackIds.join(', ')})`;
}
