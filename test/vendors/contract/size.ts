import { describe, expect, test } from 'vitest';
import { openContractWorld } from './contract-world.ts';
import { type Subject, value } from './sample.ts';

/** Of a stack that is as large as they get. */
export function sizeContract(subject: Subject): void {
  const count = 2000;
  const resources = Array.from({ length: count }, (_, index) => value(`r${index}`, `value ${index}`));

  describe(`${count} resources on ${subject.vendor.label}`, () => {
    test('are planned, shown one by one and counted, in bounded time', async () => {
      await using world = await openContractWorld(subject);
      const stack = await world.addStack();

      const { state, plan } = await stack.run({ resources }, 'PROPOSED');

      expect(state).toBe('FINISHED');
      expect(plan?.delta).toMatchObject({ added: count + subject.rootResources, changed: 0, deleted: 0 });
      expect(new Set(plan?.changes).size).toBe(count);
    });
  });
}
