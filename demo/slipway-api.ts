/**
 * The product's JSON API as a program of a user would speak it: HTTP and the documented fields, nothing of src/. Answers
 * are parsed, so that a field that went missing is noticed here.
 */
import { z } from 'zod';
import {
  commandSchema,
  type RunObject,
  runSchema,
  type StackObject,
  stackSchema,
  stateSchema,
  vendorSchema,
} from './api-objects.ts';
import { waitFor } from './wait.ts';

export type RunVerb = 'confirm' | 'discard' | 'cancel' | 'stop' | 'retry';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: unknown;
}

const requestWithinMs = 15_000;
export const terminalStates = ['FINISHED', 'FAILED', 'STOPPED', 'DISCARDED', 'CANCELED'];

export type SlipwayApi = ReturnType<typeof createSlipwayApi>;

export function createSlipwayApi(url: string, token: string, signal?: AbortSignal) {
  /** Whatever the answer is. */
  async function request(method: string, path: string, body?: unknown): Promise<Answer> {
    const timeout = AbortSignal.timeout(requestWithinMs);
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const text = await response.text();
    const isJson = /^application\/(problem\+)?json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, text, json: isJson ? JSON.parse(text) : null };
  }

  /** Rejects unless it is a success. */
  async function expectSuccess(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await request(method, path, body);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 1000)}`);
  }

  async function read<T extends z.ZodType>(schema: T, path: string): Promise<z.output<T>> {
    return schema.parse((await expectSuccess('GET', path)).json);
  }

  const items = <T extends z.ZodType>(schema: T) => z.looseObject({ items: z.array(schema) });
  const stackPath = (stack: StackObject) => `/api/v1/stacks/${stack.account}/${stack.id}`;
  const runPath = (runId: string) => `/api/v1/runs/${runId}`;

  const run = (runId: string): Promise<RunObject> => read(runSchema, runPath(runId));
  const states = async (runId: string) => (await read(items(stateSchema), `${runPath(runId)}/states`)).items;
  const runsOf = async (stack: StackObject) =>
    (await read(items(runSchema), `${stackPath(stack)}/runs?limit=200`)).items;
  async function log(runId: string, phase?: string): Promise<string> {
    const query = phase === undefined ? '' : `?phase=${phase}`;
    return (await expectSuccess('GET', `${runPath(runId)}/logs${query}`)).text;
  }

  async function story(runId: string): Promise<string> {
    const passed = (await states(runId)).map(({ state }) => state).join(' ');
    const { note, outcome } = await run(runId);
    const end = (await log(runId)).slice(-2000);
    return `\n  states: ${passed}\n  outcome: ${outcome ?? '-'}\n  note: ${note ?? '-'}\n  log:\n${end}`;
  }

  return {
    request,
    expectSuccess,
    run,
    states,
    runsOf,
    log,
    stackPath,
    createStack: async (input: Record<string, unknown>) =>
      stackSchema.parse((await expectSuccess('POST', '/api/v1/stacks', input)).json),
    changeStack: (stack: StackObject, change: Record<string, unknown>) =>
      expectSuccess('PATCH', stackPath(stack), change),
    /** The first of these vendors whose tool the server has. */
    async installedVendor(names: readonly string[]): Promise<string | null> {
      const vendors = (await read(items(vendorSchema), '/api/v1/vendors')).items;
      const installed = vendors.filter((vendor) => vendor.installed).map(({ name }) => name);
      return names.find((name) => installed.includes(name)) ?? null;
    },
    setVariable: (stack: StackObject, name: string, variable: Record<string, unknown>) =>
      expectSuccess('PUT', `${stackPath(stack)}/environment/${name}`, variable),
    addWebhook: (stack: StackObject, webhook: { endpoint: string; secret: string }) =>
      expectSuccess('POST', `${stackPath(stack)}/webhooks`, webhook),
    startRun: async (stack: StackObject, trigger: Record<string, unknown>) =>
      runSchema.parse((await expectSuccess('POST', `${stackPath(stack)}/runs`, trigger)).json),
    act: async (runId: string, verb: RunVerb, body: Record<string, unknown> = {}) =>
      runSchema.parse((await expectSuccess('POST', `${runPath(runId)}/${verb}`, body)).json),
    commands: async (runId: string) => (await read(items(commandSchema), `${runPath(runId)}/commands`)).items,

    /** The run of a stack for a commit, as soon as there is one. */
    waitForRun: (stack: StackObject, sha: string): Promise<RunObject> =>
      waitFor(
        `a run of ${stack.id} for ${sha.slice(0, 7)}`,
        async () => (await runsOf(stack)).find(({ commit }) => commit.hash === sha),
        { timeoutMs: 15_000, signal },
      ),

    /** Waits for one of the states. A run that ends otherwise is an error that tells its whole story. */
    async waitForState(runId: string, wanted: string | readonly string[], timeoutMs = 60_000) {
      const states = typeof wanted === 'string' ? [wanted] : wanted;
      const what = `run ${runId} to be ${states.join(' or ')}`;
      async function look() {
        const now = await run(runId);
        if (states.includes(now.state)) return now;
        if (!terminalStates.includes(now.state)) return null;
        throw new Error(`waited for ${what}, but it is ${now.state}${await story(runId)}`);
      }
      return waitFor(what, look, { timeoutMs, intervalMs: 60, signal }, () => story(runId));
    },
  };
}
