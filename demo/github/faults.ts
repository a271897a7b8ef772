/** Failures on order: what tests say the next matching requests shall meet. */

export interface Fault {
  method?: string;
  /** Matched with the path, without /api/v3 and without the query. */
  pathPattern: RegExp;
  /** Not used when the answer is dropped; 500 when absent. */
  status?: number;
  /** How many requests meet it; 1 when absent. */
  times?: number;
  /** The request is performed, then the connection is cut: the client cannot know that it was. */
  dropAnswer?: boolean;
  headers?: Record<string, string>;
  message?: string;
}

export class Faults {
  #pending: { fault: Fault; left: number }[] = [];

  add(fault: Fault): void {
    this.#pending.push({ fault, left: fault.times ?? 1 });
  }

  /** The first ordered fault that matches, used up by one. */
  take(method: string, path: string): Fault | null {
    const found = this.#pending.find(({ fault }) => {
      // search, not test: it ignores the position that a /g pattern keeps between calls.
      return (fault.method ?? method).toUpperCase() === method && path.search(fault.pathPattern) >= 0;
    });
    if (!found) return null;
    found.left -= 1;
    this.#pending = this.#pending.filter((each) => each.left > 0);
    return found.fault;
  }

  clear(): void {
    this.#pending = [];
  }
}
