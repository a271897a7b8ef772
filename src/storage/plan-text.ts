import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { ResourceMark } from '../runs/plan/resource-mark.ts';
import { takeTurns } from '../runs/plan/turns.ts';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

interface PlanContent {
  readonly steps: readonly unknown[];
  readonly marks: readonly ResourceMark[];
}

export interface UnpackedPlan extends PlanContent {
  /** Of its JSON. */
  readonly bytes: number;
}

/** Deflated lines of JSON, the marks and then each step: a large plan is read and written piece by piece. */
export async function packPlan({ steps, marks }: PlanContent): Promise<Buffer> {
  const othersGoOn = takeTurns();
  const lines = [JSON.stringify(marks)];
  for (const step of steps) {
    lines.push(JSON.stringify(step));
    await othersGoOn();
  }
  return deflate(lines.join('\n'));
}

export async function unpackPlan(packed: Uint8Array): Promise<UnpackedPlan> {
  const othersGoOn = takeTurns();
  const text = await inflate(packed);
  const lines: unknown[] = [];
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf(0x0a, start);
    const end = newline === -1 ? text.length : newline;
    lines.push(JSON.parse(text.toString('utf8', start, end)));
    await othersGoOn();
    start = end + 1;
  }
  const [marks, ...steps] = lines;
  return { steps, marks: marks as readonly ResourceMark[], bytes: text.length };
}
