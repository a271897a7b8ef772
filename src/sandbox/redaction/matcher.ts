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

/** Null when there is nothing to find. Throws for more than 16 MiB of needles. */
export function indexNeedles(needles: readonly Uint8Array[]): NeedleIndex | null {
  const found = needles.filter(({ length }) => length > 0);
  return found.length === 0 ? null : buildTrie(found);
}

export function createMatcher(trie: NeedleIndex): Matcher {
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

/** Needles made ready, as a trie, for any number of streams. */
export interface NeedleIndex {
  /** The edges, a hash table with open addresses: node * 256 + byte, plus 1, to the next node. */
  readonly edges: Uint32Array;
  readonly targets: Uint32Array;
  /** The node of the longest proper suffix that is also in the trie. */
  readonly suffix: Uint32Array;
  readonly depth: Uint32Array;
  /** Of the needles that end at a node. */
  readonly longest: Uint32Array;
  readonly startsNeedle: Uint8Array;
}

/** Edges are numbered in 32 bits. */
const mostNodes = 2 ** 24 - 1;

function step(trie: NeedleIndex, from: number, byte: number): number {
  let node = from;
  for (;;) {
    const next = trie.targets[placeOf(trie, node, byte)] ?? 0;
    if (next !== 0 || node === 0) return next;
    node = trie.suffix[node] ?? 0;
  }
}

/** Where that edge is in the table, or would be: there the target is 0, since no edge leads to the root. */
function placeOf({ edges }: Pick<NeedleIndex, 'edges'>, node: number, byte: number): number {
  const edge = node * 256 + byte + 1;
  const last = edges.length - 1;
  let place = Math.imul(edge ^ (edge >>> 15), 0x2c1b3c6d) >>> 0;
  place = (place ^ (place >>> 13)) & last;
  while (edges[place] !== edge && edges[place] !== 0) place = (place + 1) & last;
  return place;
}

/** In flat arrays: what a tool marks as secret makes millions of nodes. */
function buildTrie(needles: readonly Uint8Array[]): NeedleIndex {
  const bytes = needles.reduce((sum, { length }) => sum + length, 0);
  if (bytes > mostNodes) throw new RangeError(`${bytes} bytes are too many to look for`);
  const size = 2 ** Math.ceil(Math.log2(2 * (bytes + 1)));
  const trie: NeedleIndex = {
    edges: new Uint32Array(size),
    targets: new Uint32Array(size),
    suffix: new Uint32Array(bytes + 1),
    depth: new Uint32Array(bytes + 1),
    longest: new Uint32Array(bytes + 1),
    startsNeedle: new Uint8Array(256),
  };
  const parents = new Uint32Array(bytes + 1);
  const lastBytes = new Uint8Array(bytes + 1);
  let nodes = 1;
  for (const needle of needles) {
    let node = 0;
    for (const byte of needle) {
      const place = placeOf(trie, node, byte);
      if (trie.targets[place] === 0) {
        trie.edges[place] = node * 256 + byte + 1;
        trie.targets[place] = nodes;
        trie.depth[nodes] = (trie.depth[node] ?? 0) + 1;
        parents[nodes] = node;
        lastBytes[nodes] = byte;
        if (node === 0) trie.startsNeedle[byte] = 1;
        nodes += 1;
      }
      node = trie.targets[place] ?? 0;
    }
    trie.longest[node] = needle.length;
  }
  // A suffix is shorter than its node, so nodes are linked in order of depth.
  for (const node of byDepth(trie.depth.subarray(0, nodes))) {
    const parent = parents[node] ?? 0;
    if (node === 0 || parent === 0) continue;
    const suffix = step(trie, trie.suffix[parent] ?? 0, lastBytes[node] ?? 0);
    trie.suffix[node] = suffix;
    trie.longest[node] = Math.max(trie.longest[node] ?? 0, trie.longest[suffix] ?? 0);
  }
  return trie;
}

/** The nodes, those of less depth first: sorted by counting. */
function byDepth(depth: Uint32Array): Uint32Array {
  const deepest = depth.reduce((most, each) => Math.max(most, each), 0);
  const places = new Uint32Array(deepest + 2);
  for (const each of depth) places[each + 1] = (places[each + 1] ?? 0) + 1;
  for (let each = 1; each < places.length; each += 1)
    places[each] = (places[each] ?? 0) + (places[each - 1] ?? 0);
  const sorted = new Uint32Array(depth.length);
  for (const [node, each] of depth.entries()) {
    sorted[places[each] ?? 0] = node;
    places[each] = (places[each] ?? 0) + 1;
  }
  return sorted;
}
