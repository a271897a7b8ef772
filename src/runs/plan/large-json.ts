/** About as much as is worked on at once: printing or reading it takes a millisecond or two. */
const pieceLength = 64 * 1024;

/** Whether JSON has so much text that work on it should be done part by part, with turns for others (turns.ts). */
export function isLarge(value: unknown): boolean {
  let room = pieceLength;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && room >= 0) {
    const part = waiting.pop();
    room -= typeof part === 'string' ? part.length : 1;
    if (typeof part !== 'object' || part === null) continue;
    for (const [key, item] of Object.entries(part)) {
      room -= key.length;
      waiting.push(item);
      if (room < 0) break;
    }
  }
  return room < 0;
}
