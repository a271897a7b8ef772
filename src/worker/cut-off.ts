/**
 * Passes a stream on until one of the markers is complete, then says once that the rest is hidden and drops
 * it. A marker may be split over chunks; it is no secret itself, so nothing is held back.
 */
export function createCutOff(markers: readonly string[]): (chunk: Uint8Array) => Uint8Array {
  const longest = Math.max(0, ...markers.map((marker) => Buffer.byteLength(marker)));
  let before = Buffer.alloc(0);
  let isCut = false;

  return (chunk) => {
    if (isCut) return new Uint8Array();
    if (longest === 0) return chunk;
    const seen = Buffer.concat([before, chunk]);
    const ends = markers.map((marker) => endOf(seen, marker)).filter((end) => end !== -1);
    if (ends.length === 0) {
      before = Buffer.from(seen.subarray(Math.max(0, seen.length - longest + 1)));
      return chunk;
    }
    isCut = true;
    const passed = chunk.subarray(0, Math.min(...ends) - before.length);
    return Buffer.concat([passed, Buffer.from(' [values are hidden, with the rest of this output]\n')]);
  };
}

function endOf(bytes: Buffer, marker: string): number {
  const at = bytes.indexOf(marker);
  return at === -1 ? -1 : at + Buffer.byteLength(marker);
}
