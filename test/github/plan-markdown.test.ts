import { describe, expect, it, test } from 'vitest';
import { maxTextBytes, planMarkdown } from '../../src/github/feedback/plan-markdown.ts';
import { unknownText } from '../../src/runs/plan/plan-value.ts';
import { addressStep, rootOutputs } from '../runs/plan/terraform-steps.ts';
import { fc } from '../support/fast-check.ts';

const detailsUrl = 'https://slipway.test/runs/01J';

function step(op: string, name: string, old: unknown, now: unknown, type = 'aws:s3/bucket:Bucket') {
  const urn = `urn:pulumi:dev::shop::${type}::${name}`;
  const state = (inputs: unknown) => (inputs === null ? null : { inputs, outputs: { arn: 'x' } });
  return { op, provider: '', type, urn, old: state(old), new: state(now) };
}

const shown = (steps: readonly unknown[], maxBytes?: number) =>
  planMarkdown(steps, { detailsUrl, ...(maxBytes === undefined ? {} : { maxBytes }) }) ?? '';

/** The lines of the one diff. */
const diffOf = (old: unknown, now: unknown) =>
  /```+diff\n(.*)\n```+\n\n<\/details>/s.exec(shown([step('update', 'logs', old, now)]))?.[1]?.split('\n');

describe('a plan', () => {
  it('is a table of what changes and how each resource differs', () => {
    const text = shown([
      step('same', 'quiet', { a: 1 }, { a: 1 }),
      step('refresh', 'looked-at', { a: 1 }, { a: 2 }),
      step('create', 'logs', null, { acl: 'private', tags: { env: 'prod' } }),
      step('update', 'data::v2', { acl: 'private', size: 1, key: '[secret]' }, { acl: 'public', size: 1 }),
      step('delete', 'old', { acl: 'private' }, null),
    ]);

    expect(text).toBe(`<table>
<tr><th>Change</th><th>Resource</th><th>Type</th></tr>
<tr><td>create</td><td><code>logs</code></td><td><code>aws:s3/bucket:Bucket</code></td></tr>
<tr><td>update</td><td><code>data::v2</code></td><td><code>aws:s3/bucket:Bucket</code></td></tr>
<tr><td><b>delete</b></td><td><code>old</code></td><td><code>aws:s3/bucket:Bucket</code></td></tr>
</table>

<details><summary>create <code>logs</code> <code>aws:s3/bucket:Bucket</code></summary>

\`\`\`diff
+ acl: "private"
+ tags: {env: "prod"}
\`\`\`

</details>

<details><summary>update <code>data::v2</code> <code>aws:s3/bucket:Bucket</code></summary>

\`\`\`diff
- acl: "private"
+ acl: "public"
- key: [secret]
\`\`\`

</details>

<details><summary><b>delete</b> <code>old</code> <code>aws:s3/bucket:Bucket</code></summary>

\`\`\`diff
- acl: "private"
\`\`\`

</details>`);
  });

  it('shows a replacement once, in whatever order its halves come, and a left-over half as a delete', () => {
    const text = shown([
      step('create-replacement', 'first', { size: 1 }, { size: 2 }),
      step('delete-replaced', 'first', { size: 1 }, null),
      step('delete-replaced', 'second', { size: 1 }, null),
      step('create-replacement', 'second', { size: 1 }, { size: 2 }),
      step('delete-replaced', 'left-over', { size: 1 }, null),
    ]);

    const rows = [...text.matchAll(/<tr><td><b>(\w+)<\/b><\/td><td><code>(.*?)<\/code>/g)];
    expect(rows.map(([, op, name]) => `${op} ${name}`)).toEqual([
      'replace first',
      'replace second',
      'delete left-over',
    ]);
    expect(text.match(/^- size: 1\n\+ size: 2$/gm)).toHaveLength(2);
  });

  it('tells of outputs of the stack that change, and of values that nobody knows yet', () => {
    const urn = 'urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev';
    const unknown = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';
    const state = (outputs: unknown) => ({ inputs: {}, outputs });
    const text = shown([
      {
        op: 'same',
        urn,
        type: 'pulumi:pulumi:Stack',
        old: state({ url: 'a' }),
        new: state({ url: unknown }),
      },
    ]);

    expect(text).toContain('<tr><td>outputs</td><td><code>shop-dev</code></td>');
    expect(text).toContain('- url: "a"\n+ url: (known after apply)');
  });

  it('names resources of Terraform by their addresses, and says what moves', () => {
    const one = 'module.net.terraform_data.a["<b>"]';
    const text = shown([
      addressStep(
        'update',
        one,
        { input: 'a' },
        { input: unknownText },
        { parent: 'module.net', from: 'x`.y\n' },
      ),
      addressStep('same', 'terraform_data.b', {}, {}, { from: 'terraform_data.a' }),
      rootOutputs({}, { url: '[secret]' }),
    ]);

    expect([...text.matchAll(/<tr><td>(.*?)<\/td>/g)].map(([, op]) => op)).toEqual([
      'update',
      'move',
      'outputs',
    ]);
    expect(text).toContain(
      '<code>module.net.terraform_data.a[&quot;&lt;b&gt;&quot;]</code></td><td><code>terraform_data</code>',
    );
    expect(text).toContain('  moved from: x`.y\\n\n- input: "a"\n+ input: (known after apply)');
    expect(text).toContain('  moved from: terraform_data.a\n```');
    expect(text).toContain('+ url: [secret]');
  });

  it('is nothing when nothing changes', () => {
    expect(
      planMarkdown([step('same', 'a', {}, {}), step('refresh', 'b', {}, {})], { detailsUrl }),
    ).toBeNull();
    expect(planMarkdown([], { detailsUrl })).toBeNull();
    expect(planMarkdown([null, 1, 'create', [], { op: 1 }, { op: 'toString' }], { detailsUrl })).toBeNull();
  });

  it('says so when there are no inputs to show', () => {
    expect(shown([step('create', 'a', null, {})])).toContain('</summary>\n\nIt has no inputs.\n\n</details>');
    expect(shown([step('update', 'a', { b: 1 }, { b: 1 })])).toContain('Its inputs stay as they are.');
    expect(shown([{ op: 'create' }])).toContain('It has no inputs.');
  });
});

