import { describe, expect, it } from 'vitest';
import { unknownText } from '../../../src/runs/plan/plan-value.ts';
import type { Run } from '../../../src/runs/run.ts';
import type { StoredPlan } from '../../../src/runs/run-store.ts';
import { recordedPlan, stackStep, step, unknown, urnOf } from '../../runs/plan/plan-steps.ts';
import { addressStep, rootOutputs } from '../../runs/plan/terraform-steps.ts';
import { untilUnconfirmed } from '../installation.ts';
import { savePlan } from '../save-plan.ts';
import { openBrowser } from './browser.ts';

const hostile = `<script>alert(1)</script><img src=x onerror=alert(1)>"'&\u202e`;

/** Somebody who reads is logged in, and there is a run that waits for confirmation, with that plan. */
async function opened(plan: Pick<StoredPlan, 'steps' | 'marks'>) {
  const all = openBrowser();
  const { installation } = all;
  const stack = await installation.addStack('Network Prod');
  const run = await planned(await installation.addRun(stack), plan);
  installation.roles.set('ada', 'reader');
  await all.logIn();

  async function planned(made: Run, its: Pick<StoredPlan, 'steps' | 'marks'>): Promise<Run> {
    await savePlan(installation, made, its);
    return installation.move(made, ...untilUnconfirmed);
  }
  const page = async (query = '', id = run.id) => (await all.visit(`/runs/${id}/plan${query}`)).text;
  return { ...all, stack, run, planned, page, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() };
}

/** What is to be read of each row. */
const rowsOf = (text: string): string[] =>
  [
    ...text.matchAll(
      /<li class="(?:change|quiet) (d\d)">(?:<a[^>]*>|<details><summary>)?(.*?)(?:<\/li>|<\/summary>|<\/a>)/gs,
    ),
  ].map(
    ([, depth, row = '']) =>
      `${depth} ${row
        .replace(/<[^>]*>/g, '')
        .replace(/\s+/g, ' ')
        .trim()}`,
  );

const site = { type: 'acme:index:Site' };

