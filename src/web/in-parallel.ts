/** The results in the order of `items`, with at most `atOnce` pieces of work under way. The first failure is thrown. */
export async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const waiting = items.entries();
  async function take(): Promise<void> {
    // All of them draw from one iterator.
    for (const [index, item] of waiting) results[index] = await work(item);
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, take));
  return results;
}
