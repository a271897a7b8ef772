import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { createServer, type Socket } from 'node:net';

/** What the name server answers to one question. */
export interface DnsAnswer {
  /** Canonical names on the way, in order: the addresses are those of the last. */
  readonly aliases?: readonly string[];
  readonly v4?: readonly string[];
  /** In full: eight groups. */
  readonly v6?: readonly string[];
  readonly code?: 'NOERROR' | 'SERVFAIL' | 'NXDOMAIN';
}

/** A real name server on a loopback port, over UDP and, for what is too long for it, TCP. Every TTL is 0. */
export interface DnsServer extends AsyncDisposable {
  /** Names that were asked for, one entry for each question. */
  readonly asked: readonly string[];
  /** What the resolver of the tests says about a name: A and AAAA, asked of this server alone. */
  resolve(hostname: string): Promise<readonly string[]>;
  /** From now on. 'silence' never answers. */
  answer(hostname: string, answer: DnsAnswer | 'silence'): void;
}

const types = { a: 1, cname: 5, aaaa: 28 } as const;
const codes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 } as const;
/** What fits into a datagram without fragments (dnsflagday.net, 2020). */
const maxDatagram = 1232;

interface Question {
  readonly id: number;
  readonly name: string;
  readonly type: number;
  /** As it was asked, to be repeated in the answer. */
  readonly bytes: Buffer;
}

export async function startDnsServer(): Promise<DnsServer> {
  const answers = new Map<string, DnsAnswer | 'silence'>();
  const asked: string[] = [];
  const sockets = new Set<Socket>();

  function reply(message: Buffer, limit: number): Buffer | null {
    const question = questionOf(message);
    asked.push(question.name);
    const answer = answers.get(question.name) ?? { code: 'NXDOMAIN' };
    if (answer === 'silence') return null;
    const whole = responseTo(question, answer);
    return whole.length <= limit ? whole : truncatedFor(question);
  }

  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        const response = reply(received.subarray(2, end), 0xffff);
        received = received.subarray(end);
        if (response) socket.write(Buffer.concat([uint16(response.length), response]));
      }
    });
  });
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  const { port } = tcp.address() as { port: number };
  const udp = createSocket('udp4');
  udp.on('message', (message, from) => {
    const response = reply(message, maxDatagram);
    if (response) udp.send(response, from.port, from.address);
  });
  await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve));

  const resolver = new Resolver({ timeout: 60_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);

  return {
    asked,
    answer: (hostname, answer) => void answers.set(hostname, answer),
    async resolve(hostname) {
      const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
      return [v4, v6].flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    },
    async [Symbol.asyncDispose]() {
      resolver.cancel();
      for (const socket of sockets) socket.destroy();
      await Promise.all([
        new Promise<void>((resolve) => udp.close(resolve)),
        new Promise((resolve) => tcp.close(resolve)),
      ]);
    },
  };
}

function questionOf(message: Buffer): Question {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    id: message.readUInt16BE(0),
    // Resolvers mix the case, to be harder to fool.
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1),
    bytes: message.subarray(12, at + 5),
  };
}

function responseTo(question: Question, answer: DnsAnswer): Buffer {
  const names = [question.name, ...(answer.aliases ?? [])];
  const owner = names.at(-1) ?? question.name;
  const aliases = names
    .slice(1)
    .map((alias, index) => record(names[index] ?? '', types.cname, nameBytes(alias)));
  const v4 = question.type === types.a ? (answer.v4 ?? []) : [];
  const v6 = question.type === types.aaaa ? (answer.v6 ?? []) : [];
  const records = [
    ...aliases,
    ...v4.map((text) => record(owner, types.a, Buffer.from(text.split('.').map(Number)))),
    ...v6.map((text) =>
      record(
        owner,
        types.aaaa,
        Buffer.concat(text.split(':').map((group) => uint16(Number.parseInt(group, 16)))),
      ),
    ),
  ];
  return Buffer.concat([
    header(question, codes[answer.code ?? 'NOERROR'], records.length),
    question.bytes,
    ...records,
  ]);
}

/** "Ask again over TCP." */
function truncatedFor(question: Question): Buffer {
  return Buffer.concat([header(question, 0x0200, 0), question.bytes]);
}

function header(question: Question, flags: number, count: number): Buffer {
  // Response, recursion desired and available.
  return Buffer.concat([question.id, 0x8180 | flags, 1, count, 0, 0].map(uint16));
}

function record(owner: string, type: number, data: Buffer): Buffer {
  const ttl = Buffer.alloc(4);
  return Buffer.concat([nameBytes(owner), uint16(type), uint16(1), ttl, uint16(data.length), data]);
}

function nameBytes(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.alloc(1)]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
