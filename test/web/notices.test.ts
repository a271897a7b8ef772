import { describe, expect, it } from 'vitest';
import type { Actor } from '../../src/access/actor.ts';
import type { Notice } from '../../src/policies/notice-store.ts';
import type { Run } from '../../src/runs/run.ts';
import { createNoticeStore } from '../../src/storage/notice-store.ts';
import { createRunCauseStore } from '../../src/storage/run-cause-store.ts';
import { person } from '../support/builders.ts';
import { aNotice } from '../support/policies.ts';
import { anInstallation, apiRequest, type Installation } from './installation.ts';
import { openBrowser } from './ui/browser.ts';

const token = (account: string | null, role: 'reader' | 'admin'): Actor => ({
  ...{ kind: 'token', id: 't', name: 'ci', role, account },
});

async function get(installation: Installation, actor: Actor, path: string) {
  const response = await installation.web.fetchAs(actor, apiRequest('GET', `/api/v1${path}`));
  return { status: response.status, json: (await response.json()) as unknown };
}

/** Notices about a stack of acme, one of globex, and acme itself; the newest is "Broken". */
async function fill(installation: Installation) {
  const { database, addStack, addRun } = installation;
  const network = await addStack('Network Prod');
  const dns = await addStack('dns', 'globex/infra');
  const run = await addRun(network);
  const notices = createNoticeStore(database);
  let made = 0;
  const add = (change: Partial<Notice>) => {
    made += 1;
    const id = `01JNOTICE000000000000000${String(made).padStart(2, '0')}`;
    return database.write((tx) => notices.insert(tx, aNotice({ id, body: 'in short', ...change })));
  };
  await add({ title: 'Deployed', stackKey: network.key, runId: run.id });
  await add({ title: 'Of the others', accountId: 12, stackKey: dns.key });
  await add({ title: 'Of the account', severity: 'WARNING' });
  await add({ title: 'Broken', stackKey: network.key, severity: 'ERROR' });
  return { network, dns, run, add };
}

async function titles(installation: Installation, actor: Actor, query = ''): Promise<unknown> {
  const { status, json } = await get(installation, actor, `/notices${query}`);
  if (status !== 200) return json;
  return (json as { items: { title: string }[] }).items.map(({ title }) => title);
}

describe('notices', () => {
  it.each<[string, Actor, string[]]>([
    [
      'an administrator of the instance',
      person('root-ada'),
      ['Broken', 'Of the account', 'Of the others', 'Deployed'],
    ],
    ['who reads acme/infra', person('ada'), ['Broken', 'Deployed']],
    ['who reads globex/infra', person('bob'), ['Of the others']],
    ['nobody here', person('eve'), []],
    ['an admin token of acme', token('ACME', 'admin'), ['Broken', 'Of the account', 'Deployed']],
    ['a reading token of acme', token('acme', 'reader'), ['Broken', 'Deployed']],
    ['a reading token of all accounts', token(null, 'reader'), ['Broken', 'Of the others', 'Deployed']],
  ])('are shown to %s as far as they concern them', async (_, actor, expected) => {
    await using installation = anInstallation();
    await fill(installation);
    installation.roles.set('ada acme/infra', 'reader').set('bob globex/infra', 'admin');

    expect(await titles(installation, actor)).toEqual(expected);
  });

  it.each([
    ['?severity=ERROR', ['Broken']],
    ['?account=GLOBEX', ['Of the others']],
    ['?account=acme&stack=network-prod', ['Broken', 'Deployed']],
    ['?account=acme&stack=nowhere', []],
    ['?stack=network-prod', []],
    ['?limit=2', ['Broken', 'Of the account']],
  ])('are chosen by %s', async (query, expected) => {
    await using installation = anInstallation();
    await fill(installation);
    expect(await titles(installation, person('root-ada'), query)).toEqual(expected);
  });

  it('of another account are none of a token, even when it asks for them', async () => {
    await using installation = anInstallation();
    await fill(installation);
    expect(await titles(installation, token('acme', 'admin'), '?account=globex')).toEqual([]);
    expect(await titles(installation, token('acme', 'admin'), '?stack=network-prod')).toEqual([
      'Broken',
      'Deployed',
    ]);
  });

  it('have a page, with the text as it is', async () => {
    await using all = openBrowser({}, { login: 'ada' });
    await all.logIn();
    all.installation.roles.set('ada', 'reader');
    expect((await all.visit('/notices')).text).toContain('There are no notices');

    const { add, network, run } = await fill(all.installation);
    await add({ title: '<b>Big</b>', body: 'one\n<i>two</i>', stackKey: network.key, runId: run.id });
    const { text } = await all.visit('/notices?stack=acme/network-prod');
    expect(text).toContain('&lt;b&gt;Big&lt;/b&gt;');
    expect(text).toContain('<div><bdi>&lt;i&gt;two&lt;/i&gt;</bdi></div>');
    expect(text).toContain(`<a href="/runs/${run.id}">run</a>`);
    expect(text).toContain('<a href="/notices" aria-current="page">Notices</a>');
    expect(text).not.toContain('Of the others');
    expect((await all.visit('/notices?severity=WARNING')).text).toContain('No notice fits the filter.');
  });
});

