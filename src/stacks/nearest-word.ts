/** The known word that was most likely meant; null when none is near. */
export function nearestWord(word: string, known: readonly string[]): string | null {
  // Long nonsense is near to nothing, and the table below grows with it.
  if (word.length > 40) return null;
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  const given = plain(word);
  const [best] = known
    .map((candidate) => ({ candidate, steps: distance(given, plain(candidate)) }))
    .sort((a, b) => a.steps - b.steps);
  return best && best.steps <= Math.max(1, Math.floor(best.candidate.length / 3)) ? best.candidate : null;
}

/** Levenshtein: how many letters have to be put in, taken out or changed. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
