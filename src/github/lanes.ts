/** Work under way: at most one piece of a lane, and at most `most` in all. */
export interface Lanes<Lane> {
  busy(): Lane[];
  isFull(): boolean;
  /** `work` must not reject. */
  run(lane: Lane, work: () => Promise<void>): void;
  /** When all that is under way has ended. */
  settled(): Promise<void>;
}

export function createLanes<Lane>(most: number, onFree: () => void): Lanes<Lane> {
  const underWay = new Map<Lane, Promise<void>>();
  return {
    busy: () => [...underWay.keys()],
    isFull: () => underWay.size >= most,
    run(lane, work) {
      const done = work().finally(() => {
        underWay.delete(lane);
        onFree();
      });
      underWay.set(lane, done);
    },
    async settled() {
      await Promise.all(underWay.values());
    },
  };
}
