import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Another process of this Node that runs `code`, a module in which `src` is the path of our sources. */
export interface NodeProcess extends AsyncDisposable {
  /** The next line it printed. Rejects with what stands on stderr when it ended before. */
  line(): Promise<string>;
  send(line: string): void;
  /** With SIGKILL: it gets no chance to put anything in order. */
  kill(): Promise<void>;
}

export function startNode(code: string): NodeProcess {
  const src = join(import.meta.dirname, '../../src');
  const module = `const src = ${JSON.stringify(src)};\n${code}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', module], { stdio: 'pipe' });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });

  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await exited;
  }

  return {
    async line() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the process ended: ${errors}`);
      return value;
    },
    send: (line) => void child.stdin.write(`${line}\n`),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
