import { z } from 'zod';
import { createSlipwayApi } from '../../demo/slipway-api.ts';
import { program, type Scenario, stash } from '../support/scenario.ts';
import type { Config } from './schemathesis.ts';

/** What there is for requests to be about: several of each kind, so that one that is deleted does not end it. */
export interface World {
  readonly stacks: readonly string[];
  readonly runs: readonly string[];
  readonly webhooks: readonly string[];
  readonly deliveries: readonly string[];
  readonly inboxDeliveries: readonly string[];
  readonly replay: { readonly webhook: string; readonly id: string };
  readonly tokens: readonly string[];
  readonly policies: readonly string[];
  readonly samples: readonly string[];
  readonly receiverUrl: string;
}

const spareStacks = 6;
const sparePolicies = 15;
const object = z.object({ id: z.string() });
const list = z.object({ items: z.array(object) });

/** A stack with a run that waits for its confirmation and two that end by themselves, and others on which nothing starts. */
export async function prepareWorld(scenario: Scenario): Promise<World> {
  const { api, receiver, server } = scenario;
  const policies = await preparePolicies(scenario);
  const described = await scenario.addStack('described', { labels: ['described'] });
  const pushed = await described.push(program(stash('one', '1')));
  await api.waitForState(pushed.id, 'UNCONFIRMED');
  const previews = [1, 2].map(() => api.startRun(described.stack, { type: 'PROPOSED' }));

  const stacks = [described.stack];
  const waiting: string[] = [];
  const holder = createSlipwayApi(server.url, await scenario.createToken('holder', 'admin'));
  for (let n = 1; n <= spareStacks; n += 1) {
    const { stack } = await scenario.addStackTo(described.repository, `spare-${n}`);
    await holder.expectSuccess('PUT', `${api.stackPath(stack)}/lock`, {
      note: 'Only its holder starts runs.',
    });
    stacks.push(stack);
    waiting.push((await api.startRun(stack, { type: 'TRACKED' })).id);
  }
  for (const stack of stacks) {
    await api.setVariable(stack, 'AWS_REGION', { value: 'eu-west-1', secret: false });
    for (const policy of policies) {
      await api.expectSuccess('PUT', `${api.stackPath(stack)}/policies/${policy}`, {});
    }
  }
  const runs = [pushed, ...(await Promise.all(previews))].map(({ id }) => id);

  async function spareToken(name: string): Promise<string> {
    const { json } = await api.expectSuccess('POST', '/api/v1/tokens', { name, role: 'reader' });
    return object.parse(json).id;
  }

  async function idsAt(path: string): Promise<string[]> {
    const { json } = await api.expectSuccess('GET', path);
    return list.parse(json).items.map(({ id }) => id);
  }
  const webhooks = (
    await Promise.all(stacks.map((stack) => idsAt(`${api.stackPath(stack)}/webhooks`)))
  ).flat();
  const tokens = await Promise.all([1, 2, 3, 4].map((n) => spareToken(`spare-${n}`)));
  const [webhook = ''] = webhooks;
  await receiver.waitForVersions(pushed.id, 1);
  const replay = await api.expectSuccess('POST', `/api/v1/webhooks/${webhook}/replay`, { since: 0 });
  return {
    stacks: stacks.map(({ id }) => id),
    runs: [...runs, ...waiting],
    webhooks,
    deliveries: await idsAt(`/api/v1/webhooks/${webhook}/deliveries`),
    inboxDeliveries: await idsAt('/api/v1/inbox'),
    replay: { webhook, id: z.object({ replay: z.string() }).parse(replay.json).replay },
    tokens,
    policies,
    samples: await idsAt(`/api/v1/policies/${policies[0]}/samples`),
    receiverUrl: receiver.url,
  };
}

/** The first keeps what it judges. */
async function preparePolicies({ api }: Scenario): Promise<string[]> {
  const body = 'package slipway\n\ndeny contains "nothing" if false\n\nsample := true\n';
  const ids: string[] = [];
  for (const label of ['described', ...Array.from({ length: sparePolicies }, (_, index) => `p${index}`)]) {
    const policy = { name: `judges ${label}`, kind: 'PLAN', account: 'acme', body };
    const labels = [`autoattach:${label}`];
    const { json } = await api.expectSuccess('POST', '/api/v1/policies', { ...policy, labels });
    ids.push(object.parse(json).id);
  }
  return ids;
}

/** For what fits the document: done, or refused for how things are. Which 422 are right, schemathesis_checks.py says. */
const accepted = ['2xx', '304', '401', '403', '404', '409', '410', '412', '422'];

/** Go on for ten minutes; test/web reads them. */
export const streams = ['streamRunLog', 'streamRunStates'];
export const forPeople = ['getChangesSinceSeen', 'markPlanSeen', 'listSessions', 'endSession'];

/** Most values are known ones; the rest is what a tool makes up. */
const mostly = (dictionary: string) => ({ dictionary, probability: 0.8 });

export function configOf(world: World): Config {
  return {
    checks: { positive_data_acceptance: { 'expected-statuses': accepted } },
    dictionaries: {
      stacks: { values: world.stacks },
      runs: { values: world.runs },
      webhooks: { values: world.webhooks },
      deliveries: { values: world.deliveries },
      inbox: { values: world.inboxDeliveries },
      variables: { values: ['AWS_REGION'] },
      tokens: { values: world.tokens },
      policies: { values: world.policies },
      samples: { values: world.samples },
      accounts: { values: ['acme'] },
      repositories: { values: ['acme/described'] },
      branches: { values: ['main'] },
      endpoints: { values: [1, 2, 3].map((n) => `${world.receiverUrl}/described-${n}`) },
    },
    parameters: {
      'path.account': 'acme',
      'path.stack': mostly('stacks'),
      'path.run': mostly('runs'),
      'path.webhook': mostly('webhooks'),
      'path.delivery': mostly('deliveries'),
      'path.name': mostly('variables'),
      'path.token': mostly('tokens'),
      'path.policy': mostly('policies'),
      'path.sample': mostly('samples'),
      'body.account': mostly('accounts'),
      'query.run': mostly('runs'),
      'body.repository': mostly('repositories'),
      'body.branch': mostly('branches'),
      'body.endpoint': mostly('endpoints'),
      // Only the server can make one: a schema would have to say what none can.
      'query.cursor': '',
      'query.after': '',
    },
    operations: [
      { 'include-operation-id': streams, enabled: false },
      // Not by what it finds in lists: that may be the token that it goes by itself.
      { 'include-operation-id': 'revokeToken', phases: { stateful: { enabled: false } } },
      { 'include-path-regex': '^/api/v1/inbox/', parameters: { 'path.delivery': mostly('inbox') } },
      {
        'include-operation-id': 'cancelReplay',
        parameters: { 'path.webhook': world.replay.webhook, 'path.replay': world.replay.id },
      },
    ],
  };
}
