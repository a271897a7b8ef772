import type { Role } from '../../../../src/access/actor.ts';
import { aJudgement } from '../../../support/policies.ts';
import { call } from '../../installation.ts';
import { openBrowser } from '../browser.ts';

/** Whatever people type that is markup elsewhere, and what turns text around. */
export const hostile = '<script>alert(1)</script><img src=x onerror=alert(1)>"\'& \u202e';

/** Bodies as the engine of these tests reads them: engine-double.ts. */
export const denying = '# why\ndeny: ["the bucket stays"]';

/** A stack of acme; who is logged in administers the instance, or has a role on that stack. */
export async function openPolicies(
  who: 'admin' | Role | 'stranger' = 'admin',
  change: Parameters<typeof openBrowser>[0] = {},
) {
  const login = who === 'admin' ? 'root-ada' : 'ada';
  const all = openBrowser(change, { login });
  const { installation } = all;
  const stack = await installation.addStack('Network Prod');
  if (who !== 'admin' && who !== 'stranger') installation.roles.set('ada', who);
  await all.logIn();
  const token = await installation.token('admin');

  async function addPolicy(change: Record<string, unknown> = {}) {
    const body = { name: 'buckets stay', kind: 'PLAN', account: 'acme', body: denying, ...change };
    const made = await call(installation, 'POST', '/api/v1/policies', { token, body });
    if (made.status !== 201) throw new Error(made.text);
    return made.body as { id: string; version: number; name: string };
  }

  const stackPolicies = `/api/v1/stacks/acme/${stack.id}/policies`;
  const attach = (id: string) => call(installation, 'PUT', `${stackPolicies}/${id}`, { token });

  /** Something that the policy said; with its input, when `sample` is set. */
  async function addDecision(
    id: string,
    change: Parameters<typeof aJudgement>[0] = {},
    about: { runId?: string; subject?: string } = {},
  ) {
    const policy = await installation.policies.web.policies.find(id);
    if (!policy) throw new Error('the policy is gone');
    const subject = { accountId: 11, stackKey: stack.key, runId: null, subject: 'the plan', ...about };
    const { decisions } = installation.policies.stores;
    const packed = await decisions.packSample(Buffer.from('{"a":1}'));
    return installation.database.write((tx) =>
      decisions.record(tx, aJudgement({ policy, ...change }), subject, packed),
    );
  }

  const submit = async (path: string, fields: Record<string, string> = {}) =>
    all.post(path, { form_token: await all.formToken(), ...fields });

  return {
    ...all,
    ...{ stack, addPolicy, attach, addDecision, submit, token },
    [Symbol.asyncDispose]: () => all[Symbol.asyncDispose](),
  };
}

/** What a page says, without markup. */
export const plain = (text: string): string =>
  text
    .replace(/<(?:script|style)[\s\S]*?<\/(?:script|style)>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
