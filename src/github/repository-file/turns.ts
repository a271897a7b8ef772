/** One at a time for each id: two looks at one repository would overtake each other between reading and writing. */
export function createTurns() {
  const last = new Map<number, Promise<unknown>>();
  return async function inTurn<T>(id: number, work: () => Promise<T>): Promise<T> {
    const turn = (last.get(id) ?? Promise.resolve()).then(work, work);
    last.set(id, turn);
    try {
      return await turn;
    } finally {
      if (last.get(id) === turn) last.delete(id);
    }
  };
}