describe('properties', () => {
  test.each<[unknown, unknown, string[]]>([
    [{ a: { b: [1, 2] } }, { a: { b: [1, 3, 4] } }, ['- a.b[1]: 2', '+ a.b[1]: 3', '+ a.b[2]: 4']],
    [{ a: [1] }, { a: { 0: 1 } }, ['- a: [1]', '+ a: {0: 1}']],
    [{ a: null }, { a: false }, ['- a: null', '+ a: false']],
    [{ 'a.b': 1 }, { 'a.b': 2 }, ['- "a.b": 1', '+ "a.b": 2']],
    [{ a: 'x\ny\tz' }, { a: '\u202e\u0000' }, ['- a: "x\\ny\\tz"', '+ a: "\\u{202e}\\u{0}"']],
    [{ __proto__: null, toString: 1 }, { toString: 2 }, ['- toString: 1', '+ toString: 2']],
    [{ a: '[secret]' }, { a: ['[secret]', 1] }, ['- a: [secret]', '+ a: [[secret], 1]']],
  ])('%j → %j', (old, now, lines) => {
    expect(diffOf(old, now)).toEqual(lines);
  });

  it('that are long are shown from where they differ', () => {
    const start = 'a'.repeat(5000);
    const [old = '', now = ''] = diffOf({ policy: `${start}old` }, { policy: `${start}new` }) ?? [];
    expect(old).toBe(`- policy: …"${'a'.repeat(40)}old"`);
    expect(now).toBe(`+ policy: …"${'a'.repeat(40)}new"`);
  });

  it('without end are cut, and that is said', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`p${index}`, index]));
    const lines = diffOf({}, many);
    expect(lines).toHaveLength(101);
    expect(lines?.at(-1)).toBe('  … and more');
  });

  it('that are nested without end are not followed', () => {
    const nested = (end: unknown) =>
      JSON.parse(`${'{"a":'.repeat(50_000)}${JSON.stringify(end)}${'}'.repeat(50_000)}`);
    expect(diffOf(nested(1), nested(2))).toEqual([
      `  ${'a.'.repeat(12).slice(0, -1)}: nested too deep to be compared here`,
    ]);
    expect(diffOf({}, nested(1))?.[0]).toMatch(/^\+ a: (\{a: )+\{…\}+$/);
  });
});