describe('the workflow of a run', () => {
  async function chained() {
    const installation = anInstallation();
    const { database, addStack, addRun } = installation;
    const [network, dns] = [await addStack('Network Prod'), await addStack('dns', 'globex/infra')];
    const [first, second] = [await addRun(network), await addRun(dns)];
    const cause = { causeRunId: first.id, workflow: first.id, depth: 1, policyId: 'p', policyName: 'Chain' };
    await database.write((tx) => createRunCauseStore(database).insert(tx, { runId: second.id, ...cause }));
    const ask = (path: string, who = 'root-ada') => get(installation, person(who), path);
    return {
      installation,
      first,
      second,
      ask,
      [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
    };
  }
  const idsOf = (json: unknown) => (json as { items: { run: string }[] }).items.map(({ run }) => run);

  it('names what it follows from, on the run and in the list', async () => {
    await using world = await chained();
    const { first, second, ask } = world;
    const causeOf = async (run: Run) => ((await ask(`/runs/${run.id}`)).json as { cause?: unknown }).cause;

    expect(await causeOf(second)).toEqual({ run: first.id, policy: 'Chain' });
    expect(await causeOf(first)).toBeUndefined();
    for (const { id } of [first, second]) {
      expect((await ask(`/runs/${id}/workflow`)).json).toMatchObject({
        items: [
          { run: first.id, depth: 0, stack: { id: 'network-prod' }, state: first.state },
          { run: second.id, depth: 1, stack: { id: 'dns' }, cause: { run: first.id, policy: 'Chain' } },
        ],
        nextCursor: null,
      });
    }
  });

  it('leaves out what the caller may not read', async () => {
    await using world = await chained();
    world.installation.roles.set('ada acme/infra', 'reader');
    expect(idsOf((await world.ask(`/runs/${world.first.id}/workflow`, 'ada')).json)).toEqual([
      world.first.id,
    ]);
    expect((await world.ask(`/runs/${world.second.id}/workflow`, 'ada')).status).toBe(404);
  });
});

it('says on the page of a run which policy started it', async () => {
  await using all = openBrowser({}, { login: 'root-ada' });
  await all.logIn();
  const { database, addStack, addRun } = all.installation;
  const stack = await addStack();
  const [first, second] = [await addRun(stack, 'PROPOSED'), await addRun(stack)];
  const cause = { causeRunId: first.id, workflow: first.id, depth: 1, policyId: 'p', policyName: '<Chain>' };
  await database.write((tx) => createRunCauseStore(database).insert(tx, { runId: second.id, ...cause }));

  expect((await all.visit(`/runs/${second.id}/plan`)).text).toContain(
    `Started by the policy <bdi>&lt;Chain&gt;</bdi> after <a href="/runs/${first.id}">another run</a>`,
  );
  expect((await all.visit(`/runs/${first.id}/plan`)).text).not.toContain('Started by the policy');
});
