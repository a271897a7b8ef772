import { decodeTime } from 'ulid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../src/access/actor.ts';
import { commandLine } from '../../src/access/origin.ts';
import { createAccess } from '../../src/access/roles.ts';
import { buckets } from '../../src/runs/stack-summary.ts';
import { maxAsked } from '../../src/web/api/stack-roles.ts';
import { anAccount, aRepository, person, stackSettings } from '../support/builders.ts';
import { anInstallation, apiRequest, call, type Installation, untilUnconfirmed } from './installation.ts';

const ada = person('ada');

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly nextCursor: string | null;
}

/** Four stacks in two accounts: one waits, one failed, one runs, one never did. */
async function prepared() {
  const installation = anInstallation();
  const { addStack, addRun, move } = installation;
  const network = await addStack('Network Prod');
  const dns = await addStack('dns');
  const vpn = await addStack('VPN', 'globex/infra');
  await addStack('archive');
  const waiting = await move(await addRun(network), ...untilUnconfirmed);
  const failed = await move(await addRun(dns, 'TASK'), { kind: 'claim' }, { kind: 'fail' });
  const preview = await addRun(dns, 'PROPOSED');
  const running = await move(await addRun(vpn), { kind: 'claim' });
  const settings = stackSettings({ name: 'dns', labels: ['prod', 'folder:a/b'], projectRoot: 'infra/names' });
  await installation.database.write((tx) => installation.stackStore.updateSettings(tx, dns.key, settings));
  return {
    ...{ installation, network, dns, vpn, waiting, failed, preview, running },
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}

async function ids(installation: Installation, path: string, token: string): Promise<string[]> {
  const { status, body } = await call(installation, 'GET', path, { token });
  expect(status, path).toBe(200);
  return (body as Page).items.map(({ id }) => id);
}

async function asAda<T>({ web }: Installation, path: string): Promise<T> {
  const answer = await web.fetchAs(ada, apiRequest('GET', path));
  expect(answer.status, path).toBe(200);
  return (await answer.json()) as T;
}

/** Every entry of a list in the order of its pages. */
async function everyId(read: (cursor: string) => Promise<Page>): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = '', pages = 0; cursor !== null && pages < 100; pages += 1) {
    const page: Page = await read(cursor);
    found.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return found;
}