describe('the plan of a run', () => {
  it('is a tree of what changes', async () => {
    await using all = await opened({
      steps: [
        stackStep,
        step('same', 'site', {}, {}, site),
        step(
          'create',
          'logs',
          null,
          { tags: { env: 'prod' }, arn: unknown },
          { parent: urnOf('site', site.type) },
        ),
        step('delete', 'data', { key: '[secret]' }, null),
      ],
    });

    const text = await all.page();

    expect(rowsOf(text)).toEqual([
      'd0 site acme:index:Site',
      'd1 + create logs aws:s3/bucket:Bucket',
      'd0 − delete data aws:s3/bucket:Bucket may hold data',
    ]);
    expect(text).toContain('<span class="path">tags.env</span>\n<ins>&quot;prod&quot;</ins>');
    expect(text).toContain('<ins class="later">known after apply</ins>');
    expect(text).toContain('<del><span class="secret">[secret]</span></del>');
  });

  it('shows addresses of Terraform below their modules, and what moves', async () => {
    const parent = 'module.net["a.b"]';
    await using all = await opened({
      steps: [
        addressStep('create', 'terraform_data.top', null, { input: 'x' }),
        addressStep(
          'update',
          `${parent}.aws_s3_bucket.logs[0]`,
          { a: 1 },
          { a: unknownText },
          { parent, type: 'aws_s3_bucket' },
        ),
        addressStep('same', `${parent}.terraform_data.moved`, {}, {}, { parent, from: 'terraform_data.was' }),
        rootOutputs({ url: 'a' }, { url: '[secret]' }),
      ],
    });

    const text = await all.page();

    expect(rowsOf(text)).toEqual([
      'd0 + create terraform_data.top',
      'd0 module.net[&quot;a.b&quot;]',
      'd1 ~ update aws_s3_bucket.logs[0]',
      'd1 ↷ move terraform_data.moved',
      'd0 → outputs outputs terraform:outputs',
    ]);
    expect(text).toContain('Until now it is <code class="urn">terraform_data.was</code>.');
    expect(text).toContain('<ins class="later">known after apply</ins>');
    expect(rowsOf(await all.page(`?text=${encodeURIComponent(`${parent}.aws`)}`))).toHaveLength(2);
  });

  it('shows hostile and endless addresses as text', async () => {
    const parent = `module.a["${hostile}"]`;
    const name = `${parent}.terraform_data.ü["${'x'.repeat(3000)}"]`;
    await using all = await opened({
      steps: [addressStep('same', name, {}, {}, { parent, from: `${hostile}\n${name}` })],
    });

    const text = await all.page();

    expect(text).not.toContain('<script>alert');
    expect(text).not.toContain('<img');
    expect(text).not.toContain('\u202e');
    expect(Math.max(...rowsOf(text).map(({ length }) => length))).toBeLessThan(400);
  });

  it('says what forces a replacement and what is protected, as the real tool does', async () => {
    await using all = await opened(await recordedPlan('replace-create-first'));
    const text = await all.page('?op=replace');

    expect(rowsOf(text)).toEqual([
      'd0 sample-dev pulumi:pulumi:Stack',
      'd1 ± replace one pulumi:index:Stash',
    ]);
    expect(text).toContain('because of <code>input</code>');
    expect(text).toContain(
      '<span class="path">input</span> <span class="tag forces">forces replacement</span>',
    );
    expect(text).toContain(
      '<del>&quot;2&quot;</del> <span aria-hidden="true">→</span> <ins>&quot;3&quot;</ins>',
    );
  });

  it('is filtered by links and a form, without scripts', async () => {
    await using all = await opened({
      steps: ['one', 'two'].flatMap((name) => [
        step('create', name, null, {}),
        step('delete', `old-${name}`, {}, null),
      ]),
    });
    const whole = await all.page();
    const links = [...whole.matchAll(/<div class="ops">.*?<\/div>/gs)].join('').matchAll(/href="([^"]+)"/g);

    expect([...links].map(([, href]) => href)).toEqual([
      `/runs/${all.run.id}/plan`,
      `/runs/${all.run.id}/plan?op=create`,
      `/runs/${all.run.id}/plan?op=delete`,
    ]);
    const filtered = await all.page('?op=delete&text=TWO');
    expect(rowsOf(filtered)).toEqual(['d0 − delete old-two aws:s3/bucket:Bucket may hold data']);
    expect(filtered).toContain('1 of 4 changes');
    expect(filtered).toContain('name="text" value="TWO"');
    expect(await all.page('?text=none')).toContain('No change of the plan is like that.');
  });

  it('shows what people and programs write as text', async () => {
    await using all = await opened({
      steps: [
        step('same', hostile, {}, {}, site),
        step(
          'update',
          hostile,
          { [hostile]: 'a', long: `${hostile}\n1` },
          { [hostile]: hostile, long: `${hostile}\n2`, new: { [hostile]: [hostile] } },
          { type: hostile, parent: urnOf(hostile, site.type) },
        ),
      ],
      marks: [{ urn: urnOf(hostile, hostile), replacedFor: [hostile], isProtected: true }],
    });

    for (const query of [
      '',
      `?text=${encodeURIComponent(hostile.slice(0, 20))}`,
      `?op=${encodeURIComponent(hostile)}`,
    ]) {
      const text = await all.page(query);
      expect(text).toContain('&lt;script&gt;');
      expect(text).not.toContain('<script>alert');
      expect(text).not.toContain('<img src=x');
      // What turns the direction of the text about would make one value look like another.
      expect(text).not.toContain('\u202e');
    }
  });

  it('of 10,000 changes is light, and shows the rest page by page', async () => {
    const steps = Array.from({ length: 10_000 }, (_, index) =>
      step(
        'update',
        `bucket-${index}`,
        { index, text: 'x'.repeat(500) },
        { index: -1, text: 'y'.repeat(500) },
      ),
    );
    await using all = await opened({ steps });

    const text = await all.page();

    expect(Buffer.byteLength(text)).toBeLessThan(150_000);
    expect(rowsOf(text)).toHaveLength(150);
    expect(text).toContain('150 of 10000 changes are on this page.');
    const [, next = ''] = /href="([^"]+)">Next changes</.exec(text) ?? [];
    const second = (await all.visit(next.replaceAll('&amp;', '&'))).text;
    expect(rowsOf(second)[0]).toBe('d0 ~ update bucket-150 aws:s3/bucket:Bucket');
    // Properties that do not fit are behind a link.
    const [, alone = ''] = /<a class="row" href="([^"]+)">/.exec(text) ?? [];
    expect((await all.visit(alone.replaceAll('&amp;', '&'))).text).toContain(
      '<span class="path">index</span>',
    );
  });

  it('says when there is nothing, or nothing that could be shown', async () => {
    await using all = await opened({ steps: [stackStep] });
    expect(await all.page()).toContain('but the tool has something to do');
    const task = await all.installation.addRun(all.stack, 'PROPOSED');
    expect(await all.page('', task.id)).toContain('Nothing is planned yet.');
  });
});

describe('what is new about a plan', () => {
  it('is said at its top and marked, however often it is looked at', async () => {
    await using all = await opened({
      steps: [
        step('create', 'stays', null, {}),
        step('update', 'other', { a: 1 }, { a: 2 }),
        step('delete', hostile, {}, null),
      ],
    });
    expect(await all.page()).not.toContain('that you looked at');
    await all.installation.move(all.run, { kind: 'discard' });
    const later = await all.planned(await all.installation.addRun(all.stack), {
      steps: [
        step('create', 'stays', null, {}),
        step('update', 'other', { a: 1 }, { a: 3 }),
        step('create', 'new', null, {}),
      ],
    });

    for (const text of [await all.page('', later.id), await all.page('', later.id)]) {
      expect(text.replace(/<[^>]*>/g, '')).toContain(
        'that you looked at just now: 1 new change, 1 gone, 1 different.',
      );
      expect(rowsOf(text)).toEqual([
        'd0 + create stays aws:s3/bucket:Bucket',
        'd0 ~ update other aws:s3/bucket:Bucket different',
        'd0 + create new aws:s3/bucket:Bucket new',
      ]);
      expect(text).not.toContain('<script>alert');
    }
  });
});
