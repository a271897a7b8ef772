/** What was made from plans a moment ago, as one look at a page asks for the same several times. */
export interface Recent<T extends object> {
  /** Makes it unless it is there or under way. `name` says all that it follows from. A failure is forgotten. */
  get(name: string, make: () => Promise<T>): Promise<T>;
}

export interface RecentLimits<T> {
  /** Of all together, as `sizeOf` counts; what was not asked for longest goes first. */
  readonly mostSize: number;
  sizeOf(made: T): number;
  /** Since it was asked for last. */
  readonly forMs: number;
}

interface Entry<T> {
  readonly made: Promise<T>;
  readonly forgetting: NodeJS.Timeout;
  /** Null until it is known. */
  size: number | null;
}

export function createRecent<T extends object>({ mostSize, sizeOf, forMs }: RecentLimits<T>): Recent<T> {
  /** The one that was asked for last comes last. */
  const entries = new Map<string, Entry<T>>();

  function forget(name: string): void {
    clearTimeout(entries.get(name)?.forgetting);
    entries.delete(name);
  }

  function makeRoom(): void {
    let size = entries.values().reduce((sum, each) => sum + (each.size ?? 0), 0);
    for (const [name, each] of entries) {
      if (size <= mostSize) return;
      if (each.size === null) continue;
      size -= each.size;
      forget(name);
    }
  }

  function begin(name: string, make: () => Promise<T>): Entry<T> {
    const forgetting = setTimeout(() => forget(name), forMs).unref();
    const entry: Entry<T> = { made: make(), forgetting, size: null };
    const settle = (made: T) => {
      entry.size = sizeOf(made);
      makeRoom();
    };
    entry.made.then(settle, () => forget(name));
    return entry;
  }

  return {
    get(name, make) {
      const entry = entries.get(name) ?? begin(name, make);
      entries.delete(name);
      entries.set(name, entry);
      entry.forgetting.refresh();
      return entry.made;
    },
  };
}
