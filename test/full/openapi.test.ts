/** Others' tools and the document: thousands of requests made from it, and every answer held against it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Scenario, startScenario } from '../support/scenario.ts';
import { type Document, type Route, routesOf } from '../web/documented.ts';
import { configOf, forPeople, prepareWorld, streams } from './openapi-world.ts';
import { type Config, type Findings, runSchemathesis, withinMs } from './schemathesis.ts';

type Answers = Findings['answers'];

let scenario: Scenario;
let routes: readonly Route[];
let config: Config;
beforeAll(async () => {
  // Thousands of requests of one token.
  scenario = await startScenario({ settings: { API_RATE_LIMIT: '0' } });
  const world = await prepareWorld(scenario);
  const { json } = await scenario.api.expectSuccess('GET', '/api/v1/openapi.json');
  routes = routesOf(json as Document).filter(({ operation }) => !unasked.includes(operation.operationId));
  config = configOf(world);
});
afterAll(() => scenario?.[Symbol.asyncDispose]());

/** Nothing but refusals: tokens are no people. */
const unasked = [...streams, ...forPeople];
const nameOf = ({ method, path }: Route): string => `${method.toUpperCase()} ${path}`;
const statusesOf = (answers: Answers, route: Route): number[] => [...(answers.get(nameOf(route)) ?? [])];
const isRead = ({ method }: Route): boolean => method === 'get';

async function run(token: string, maxExamples: number, args: readonly string[] = []) {
  const { failures, answers } = await runSchemathesis({
    url: scenario.server.url,
    token,
    config,
    maxExamples,
    args,
  });
  // Its own words, not an assertion's shortening of them.
  if (failures !== null) throw new Error(failures);
  return answers;
}

test('what administrators read is as the document says', { timeout: withinMs + 10_000 }, async () => {
  const answers = await run(scenario.token, 10, ['--include-method', 'GET']);

  const neverRead = routes.filter((route) => isRead(route) && !statusesOf(answers, route).includes(200));
  expect(neverRead.map(nameOf)).toEqual([]);
});

test('what readers may not is refused as the document says', { timeout: withinMs + 10_000 }, async () => {
  const token = await scenario.createToken('reader', 'reader');
  const answers = await run(token, 1, ['--phases', 'examples,coverage']);

  const done = routes.filter(
    (route) => !isRead(route) && statusesOf(answers, route).some((status) => status < 400),
  );
  expect(done.map(nameOf)).toEqual([]);
});

test('what administrators change is as the document says', { timeout: withinMs + 10_000 }, async () => {
  const answers = await run(scenario.token, 10, ['--exclude-method', 'GET', '--exclude-method', 'DELETE']);

  // Modules are always refused, and GitHub signs what it sends.
  const never = ['createModule', 'receiveFromGithub'];
  const changes = routes.filter(
    ({ method, operation }) =>
      ['post', 'put', 'patch'].includes(method) && !never.includes(operation.operationId),
  );
  const unreached = changes.filter(
    (route) => !statusesOf(answers, route).some((status) => status < 400 || status === 409),
  );
  expect(unreached.map(nameOf)).toEqual([]);
});

test('what was made, used and deleted is gone, as the document says', {
  timeout: 2 * withinMs + 10_000,
}, async () => {
  const deletions = routes.filter(({ method }) => method === 'delete');
  // Whose stack, webhook or policy is deleted first is not there to be deleted from.
  const parts = deletions.filter(({ path }) => deletions.some((whole) => path.startsWith(`${whole.path}/`)));
  const only = parts.flatMap(({ operation }) => ['--include-operation-id', operation.operationId]);
  const ofParts = await run(scenario.token, 10, ['--phases', 'examples,fuzzing', ...only]);
  const answers = await run(scenario.token, 5, ['--phases', 'examples,fuzzing,stateful']);

  const statuses = (route: Route) => [...statusesOf(ofParts, route), ...statusesOf(answers, route)];
  expect(parts.length).toBeGreaterThan(3);
  expect(deletions.filter((route) => !statuses(route).includes(204)).map(nameOf)).toEqual([]);
});
