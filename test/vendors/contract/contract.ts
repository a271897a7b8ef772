import { describe } from 'vitest';
import { lifeContract } from './life.ts';
import type { Subject } from './sample.ts';
import { secretsContract } from './secrets.ts';
import { troubleContract } from './trouble.ts';

/**
 * What every vendor has to keep, with its real tool, through the worker and the sandbox of a server. Who adds a tool adds
 * a subject (sample.ts) and a row that calls this; what each method of the port owes is in src/worker/vendor.ts.
 */
export function vendorContract(subject: Subject): void {
  describe(`the contract of vendors on ${subject.vendor.label}`, () => {
    lifeContract(subject);
    troubleContract(subject);
    secretsContract(subject);
  });
}
