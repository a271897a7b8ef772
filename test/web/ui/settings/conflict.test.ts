import { expect, test } from 'vitest';
import type { Actor } from '../../../../src/access/actor.ts';
import { fieldValues } from '../../../../src/web/ui/draft.ts';
import { createInProcessApi } from '../../../../src/web/ui/in-process-api.ts';
import type { Form } from '../../../../src/web/ui/page-routes.ts';
import { saveGeneral } from '../../../../src/web/ui/pages/settings/general.ts';
import { saveHooks } from '../../../../src/web/ui/pages/settings/hooks.ts';
import { apiRequest } from '../../installation.ts';
import { formFields, openSettings, settings } from './settings-world.ts';

/** The API of a server where every change is too late: somebody was faster. */
async function opened() {
  const all = await openSettings('admin');
  const session = await all.installation.sessions.authenticate(all.jar.get('__Host-slipway') ?? '');
  if (!session) throw new Error('nobody is logged in');
  const ifMatch: (string | null)[] = [];
  const operator: Actor = { kind: 'operator' };

  async function answer(request: Request): Promise<Response> {
    if (request.method === 'PATCH') {
      ifMatch.push(request.headers.get('if-match'));
      const problem = { code: 'precondition-failed', detail: 'It is another by now.' };
      return Response.json(problem, { status: 412 });
    }
    const { pathname, search } = new URL(request.url);
    const read = await all.installation.web.fetchAs(operator, apiRequest('GET', `${pathname}${search}`));
    return new Response(read.body, { headers: { 'content-type': 'application/json', etag: '"now"' } });
  }

  const form = (fields: Record<string, string | string[]>): Form => ({
    ...fieldValues(fields),
    session,
    api: createInProcessApi(answer),
    nowMs: 0,
    githubUrl: 'https://github.example',
    publicUrl: 'https://slipway.example.com',
    isInstanceAdmin: false,
    param: (name) => ({ account: 'acme', stack: 'network-prod' })[name] ?? '',
    query: () => undefined,
  });
  return { ...all, form, ifMatch, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

test('who was too late sees what they typed and what is stored now, and may save again', async () => {
  await using all = await opened();
  const fields = formFields((await all.visit(settings)).text, settings);
  await all.installation.stacks.update(all.stack, { description: 'by somebody else' });

  const typed = { ...fields, description: 'mine', name: 'Mine', etag: '"then"' };
  const result = await saveGeneral(all.form(typed));

  if (!('page' in result)) throw new Error('it was saved');
  const text = String(await result.page.body);
  expect([result.status, all.ifMatch]).toEqual([412, ['"then"']]);
  expect(text).toContain('Somebody changed it meanwhile');
  expect(text).toContain('Stored now: <pre>by somebody else</pre>');
  expect(text).toContain('Stored now: <pre>Network Prod</pre>');
  expect(text.match(/Stored now/g)).toHaveLength(2);
  expect(formFields(text, settings)).toMatchObject({
    ...{ description: ['mine'], name: ['Mine'], etag: ['"now"'] },
  });
});

test('the same with hooks', async () => {
  await using all = await opened();
  await all.installation.stacks.update(all.stack, { hooks: { beforeInit: ['npm ci'] } });

  const result = await saveHooks(all.form({ 'hooks.beforeInit': 'yarn', etag: '"then"' }));

  if (!('page' in result)) throw new Error('it was saved');
  const text = String(await result.page.body);
  expect([result.status, all.ifMatch]).toEqual([412, ['"then"']]);
  expect(text).toContain('Stored now: <pre>npm ci</pre>');
});
