import { lookup } from 'node:dns/promises';

/** All addresses of a name. Rejects with an error whose `code` says why there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** The operating system's answer, /etc/hosts included. */
const systemLookup: Resolve = async (hostname) => {
  const answers = await lookup(hostname, { all: true, order: 'verbatim' });
  return answers.map(({ address }) => address);
};

/** The system's resolver has 32 places for the whole process (config.ts), and GitHub's names need some. */
const maxAsked = 16;

/**
 * Gives every question a deadline, asks the same one only once at a time, and not too many: a name server that
 * never answers holds a place of the system's resolver for each question.
 */
export function createResolver(ask: Resolve = systemLookup, deadlineMs = 3000): Resolve {
  const asked = new Map<string, Promise<readonly string[]>>();
  const waiting: (() => void)[] = [];
  let places = maxAsked;

  async function askInTurn(hostname: string): Promise<readonly string[]> {
    if (places > 0) places -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await ask(hostname);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else places += 1;
    }
  }

  function askOnce(hostname: string): Promise<readonly string[]> {
    const running = asked.get(hostname);
    if (running !== undefined) return running;
    const answer = askInTurn(hostname).finally(() => asked.delete(hostname));
    asked.set(hostname, answer);
    return answer;
  }

  return async (hostname) => {
    const answer = askOnce(hostname);
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new ResolveError('ETIMEOUT')), deadlineMs);
    });
    try {
      const addresses = await Promise.race([answer, deadline]);
      if (addresses.length === 0) throw new ResolveError('ENODATA');
      return addresses;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** With the codes of Node's own resolver, so that who reads codes need not know us. */
class ResolveError extends Error {
  readonly code: 'ETIMEOUT' | 'ENODATA';

  constructor(code: 'ETIMEOUT' | 'ENODATA') {
    super(`the name could not be resolved: ${code}`);
    this.name = 'ResolveError';
    this.code = code;
  }
}
