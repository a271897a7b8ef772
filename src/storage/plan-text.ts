import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { ResourceMark } from '../runs/plan/resource-mark.ts';
import { takeTurns } from '../runs/plan/turns.ts';
import { linesIn } from './lines-in.ts';

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
  for (const line of linesIn(text)) {
    lines.push(JSON.parse(line));
    await othersGoOn();
  }
  const [marks, ...steps] = lines;
  return { steps, marks: marks as readonly ResourceMark[], bytes: text.length };
}
