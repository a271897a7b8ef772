/** A strict reader of Prometheus' text format 0.0.4: what it does not know is an error. */
export interface ParsedFamily {
  readonly type: string;
  readonly help: string;
  /** By the sample's text before its value, e.g. `x_bucket{le="1"}`. */
  readonly samples: ReadonlyMap<string, number>;
}

const name = '[a-z_][a-z0-9_]*';
const label = `${name}="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"`;
const helpLine = new RegExp(`^# HELP (${name}) ([^\\n]+)$`);
const typeLine = new RegExp(`^# TYPE (${name}) (counter|gauge|histogram)$`);
const sampleLine = new RegExp(
  `^(${name})(\\{${label}(?:,${label})*\\})? (-?\\d+(?:\\.\\d+)?(?:e[+-]\\d+)?)$`,
);
const suffixes: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
};

export function parsePrometheusText(text: string): ReadonlyMap<string, ParsedFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, { type: string; help: string; samples: Map<string, number> }>();
  const lines = text.slice(0, -1).split('\n');
  for (let at = 0; at < lines.length; ) {
    const [, family = '', help = ''] = helpLine.exec(lines[at] ?? '') ?? fail(lines[at]);
    const [, typed, type = ''] = typeLine.exec(lines[at + 1] ?? '') ?? fail(lines[at + 1]);
    if (typed !== family || families.has(family)) fail(lines[at + 1]);
    if ((type === 'counter') !== family.endsWith('_total')) fail(lines[at + 1]);
    const samples = new Map<string, number>();
    for (at += 2; at < lines.length && !lines[at]?.startsWith('#'); at += 1) {
      const [, sample = '', labels = '', value] = sampleLine.exec(lines[at] ?? '') ?? fail(lines[at]);
      const isOfFamily = suffixes[type]?.some((suffix) => sample === family + suffix);
      if (!isOfFamily || samples.has(sample + labels)) fail(lines[at]);
      samples.set(sample + labels, Number(value));
    }
    if (samples.size === 0) fail(family);
    if (type === 'histogram') checkHistogram(family, samples);
    families.set(family, { type, help, samples });
  }
  return families;
}

/** Cumulative, bounds ascending, and the last bucket holds everything. */
function checkHistogram(family: string, samples: ReadonlyMap<string, number>): void {
  const buckets = [...samples].flatMap(([key, count]) => {
    const bound = /_bucket\{le="([^"]+)"\}$/.exec(key)?.[1];
    return bound === undefined
      ? []
      : [{ bound: bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), count }];
  });
  for (const [index, bucket] of buckets.entries()) {
    const before = buckets[index - 1];
    if (before && !(before.bound < bucket.bound && before.count <= bucket.count)) fail(family);
  }
  const last = buckets.at(-1);
  if (last?.bound !== Number.POSITIVE_INFINITY || last.count !== samples.get(`${family}_count`)) fail(family);
  if (!samples.has(`${family}_sum`)) fail(family);
}

function fail(line: string | undefined): never {
  throw new Error(`not in the text format: ${line ?? 'the end'}`);
}