describe('what does not fit', () => {
  const steps = Array.from({ length: 10_000 }, (_, index) =>
    step(
      'update',
      `bucket-${index}`,
      { index, text: 'x'.repeat(2000) },
      { index: -1, text: 'y'.repeat(2000) },
    ),
  );

  it('is counted, at the end of a resource, with a link', () => {
    const text = shown(steps);

    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxTextBytes);
    expect(Buffer.byteLength(text)).toBeGreaterThan(maxTextBytes * 0.9);
    const rows = text.match(/^<tr><td>update/gm)?.length ?? 0;
    expect(text).toContain(`<tr><td colspan="3">and ${10_000 - rows} more resources</td></tr>\n</table>`);
    const details = text.match(/^<details>/gm)?.length ?? 0;
    expect(details).toBeGreaterThan(10);
    expect(
      text.endsWith(
        `\n\nThe details of ${10_000 - details} more resources do not fit here: [open the run](${detailsUrl}).`,
      ),
    ).toBe(true);
  });

  it('is not looked at', () => {
    let readPlaces = 0;
    const ownKeys = (target: object) => {
      readPlaces += 1;
      return Reflect.ownKeys(target);
    };
    const watched = steps.map((each) => ({ ...each, new: { inputs: new Proxy({ a: 1 }, { ownKeys }) } }));
    const started = performance.now();
    shown(watched);
    expect(readPlaces).toBeGreaterThan(10);
    expect(readPlaces).toBeLessThan(1000);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('whatever a plan holds', () => {
  const nasty = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc.constantFrom(
      '```',
      '````\n</details>',
      '</code></td></tr></table>',
      '<script>',
      '@octocat',
      '#1',
      '|',
      '\n\n# big',
      '\u0000',
      '\u202e',
      'https://evil.test',
      '![x](https://evil.test/p.png)',
      '`'.repeat(500),
      '&lt;b&gt;',
      '\r\n\r\n@octocat',
      '<!--',
      '-->',
      ']]>',
      '~~~',
      '\ud800',
      'a'.repeat(100_000),
      '__proto__',
    ),
    fc
      .array(fc.constantFrom('`', '\n', '<', '@', '|', '~', ' ', '\\', '&', '>'), { maxLength: 60 })
      .map((all) => all.join('')),
  );
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      nasty,
      fc.double(),
      fc.constantFrom(null, true, '[secret]'),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(nasty, tie('value'), { maxKeys: 4 }),
    ),
  })).value;
  const inputs = fc.option(fc.dictionary(nasty, value, { maxKeys: 6 }));
  const op = fc.constantFrom('create', 'update', 'delete', 'create-replacement', 'delete-replaced', 'same');
  const hostile = fc.tuple(op, nasty, inputs, inputs, nasty).map((each) => step(...each));
  const plan = fc.array(fc.oneof({ weight: 9, arbitrary: hostile }, { weight: 1, arbitrary: value }), {
    maxLength: 30,
  });

  const code = '<code>(?:[^<>"&\\n\\r]|&(?:amp|lt|gt|quot);)*</code>';
  const word = '(?:create|update|outputs|<b>delete</b>|<b>replace</b>)';
  const allowed = new RegExp(
    `^(?:|</?table>|</details>|<tr><th>Change</th><th>Resource</th><th>Type</th></tr>|<tr><td>${word}</td><td>${code}</td><td>${code}</td></tr>` +
      `|<tr><td colspan="3">and \\d+ more resources?</td></tr>|<details><summary>${word} ${code} ${code}</summary>` +
      `|It has no inputs\\.|Its inputs stay as they are\\.|The details of \\d+ more resources? do not fit here: \\[open the run\\]\\(${detailsUrl}\\)\\.)$`,
    'u',
  );

  /** What of the text is not inside a code block, by CommonMark's rule of fences: only a fence as long closes one. */
  function outside(text: string): readonly string[] {
    let fence: string | null = null;
    const lines: string[] = [];
    for (const line of text.split(/\r\n|\n|\r/)) {
      const [, run = '', info = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
      if (fence === null && run !== '') {
        expect(info).toBe('diff');
        fence = run;
      } else if (fence !== null) {
        if (run.startsWith(fence) && info.trim() === '') fence = null;
      } else lines.push(line);
    }
    expect(fence).toBeNull();
    return lines;
  }

  it('stays inside code, fits, and names nobody', () => {
    fc.assert(
      fc.property(plan, fc.constantFrom(maxTextBytes, 4000, 1500), (steps, maxBytes) => {
        const text = shown(steps, maxBytes);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
        for (const line of outside(text)) expect(line).toMatch(allowed);
        const open = text.match(/^<details>/gm)?.length ?? 0;
        expect(text.match(/^<\/details>$/gm)?.length ?? 0).toBe(open);
      }),
      { numRuns: 400 },
    );
  });

  it('differs only where it differs', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (same) => {
        const text = shown([step('update', 'a', same, structuredClone(same))]);
        expect(text).toContain('Its inputs stay as they are.');
      }),
    );
  });
});
