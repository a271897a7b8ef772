import { expect, test } from 'vitest';
import { noHooks } from '../../../../src/stacks/stack.ts';
import { formFields, hostile, openSettings, settings } from './settings-world.ts';

const page = `${settings}/hooks`;

test('commands of a line and of several are shown, and saved as they are typed', async () => {
  await using all = await openSettings('admin');
  const script = 'cat <<EOF\n\n  indented\nEOF';
  await all.installation.stacks.update(all.stack, { hooks: { beforeInit: ['npm ci', script] } });

  const fields = formFields((await all.visit(page)).text, page);
  expect(fields['hooks.beforeInit']).toEqual([`npm ci\n\`\`\`\n${script}\n\`\`\``]);
  const saved = await all.submit(page, {
    ...fields,
    ...{
      'hooks.beforeInit': `\`\`\`\r\n${script.replaceAll('\n', '\r\n')}\r\n\`\`\``,
      'hooks.afterRun': 'a\r\nb',
    },
  });

  expect([saved.answer.status, saved.location]).toEqual([303, page]);
  expect((await all.storedStack())?.hooks).toEqual({
    ...{ ...noHooks, beforeInit: [script], afterRun: ['a', 'b'] },
  });
});

test('a list that nobody touched stays as it is, also what no form can show', async () => {
  await using all = await openSettings('admin');
  const hooks = { beforeInit: ['printf "a\r\nb"'], afterInit: ['true'] };
  await all.installation.stacks.update(all.stack, { hooks });

  const fields = formFields((await all.visit(page)).text, page);
  await all.submit(page, { ...fields, 'hooks.afterInit': 'false' });

  expect((await all.storedStack())?.hooks).toEqual({ ...noHooks, ...hooks, afterInit: ['false'] });
});

test('what is wrong stands beside its list, and everything that was typed is there', async () => {
  await using all = await openSettings('admin');

  const open = await all.submit(page, { 'hooks.beforeInit': '```\nnpm ci', 'hooks.afterRun': hostile });
  const long = await all.submit(page, { 'hooks.beforePlan': `true\n${'x'.repeat(10_001)}` });

  expect([open.answer.status, long.answer.status]).toEqual([422, 422]);
  expect(open.text).toContain('the backticks of line 1 are not closed');
  expect(open.text).toMatch(/id="hooks.beforeInit"[^>]* aria-invalid="true"/);
  expect(formFields(open.text, page)['hooks.afterRun']).toEqual([hostile]);
  expect(open.text).not.toContain('<script>alert');
  expect(long.text).toMatch(/id="hooks.beforePlan-wrong">entry 2: /);
  expect((await all.storedStack())?.hooks).toEqual(noHooks);
});
