/** What attacks of a repository go for, and where they leave something when they get through. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';

export interface Bait extends AsyncDisposable {
  /** Of every address of this machine. */
  readonly port: number;
  /** How many connections came. */
  hits(): number;
}

/** A listener that no run may reach. */
export async function startBait(): Promise<Bait> {
  let hits = 0;
  const listener = createServer((socket) => {
    hits += 1;
    socket.on('error', () => socket.destroy()).end('HTTP/1.1 200 OK\r\n\r\n');
  });
  await new Promise<void>((resolve) => listener.listen(0, '0.0.0.0', resolve));
  const address = listener.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    hits: () => hits,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** Of this machine, as others reach it; loopback where it has nothing else. */
export function addressOfMachine(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

/** Files of that name outside of the sandbox. */
export function filesLeft(name: string, dataDir: string): string[] {
  const places = [
    ...[dataDir, '/', '/etc', '/usr', '/usr/local/bin', '/opt', '/var', '/run'],
    ...['/tmp', '/dev/shm'],
  ];
  return places.map((place) => join(place, name)).filter((path) => existsSync(path));
}

/** What the script of attack-script.ts printed about attacks that got through, or could not be tried. */
export const breaches = (log: string): string[] =>
  log.split('\n').filter((line) => /LEAK|no proxy|no answer/.test(line));
