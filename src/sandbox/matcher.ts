/**
 * Finds many byte strings in a stream at once (Aho and Corasick, 1975), in one step for each byte whatever their number,
 * and knows at any point how many of the last bytes may still become one of them.
 */
export interface Matcher {
  /**
   * Calls `onMatch` with the end of each place where a needle ends (counted in this chunk) and the length of the longest
   * one that ends there. Returns how many of the last bytes are the beginning of a needle.
   */
  feed(chunk: Uint8Array, onMatch: (end: number, length: number) => void): number;
  reset(): void;
}

/** Null when there is nothing to find. */
export function createMatcher(needles: readonly Uint8Array[]): Matcher | null {
  const found = needles.filter(({ length }) => length > 0);
  if (found.length === 0) return null;
  const trie = buildTrie(found);
  let state = 0;
  return {
    feed(chunk, onMatch) {
      for (let index = 0; index < chunk.length; index++) {
        const byte = chunk[index] ?? 0;
        // Most bytes of a log are here: not inside a needle, and not the first byte of one.
        if (state === 0 && trie.startsNeedle[byte] === 0) continue;
        state = step(trie, state, byte);
        const length = trie.longest[state] ?? 0;
        if (length > 0) onMatch(index + 1, length);
      }
      return trie.depth[state] ?? 0;
    },
    reset() {
      state = 0;
    },
  };
}

interface Trie {
  /** node * 256 + byte to the next node; sparse, because private keys make tens of thousands of nodes. */
  readonly next: Map<number, number>;
  /** The node of the longest proper suffix that is also in the trie. */
  readonly suffix: number[];
  readonly depth: number[];
  /** Of the needles that end at a node. */
  readonly longest: number[];
  readonly startsNeedle: Uint8Array;
}

function step(trie: Trie, from: number, byte: number): number {
  let node = from;
  for (;;) {
    const next = trie.next.get(node * 256 + byte);
    if (next !== undefined) return next;
    if (node === 0) return 0;
    node = trie.suffix[node] ?? 0;
  }
}

function buildTrie(needles: readonly Uint8Array[]): Trie {
  const trie: Trie = {
    next: new Map(),
    suffix: [0],
    depth: [0],
    longest: [0],
    startsNeedle: new Uint8Array(256),
  };
  const edges: { from: number; byte: number; to: number }[] = [];
  for (const needle of needles) {
    let node = 0;
    for (const byte of needle) {
      let next = trie.next.get(node * 256 + byte);
      if (next === undefined) {
        next = trie.depth.length;
        trie.next.set(node * 256 + byte, next);
        trie.depth.push((trie.depth[node] ?? 0) + 1);
        trie.suffix.push(0);
        trie.longest.push(0);
        edges.push({ from: node, byte, to: next });
        if (node === 0) trie.startsNeedle[byte] = 1;
      }
      node = next;
    }
    trie.longest[node] = needle.length;
  }
  // A suffix is shorter than its node, so nodes are linked in order of depth.
  edges.sort((a, b) => (trie.depth[a.to] ?? 0) - (trie.depth[b.to] ?? 0));
  for (const { from, byte, to } of edges) {
    const suffix = from === 0 ? 0 : step(trie, trie.suffix[from] ?? 0, byte);
    trie.suffix[to] = suffix;
    trie.longest[to] = Math.max(trie.longest[to] ?? 0, trie.longest[suffix] ?? 0);
  }
  return trie;
}
