import { type Benchmark, inMs } from './figure.ts';
import { measureSandbox } from './sandbox.ts';

const rounds = 100;

export const sandboxCost: Benchmark = {
  name: 'sandbox',
  about: 'one command in the sandbox, against a bare spawn of it',
  async measure(say) {
    const [base, ...ways] = await measureSandbox(rounds);
    if (!base) throw new Error('nothing was measured');
    say(
      `${base.name} ${inMs(base.medianMs)}, ${ways.map((w) => `${w.name} ${inMs(w.medianMs)}`).join(', ')}`,
    );
    return ways.map(({ name, medianMs, ratio }) => ({
      what: `${name} ÷ ${base.name}, of \`true\``,
      value: ratio,
      unit: '' as const,
      detail: `${inMs(medianMs)} ÷ ${inMs(base.medianMs)}, medians of ${rounds}`,
    }));
  },
};
