import { describe, expect, test } from 'vitest';
import type { LogStore } from '../../src/runs/log-store.ts';
import { type Phase, phases } from '../../src/runs/run-store.ts';

export interface OpenedLogStore extends AsyncDisposable {
  readonly logs: LogStore;
}

/** What every store of logs must do. */
export function logStoreContract(name: string, open: () => OpenedLogStore | Promise<OpenedLogStore>): void {
  async function opened() {
    const world = await open();
    const { logs } = world;
    /** At the end, as a sender does that was answered each time. */
    const append = async (text: string, phase: Phase = 'planning', run = 'run-1') =>
      logs.append(run, phase, (await logs.read(run, phase, 0, 0)).size, Buffer.from(text));
    const at = (offset: number, text: string) => logs.append('run-1', 'planning', offset, Buffer.from(text));
    const read = async (offset = 0, maxBytes = 1000, phase: Phase = 'planning', run = 'run-1') => {
      const { bytes, size } = await logs.read(run, phase, offset, maxBytes);
      return { text: Buffer.from(bytes).toString('utf8'), size };
    };
    return { ...world, append, at, read, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
  }

  describe(`the log store on ${name}`, () => {
    test('has nothing of a run, or a phase, that never wrote', async () => {
      await using world = await opened();
      await world.append('x', 'preparing');

      expect(await world.read()).toEqual({ text: '', size: 0 });
      expect(await world.read(10, 10, 'planning', 'run-2')).toEqual({ text: '', size: 0 });
    });

    test('appends', async () => {
      await using world = await opened();
      await world.append('one\n');
      await world.append('two\n');

      expect(await world.read()).toEqual({ text: 'one\ntwo\n', size: 8 });
    });

    test('reads from an offset, at most so much, and says how much there is', async () => {
      await using world = await opened();
      await world.append('0123456789');

      expect(await world.read(0, 4)).toEqual({ text: '0123', size: 10 });
      expect(await world.read(4, 4)).toEqual({ text: '4567', size: 10 });
      expect(await world.read(8, 4)).toEqual({ text: '89', size: 10 });
      expect(await world.read(10, 4)).toEqual({ text: '', size: 10 });
      expect(await world.read(5000, 4)).toEqual({ text: '', size: 10 });
      expect(await world.read(0, 0)).toEqual({ text: '', size: 10 });
    });

    test('keeps bytes as they are, where a character was cut in two', async () => {
      await using world = await opened();
      const text = Buffer.from('é\0\x1b[31m');
      await world.logs.append('run-1', 'planning', 0, text.subarray(0, 1));
      await world.logs.append('run-1', 'planning', 1, text.subarray(1));

      const { bytes } = await world.logs.read('run-1', 'planning', 0, 100);
      expect(Buffer.from(bytes)).toEqual(text);
    });

    test('takes chunks that are larger than what is read at once', async () => {
      await using world = await opened();
      const chunk = Buffer.alloc(3_000_000, 'slipway ');
      await world.logs.append('run-1', 'planning', 0, chunk);

      const parts: Uint8Array[] = [];
      for (let offset = 0; ; ) {
        const { bytes } = await world.logs.read('run-1', 'planning', offset, 1_000_003);
        if (bytes.length === 0) break;
        parts.push(bytes);
        offset += bytes.length;
      }
      expect(Buffer.concat(parts).equals(chunk)).toBe(true);
    });

    test('keeps runs and phases apart that write at once, each in its order', async () => {
      await using world = await opened();
      const lines = Array.from({ length: 50 }, (_, n) => `${n}\n`);
      const writing = ['run-1', 'run-2'].flatMap((run) =>
        phases.map(async (phase) => {
          for (const line of lines) await world.append(line, phase, run);
        }),
      );
      await Promise.all(writing);

      for (const phase of phases) {
        expect((await world.read(0, 1000, phase, 'run-1')).text).toBe(lines.join(''));
        expect((await world.read(0, 1000, phase, 'run-2')).text).toBe(lines.join(''));
      }
    });

    test('can be read while it is written', async () => {
      await using world = await opened();
      await world.append('one\n');
      const first = await world.read();
      await world.append('two\n');

      expect(await world.read(first.size)).toEqual({ text: 'two\n', size: 8 });
    });

    test('is told the same twice and keeps it once, also when only a part had arrived', async () => {
      await using world = await opened();
      expect(await world.at(0, 'one two ')).toEqual({ kind: 'stored', size: 8 });

      expect(await world.at(0, 'one two ')).toEqual({ kind: 'stored', size: 8 });
      expect(await world.at(4, 'two ')).toEqual({ kind: 'stored', size: 8 });
      expect(await world.at(4, 'two three')).toEqual({ kind: 'stored', size: 13 });
      expect(await world.at(13, '')).toEqual({ kind: 'stored', size: 13 });
      expect(await world.read()).toEqual({ text: 'one two three', size: 13 });
    });

    test('refuses a gap, and other bytes than it has', async () => {
      await using world = await opened();
      await world.at(0, 'one two ');

      expect(await world.at(9, 'three')).toEqual({ kind: 'refused', reason: 'gap', size: 8 });
      expect(await world.at(4, 'zwei')).toEqual({ kind: 'refused', reason: 'different', size: 8 });
      expect(await world.at(4, 'zwei drei')).toEqual({ kind: 'refused', reason: 'different', size: 8 });
      expect(await world.read()).toEqual({ text: 'one two ', size: 8 });
    });

    test('keeps what came at once, each at its offset', async () => {
      await using world = await opened();
      await Promise.all(['one ', 'one two ', 'one two three '].map((text) => world.at(0, text)));

      expect(await world.read()).toEqual({ text: 'one two three ', size: 14 });
    });

    test('takes nothing more once it is sealed, but for what it has', async () => {
      await using world = await opened();
      await world.at(0, 'the end');
      await world.append('goes on', 'applying');

      await world.logs.seal('run-1', 'planning');
      await world.logs.seal('run-1', 'planning');
      await world.logs.seal('run-1', 'destroying');
      await world.logs.seal('never there', 'planning');

      expect(await world.at(7, '!')).toEqual({ kind: 'refused', reason: 'sealed', size: 7 });
      expect(await world.at(0, 'the end')).toEqual({ kind: 'stored', size: 7 });
      expect(await world.read()).toEqual({ text: 'the end', size: 7 });
      expect(await world.append(' and on', 'applying')).toEqual({ kind: 'stored', size: 14 });
      expect(await world.append('more', 'planning', 'never there')).toEqual({ kind: 'stored', size: 4 });
    });

    test('removes a sealed log, and begins anew', async () => {
      await using world = await opened();
      await world.at(0, 'old');
      await world.logs.seal('run-1', 'planning');

      await world.logs.remove('run-1');

      expect(await world.at(0, 'new one')).toEqual({ kind: 'stored', size: 7 });
      expect(await world.read()).toEqual({ text: 'new one', size: 7 });
    });

    test('removes the logs of one run, and takes new ones after that', async () => {
      await using world = await opened();
      await world.append('one');
      await world.append('one', 'applying');
      await world.append('kept', 'planning', 'run-2');

      await world.logs.remove('run-1');
      await world.logs.remove('never there');

      expect(await world.read()).toEqual({ text: '', size: 0 });
      expect(await world.read(0, 10, 'applying')).toEqual({ text: '', size: 0 });
      expect(await world.read(0, 10, 'planning', 'run-2')).toEqual({ text: 'kept', size: 4 });
      await world.append('again');
      expect(await world.read()).toEqual({ text: 'again', size: 5 });
    });
  });
}
