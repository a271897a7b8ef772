import { describe, expect, it } from 'vitest';
import { createHoldBack } from '../../src/worker/hold-back.ts';
import { createKnownSecrets } from '../../src/worker/known-secrets.ts';
import type { PhaseLog } from '../../src/worker/logs.ts';
import type { Vendor } from '../../src/worker/vendor.ts';
import { fc } from '../support/fast-check.ts';

const marker = 'will perform:';
const begin = '[what plan said, without what the tool calls secret]\n';

function open({ maxBytes = 1e6, hiddenAfter = [] as string[], variables = [] as string[] } = {}) {
  let text = '';
  const log: PhaseLog = {
    write(bytes) {
      text += Buffer.from(bytes).toString('latin1');
    },
    line(line) {
      text += `${line}\n`;
    },
    pressure: () => null,
    flush: async () => undefined,
  };
  const secrets = createKnownSecrets({
    variables: variables.map((value) => ({ name: 'A', value, secret: true }) as never),
  });
  const context = { secrets, vendor: { hiddenAfter } as Partial<Vendor> as Vendor };
  const sink = createHoldBack(context, { log }, { markers: [marker, 'Outputs'], called: 'plan', maxBytes });
  return { ...sink, secrets, text: () => text, say: (said: string) => sink.write(Buffer.from(said)) };
}

describe('output that is held back', () => {
  it('is what follows from the line of a marker on, without secrets, however it is cut', async () => {
    const live = 'a: Refreshing\nb: Refreshing\n';
    const held = `It ${marker}\n + password = "hunter2"\n + other = "hun"\nOutputs\nhunter2`;
    const all = live + held;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(all.length), { maxLength: 30 }), async (cuts) => {
        const sink = open();
        const borders = [0, ...cuts.toSorted((a, b) => a - b), all.length];
        for (const [index, end] of borders.slice(1).entries()) sink.say(all.slice(borders[index], end));
        sink.end(false);
        expect(sink.text()).toBe(live);
        expect(sink.tail()).toBe(live);

        sink.secrets.learn(['hunter2']);
        await sink.release();

        expect(sink.text()).toBe(live + begin + held.replaceAll('hunter2', '***'));
      }),
    );
  });

  it('loses nothing and lets no secret through, whatever is said', async () => {
    const piece = fc.oneof(
      fc.constantFrom('hunter2', 'of-people', marker, 'Outputs', '\n', 'hun', 'will '),
      fc.string({ maxLength: 10 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        const all = pieces.join('');
        const sink = open({ variables: ['of-people'] });
        for (const each of pieces) sink.say(each);
        sink.end(false);
        sink.secrets.learn(['hunter2']);
        await sink.release();

        const at = all.search(/will perform:|Outputs/);
        const start = at === -1 ? all.length : all.lastIndexOf('\n', at) + 1;
        const live = all.slice(0, start).replaceAll('of-people', '***');
        const held = all.slice(start).replaceAll('of-people', '***').replaceAll('hunter2', '***');
        const expected = held === '' ? live : live + begin + held;
        const one = (text: string) =>
          Buffer.from(text)
            .toString('latin1')
            .replaceAll(/(\*\*\*)+/g, '***');
        expect(one(sink.text())).toBe(one(expected));
      }),
    );
  });

  it('does not wait for the end of a line to pass on those before it', () => {
    const sink = open();
    sink.say('a: Refreshing\nb: Re');
    expect(sink.text()).toBe('a: Refreshing\n');
    sink.say('freshing');
    sink.end(false);
    expect(sink.text()).toBe('a: Refreshing\nb: Refreshing');
  });

  it('is a line without an end, too', async () => {
    const sink = open();
    sink.say('x'.repeat(70_000));
    sink.say(`hunter2 ${marker} hunter2`);
    sink.end(false);
    expect(sink.text()).toBe('');

    sink.secrets.learn(['hunter2']);
    await sink.release();
    expect(sink.text()).toBe(`${begin}${'x'.repeat(70_000)}*** ${marker} ***`);
  });

  it('is cut at its cap, never inside a secret, and a line says so', async () => {
    const sink = open({ maxBytes: 30 });
    sink.say(`${marker}\n`);
    sink.say('0123456789 hunt');
    sink.say('er2 and more');
    sink.end(false);
    sink.secrets.learn(['hunter2']);
    await sink.release();

    expect(sink.text()).toBe(
      `${begin}${marker}\n0123456789 ***[11 bytes more are missing: too much had to wait for the plan to be read]\n`,
    );
  });

  it('is never written when nobody knows what of it is secret', async () => {
    const sink = open();
    sink.say(`live\n${marker}\nhunter2\n`);
    sink.end(false);
    sink.drop('nobody knows');
    await sink.release();

    expect(sink.text()).toBe('live\n[what plan said is not shown: nobody knows]\n');
  });

  it('says nothing where nothing had to wait', async () => {
    const sink = open();
    sink.say('live\n');
    sink.end(false);
    await sink.release();
    sink.drop('nobody knows');

    expect(sink.text()).toBe('live\n');
  });

  it('stays hidden where values of any kind do', async () => {
    const sink = open({ hiddenAfter: ['values:'] });
    sink.say(`values: a\n${marker}\nb`);
    sink.end(false);
    await sink.release();

    expect(sink.text()).toBe(`values: [values are hidden, with the rest of this output]\n${begin}`);
  });
});