describe('the list of stacks', () => {
  it('says of each what its newest blocking run is', async () => {
    await using fixture = await prepared();
    const { installation, waiting } = fixture;
    const token = await installation.token('reader');

    const { body } = await call(installation, 'GET', '/api/v1/stacks', { token });

    expect(body.items[0]).toMatchObject({
      ...{ id: 'network-prod', state: 'UNCONFIRMED', bucket: 'attention', queued: 0 },
      lastRun: {
        ...{ id: waiting.id, type: 'TRACKED', state: 'UNCONFIRMED', since: expect.any(Number) },
        commit: { hash: waiting.commit.hash, subject: 'Widen the network', authorName: 'Ada Example' },
        triggeredBy: waiting.triggeredBy,
      },
    });
    expect(body.items[3]).toMatchObject({ id: 'archive', bucket: 'never-ran', lastRun: null });
  });

  it.each([
    ['state=attention', ['network-prod']],
    ['state=failed', ['dns']],
    ['state=in-progress', ['vpn']],
    ['state=never-ran', ['archive']],
    ['state=finished', []],
    ['label=prod', ['dns']],
    ['label=PROD', []],
    ['label=folder:a/b', ['dns']],
    ['repository=Globex/Infra', ['vpn']],
    ['q=NETWORK', ['network-prod']],
    ['q=a/names', ['dns']],
    ['q=folder', ['dns']],
    ['q=globex', ['vpn']],
    ['q=%25', []],
    ['q=', ['network-prod', 'dns', 'vpn', 'archive']],
    ['q=r&state=never-ran', ['archive']],
    ['sort=name', ['archive', 'dns', 'network-prod', 'vpn']],
    ['sort=attention', ['network-prod', 'dns', 'vpn', 'archive']],
    ['sort=changed', ['vpn', 'dns', 'network-prod', 'archive']],
  ])('of %s', async (query, wanted) => {
    await using fixture = await prepared();
    const token = await fixture.installation.token('reader');

    expect(await ids(fixture.installation, `/api/v1/stacks?${query}`, token)).toEqual(wanted);
  });

  it.each(['', 'attention', 'name', 'changed'])('goes on page by page when sorted by "%s"', async (sort) => {
    await using fixture = await prepared();
    const { installation } = fixture;
    const token = await installation.token('reader');
    for (const name of ['Ä "quoted" \\ name', 'émile', 'another'])
      await installation.addStack(name, 'globex/infra');
    const by = sort === '' ? '' : `&sort=${sort}`;
    const whole = await ids(installation, `/api/v1/stacks?limit=200${by}`, token);

    const paged = await everyId(
      async (cursor) =>
        (await call(installation, 'GET', `/api/v1/stacks?limit=1${by}&cursor=${cursor}`, { token })).body,
    );

    expect(whole).toHaveLength(7);
    expect(paged).toEqual(whole);
  });

  it('tells nobody by a cursor what they may not see', async () => {
    await using installation = anInstallation();
    for (let n = 0; n <= maxAsked; n += 1) {
      const fullName = `acme/secret-${n}`;
      const repository = aRepository({ id: 5000 + n, fullName });
      installation.installed.set(fullName, { account: anAccount(), repository });
      await installation.addStack(`Merger ${n}`, fullName);
    }

    await installation.addStack('VPN', 'globex/infra');

    for (const path of ['stacks?', 'stacks?sort=name', 'repositories?limit=1', 'accounts?limit=1']) {
      const { items, nextCursor } = await asAda<Page>(installation, `/api/v1/${path}`);
      expect([items, nextCursor], path).toEqual([[], expect.any(String)]);
      expect(Buffer.from(nextCursor ?? '', 'base64url').toString('latin1'), path).not.toMatch(
        /merger|^[\d.]+$|^\[/i,
      );
      const next = `/api/v1/${path}${path.endsWith('?') ? '' : '&'}cursor=${nextCursor}`;
      expect((await asAda<Page>(installation, next)).nextCursor, path).not.toBe(nextCursor);
    }
  });

  it('refuses the cursor of another order, and a bucket that there is not', async () => {
    await using fixture = await prepared();
    const { installation } = fixture;
    const token = await installation.token('reader');
    const { body } = await call(installation, 'GET', '/api/v1/stacks?limit=1&sort=attention', { token });

    for (const query of [`sort=changed&cursor=${body.nextCursor}`, 'state=FAILED', 'sort=age']) {
      const refused = await call(installation, 'GET', `/api/v1/stacks?${query}`, { token });
      expect([query, refused.status]).toEqual([query, 422]);
    }
  });

  it('can be of those that the caller may change', async () => {
    await using fixture = await prepared();
    const { installation } = fixture;
    installation.roles.set('ada acme/infra', 'reader');
    installation.roles.set('ada globex/infra', 'writer');
    const of = async (query: string) =>
      (await asAda<Page>(installation, `/api/v1/stacks?${query}`)).items.map(({ id }) => id);

    expect(await of('')).toEqual(['network-prod', 'dns', 'vpn', 'archive']);
    expect(await of('role=writer')).toEqual(['vpn']);
    expect(await of('role=admin')).toEqual([]);
  });
});

describe('the counts of stacks', () => {
  it('are of what the filter lets pass; labels and repositories of all', async () => {
    await using fixture = await prepared();
    const { installation } = fixture;
    const token = await installation.token('reader');
    const none = Object.fromEntries(buckets.map((bucket) => [bucket, 0]));

    const all = await call(installation, 'GET', '/api/v1/stacks/counts', { token });
    const some = await call(installation, 'GET', '/api/v1/stacks/counts?q=dns', { token });

    const named = {
      labels: [
        { label: 'folder:a/b', count: 1 },
        { label: 'prod', count: 1 },
      ],
      repositories: [
        { repository: 'acme/infra', count: 3 },
        { repository: 'globex/infra', count: 1 },
      ],
    };
    expect(all.body).toEqual({
      ...{ total: 4, ...named },
      buckets: { ...none, attention: 1, failed: 1, 'in-progress': 1, 'never-ran': 1 },
    });
    expect(some.body).toEqual({ ...{ total: 1, ...named }, buckets: { ...none, failed: 1 } });
  });

  it('leave out what the caller may not read', async () => {
    await using fixture = await prepared();
    const { installation } = fixture;
    installation.roles.set('ada globex/infra', 'reader');
    const token = await installation.token('reader', 'globex');

    const ofAda = await asAda<object>(installation, '/api/v1/stacks/counts');
    const ofToken = await call(installation, 'GET', '/api/v1/stacks/counts', { token });

    expect(ofAda).toMatchObject({
      ...{ total: 1, labels: [], repositories: [{ repository: 'globex/infra', count: 1 }] },
      buckets: { attention: 0, 'in-progress': 1 },
    });
    expect(ofToken.body).toEqual(ofAda);
  });
});

describe('the list of runs', () => {
  it('has the runs of all stacks, newest first, by filters', async () => {
    await using fixture = await prepared();
    const { installation, waiting, failed, preview, running } = fixture;
    const token = await installation.token('reader');
    // Its id is from a moment of its own.
    const time = decodeTime(failed.id) / 1000;

    for (const [query, wanted] of [
      ['', [running, preview, failed, waiting]],
      ['state=UNCONFIRMED', [waiting]],
      ['state=FAILED', [failed]],
      ['type=TASK', [failed]],
      ['type=TASK&state=FINISHED', []],
      ['account=globex', [running]],
      ['stack=dns', [preview, failed]],
      ['stack=dns&account=globex', []],
      ['branch=topic', [preview]],
      [`since=${Math.floor(time)}&before=${Math.floor(time) + 1}`, [failed]],
    ] as const) {
      expect(await ids(installation, `/api/v1/runs?${query}`, token), query).toEqual(
        wanted.map(({ id }) => id),
      );
    }
    const one = await call(installation, 'GET', `/api/v1/runs/${waiting.id}`, { token });
    const { body } = await call(installation, 'GET', '/api/v1/runs?state=UNCONFIRMED', { token });
    expect(body.items).toEqual([one.body]);
  });

  it('goes on page by page', async () => {
    await using fixture = await prepared();
    const { installation, waiting, failed, preview, running } = fixture;
    const token = await installation.token('reader');

    const paged = await everyId(
      async (cursor) =>
        (await call(installation, 'GET', `/api/v1/runs?limit=1&cursor=${cursor}`, { token })).body,
    );

    expect(paged).toEqual([running, preview, failed, waiting].map(({ id }) => id));
  });

  it.each<[string, Role | null, Role | null, readonly ('acme' | 'globex')[]]>([
    ['nobody', null, null, []],
    ['a reader of one', 'reader', null, ['acme']],
    ['a reader of the other', null, 'reader', ['globex']],
    ['a reader of both', 'reader', 'reader', ['acme', 'globex']],
  ])('is for %s', async (_, acme, globex, wanted) => {
    await using fixture = await prepared();
    const { installation, waiting, failed, preview, running } = fixture;
    if (acme) installation.roles.set('ada acme/infra', acme);
    if (globex) installation.roles.set('ada globex/infra', globex);
    const of = { acme: [preview, failed, waiting], globex: [running] };

    const page = await asAda<Page>(installation, '/api/v1/runs');

    expect(page.items.map(({ id }) => id)).toEqual(
      wanted
        .flatMap((account) => of[account])
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    expect(page.nextCursor).toBeNull();
  });

  it('keeps the runs of a stack to the same filters', async () => {
    await using fixture = await prepared();
    const { installation, failed, preview } = fixture;
    const token = await installation.token('reader');
    const of = (query: string) => ids(installation, `/api/v1/stacks/acme/dns/runs?${query}`, token);

    expect(await of('')).toEqual([preview.id, failed.id]);
    expect(await of('type=TASK')).toEqual([failed.id]);
    expect(await of('state=FAILED&type=PROPOSED')).toEqual([]);
  });

  it('reads at once what queued runs wait for', async () => {
    await using fixture = await prepared();
    const { installation, network, waiting } = fixture;
    const token = await installation.token('reader');
    const queued = await installation.addRun(network);

    const { body } = await call(installation, 'GET', '/api/v1/runs?state=QUEUED', { token });

    expect(body.items).toMatchObject([
      { id: queued.id, blockedBy: { kind: 'run', run: waiting.id, state: 'UNCONFIRMED' } },
    ]);
  });
});

describe('of a person who may read a few of very many repositories', () => {
  /** A stack in each; the last one is ada's. Counts what GitHub is asked. */
  async function many(count: number) {
    let [asked, under, mostUnder] = [0, 0, 0];
    const readable = new Set([`acme/repository-${count - 1}`]);
    const access = createAccess({
      admins: [],
      permissions: {
        async roleOf(_, { fullName }) {
          asked += 1;
          under += 1;
          mostUnder = Math.max(mostUnder, under);
          await Promise.resolve();
          under -= 1;
          return readable.has(fullName) ? 'reader' : null;
        },
      },
    });
    const installation = anInstallation({ access });
    for (let n = 0; n < count; n += 1) {
      const fullName = `acme/repository-${n}`;
      const found = installation.installed.get('acme/infra');
      if (!found) throw new Error('cannot be');
      installation.installed.set(fullName, { ...found, repository: aRepository({ id: 1000 + n, fullName }) });
      await installation.addRun(await installation.addStack(`stack-${n}`, fullName));
    }
    return {
      ...{ installation, readable },
      mine: `stack-${count - 1}`,
      counted: () => ({ asked, mostUnder }),
      [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
    };
  }

  let fixture: Awaited<ReturnType<typeof many>>;
  beforeAll(async () => {
    fixture = await many(maxAsked + 20);
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  it('an answer asks about a bounded number of them, a few at a time, and leads on', async () => {
    const { installation, mine, counted } = fixture;
    const before = counted().asked;

    const first = await asAda<Page>(installation, '/api/v1/stacks');
    const asked = counted().asked - before;
    const second = await asAda<Page>(installation, `/api/v1/stacks?cursor=${first.nextCursor}`);

    expect(first.items).toEqual([]);
    expect(asked).toBeGreaterThanOrEqual(maxAsked);
    expect(asked).toBeLessThan(maxAsked + 8);
    expect(counted().mostUnder).toBeGreaterThan(1);
    expect(counted().mostUnder).toBeLessThanOrEqual(8);
    expect(second.items.map(({ id }) => id)).toEqual([mine]);
    expect(second.nextCursor).toBeNull();
  });

  it.each(['/api/v1/events', '/api/v1/audit'])('an answer of %s, too', async (path) => {
    const { installation, counted } = fixture;
    for (let n = 0; n < maxAsked + 20; n += 1) {
      await installation.audit.begin({
        ...{ actor: { kind: 'operator' }, origin: commandLine, operation: 'PUT /x', params: {} },
        subject: { repositoryId: 1000 + n, account: 'acme', stack: null, run: null },
      });
    }
    const before = counted().asked;

    const first = await asAda<Page>(installation, path);
    const asked = counted().asked - before;

    expect(first).toMatchObject({ items: [], nextCursor: expect.any(String) });
    expect(asked).toBeGreaterThanOrEqual(maxAsked);
    expect(asked).toBeLessThan(maxAsked + 8);
  });

  it('counts say that they are not of all', async () => {
    const before = fixture.counted().asked;

    const counts = await asAda<object>(fixture.installation, '/api/v1/stacks/counts');

    expect(counts).toMatchObject({ incomplete: true });
    expect(fixture.counted().asked - before).toBeLessThan(maxAsked + 8);
  });

  it('runs are found all the same', async () => {
    const { installation, mine } = fixture;
    const found: string[] = [];

    await everyId(async (cursor) => {
      const before = fixture.counted().asked;
      const page = await asAda<{ items: { id: string; stack: { id: string } }[]; nextCursor: string | null }>(
        installation,
        `/api/v1/runs?cursor=${cursor}`,
      );
      expect(fixture.counted().asked - before).toBeLessThan(maxAsked + 8);
      found.push(...page.items.map(({ stack }) => stack.id));
      return page;
    });

    expect(found).toEqual([mine]);
  });

  it('a page asks for no more than it needs', async () => {
    await using few = await many(20);
    const { installation, readable, counted } = few;
    for (let n = 0; n < 20; n += 1) readable.add(`acme/repository-${n}`);

    const page = await asAda<Page>(installation, '/api/v1/stacks?limit=3');

    expect(page.items).toHaveLength(3);
    expect(counted().asked).toBeLessThanOrEqual(8);
  });
});
