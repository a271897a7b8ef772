import { type Family, numberText, type Sample } from './exposition.ts';

/** What is counted as it happens, since the start of this process. Prometheus knows what a restart means. */
export interface Counter<Value extends string> {
  add(value: Value): void;
  family(): Family;
}

export interface Histogram {
  observe(value: number): void;
  family(): Family;
}

interface Named {
  readonly name: string;
  readonly help: string;
}

/** Every value of its one label is there from the start: a series that appears with 1 has no rate. */
export function createCounter<Value extends string>(
  named: Named & { readonly label: string; readonly values: readonly Value[] },
): Counter<Value> {
  const { name, help, label } = named;
  const counts = new Map<Value, number>(named.values.map((value) => [value, 0]));
  return {
    add: (value) => void counts.set(value, (counts.get(value) ?? 0) + 1),
    family: () => ({
      ...{ name, help, type: 'counter' },
      samples: Array.from(counts, ([value, count]) => ({ labels: { [label]: value }, value: count })),
    }),
  };
}

/** `bounds` ascend, each the highest value of its bucket; what is higher than all is counted too. */
export function createHistogram({
  name,
  help,
  bounds,
}: Named & { readonly bounds: readonly number[] }): Histogram {
  const counts = [...bounds, Number.POSITIVE_INFINITY].map((bound) => ({ bound, count: 0 }));
  let sum = 0;

  function samples(): readonly Sample[] {
    let total = 0;
    const buckets = counts.map(({ bound, count }) => {
      total += count;
      return { suffix: '_bucket', labels: { le: numberText(bound) }, value: total };
    });
    return [...buckets, { suffix: '_sum', value: sum }, { suffix: '_count', value: total }];
  }

  return {
    observe(value) {
      const bucket = counts.find(({ bound }) => value <= bound);
      if (bucket === undefined) return;
      bucket.count += 1;
      sum += value;
    },
    family: () => ({ name, help, type: 'histogram', samples: samples() }),
  };
}
