/** How fast output becomes fit to be seen: through everything that hides secrets, in chunks as pipes give them. */
import { randomBytes } from 'node:crypto';
import { createKnownSecrets } from '../src/worker/known-secrets.ts';
import { createMaskCommands } from '../src/worker/mask-commands.ts';
import { type Benchmark, type Figure, median } from './figure.ts';

const megabyte = 1_000_000;
const chunkBytes = 64 * 1024;
const rounds = 5;
const secretsOfStack = 20;

const plainLine =
  ' +  aws:s3:Bucket  one-of-many-resources  creating (12s) {"tags":{"team":"network"},"versioning":true}\n';

/** What a log may be made of, from what nobody hides anything of to what hides most. */
function kinds(secrets: readonly string[]): Record<string, Buffer> {
  const [secret = ''] = secrets;
  const fill = (line: string) => Buffer.from(line.repeat(Math.ceil((20 * megabyte) / line.length)));
  return {
    'a plain log': fill(plainLine),
    'a secret in each tenth line': fill(`${plainLine.repeat(9)}password: ${secret}\n`),
    'base64 in lines of 76': fill(`${randomBytes(57).toString('base64')}\n`),
    'one line without an end': Buffer.from('x'.repeat(20 * megabyte)),
    'beginnings of credentials': fill('ghp_ AKIA -----BEGIN xoxb- eyJ eyJ.eyJ AccountKey= ::add-mask \n'),
  };
}

export const redaction: Benchmark = {
  name: 'redaction',
  about: `MB/s through what hides secrets in output, with ${secretsOfStack} secret variables`,
  async measure(say) {
    const secrets = Array.from({ length: secretsOfStack }, () => randomBytes(24).toString('base64url'));
    const figures: Figure[] = [];
    for (const [kind, text] of Object.entries(kinds(secrets))) {
      const seconds = Array.from({ length: rounds }, () => secondsFor(text, secrets));
      const rate = text.length / megabyte / median(seconds);
      const copying = text.length / megabyte / median(seconds.map(() => secondsForCopy(text)));
      say(`${kind}: ${rate.toFixed(0)} MB/s`);
      figures.push({
        what: `redaction of ${kind} / copying it`,
        value: rate / copying,
        unit: '',
        detail: `${rate.toFixed(0)} MB/s, median of ${rounds}`,
      });
    }
    return figures;
  },
};

function secondsFor(text: Buffer, values: readonly string[]): number {
  const variables = values.map((value, index) => ({
    name: `SECRET_${index}`,
    value,
    secret: true,
    access: 'all' as const,
  }));
  const redactor = createKnownSecrets({ variables }).newRedactor();
  const masks = createMaskCommands(() => undefined);
  return timed(text, (chunk) => masks.write(chunk, (piece) => void redactor.write(piece)));
}

const secondsForCopy = (text: Buffer): number => timed(text, (chunk) => void Buffer.from(chunk));

function timed(text: Buffer, write: (chunk: Buffer) => void): number {
  const startedMs = performance.now();
  for (let at = 0; at < text.length; at += chunkBytes) write(text.subarray(at, at + chunkBytes));
  return (performance.now() - startedMs) / 1000;
}
