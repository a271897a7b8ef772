import { describe, expect, test } from 'vitest';
import {
  type CommentSettings,
  type CommentView,
  commentBody,
  markerOf,
} from '../../../src/github/feedback/comment/comment-body.ts';
import { maxCommentLength } from '../../../src/github/feedback/comment/issue-comment.ts';
import type { StackView } from '../../../src/github/feedback/comment/rows.ts';
import { type Run, runStates } from '../../../src/runs/run.ts';
import { aCommit, aRun } from '../../support/builders.ts';
import { fc } from '../../support/fast-check.ts';

const settings: CommentSettings = {
  publicUrl: 'https://slipway.example.com',
  checksUrl: 'https://github.example/acme/infra/pull/7/checks',
  headHash: aCommit().hash,
  isSandboxed: true,
};
const delta = { added: 3, changed: 2, deleted: 1, resources: 9 };
const planned = { delta, planLikeness: 'ab'.repeat(32) };

const preview = (id: string, change: Partial<Run> = {}): Run =>
  aRun({ id, type: 'PROPOSED', state: 'FINISHED', branch: 'topic', ...change });
const stack = (id: string, change: Partial<StackView> = {}): StackView => ({
  ...{ id, showsDetails: true, preview: preview(`of-${id}`), deploying: null },
  ...change,
});
const body = (view: Partial<CommentView> = {}, change: Partial<CommentSettings> = {}) =>
  commentBody(
    { repositoryId: 21, number: 7, stacks: [], objections: [], answer: null, ...view },
    { ...settings, ...change },
  );
/** Of each row its cells, without the links. */
const cells = (text: string | null) =>
  [...(text ?? '').matchAll(/<tr>(<td>.*?)<\/tr>/g)].map(([, row = '']) =>
    row
      .split('</td>')
      .slice(0, -1)
      .map((cell) => cell.replace(/<\/?(td|a|code)\b[^>]*>/g, '')),
  );

describe('the comment of a pull request', () => {
  test('is a table of stacks below a marker', () => {
    expect(body({ stacks: [stack('network', { preview: preview('run-1', { delta }) })] })).toBe(
      `<!-- slipway:pull-request:21:7 -->
### Slipway

<table>
<tr><th>Stack</th><th>Run</th><th>State</th><th>Changes</th><th>Commit</th></tr>
<tr><td><a href="https://slipway.example.com/runs/run-1"><code>network</code></a></td><td>preview</td><td>Previewed</td><td><code>+3 ~2 -1</code></td><td><a href="${aCommit().url}"><code>1f0c2b3</code></a></td></tr>
</table>`,
    );
  });

  test('is nothing without runs and without an answer', () => {
    expect(body()).toBeNull();
    expect(body({ stacks: [stack('a', { preview: null })] })).toBeNull();
    expect(body({ answer: 'Help is on its way.' })).toBe(
      '<!-- slipway:pull-request:21:7 -->\n### Slipway\n\n---\n\nHelp is on its way.',
    );
  });

  test('holds the latest answer below the table', () => {
    expect(body({ stacks: [stack('a')], answer: 'Run 1 is confirmed.' })).toMatch(
      /<\/table>\n\n---\n\nRun 1 is confirmed\.$/,
    );
  });

  test('says first what needs somebody, then what is under way, then the rest by name', () => {
    const deploying = (state: Run['state']) => ({ deploying: aRun({ id: state, state }) });
    const text = body({
      stacks: [
        stack('zoo'),
        stack('idle', { preview: null, ...deploying('FINISHED') }),
        stack('busy', { preview: null, ...deploying('APPLYING') }),
        stack('broken', { preview: preview('x', { state: 'FAILED', outcome: 'tool_failed' }) }),
        stack('waiting', deploying('UNCONFIRMED')),
        stack('ahead', { preview: preview('y', { state: 'QUEUED' }) }),
      ],
    });

    expect(cells(text).map(([name, kind, state]) => `${name} ${kind}: ${state}`)).toEqual([
      'waiting deployment: <b>Waiting for confirmation</b>',
      'broken preview: <b>Failed</b>. The tool reported a failure.',
      'ahead preview: Queued',
      'busy deployment: Applying',
      'idle deployment: Applied',
      'waiting preview: Previewed',
      'zoo preview: Previewed',
    ]);
  });

  test('shows stacks in one row that are as far and would change the same', () => {
    const alike = (id: string, change: Partial<Run> = {}) =>
      stack(id, { preview: preview(`of-${id}`, { ...planned, ...change }) });
    const text = body({
      stacks: [
        alike('c'),
        alike('a'),
        alike('b'),
        alike('other-plan', { planLikeness: 'cd'.repeat(32) }),
        alike('other-state', { state: 'FAILED', outcome: 'timeout' }),
        alike('other-commit', { commit: aCommit({ hash: 'f'.repeat(40) }) }),
        alike('without-secrets', { isUntrusted: true }),
        stack('no-plan'),
        stack('no-plan-either'),
      ],
    });

    const rows = cells(text).map(([name]) => name);
    expect(rows).toEqual([
      'other-state',
      '3 stacks: a, b, c',
      'no-plan',
      'no-plan-either',
      'other-commit',
      'other-plan',
      'without-secrets',
    ]);
    expect(cells(text)[1]?.[3]).toBe('+3 ~2 -1');
    expect(text).toContain('<a href="https://slipway.example.com/runs/of-b"><code>b</code></a>');
  });

  test('does not say on a public repository whose plans are alike', () => {
    const hidden = (id: string) => stack(id, { showsDetails: false, preview: preview(id, planned) });

    expect(cells(body({ stacks: [hidden('a'), hidden('b')] })).map(([name]) => name)).toEqual(['a', 'b']);
  });

  test('holds nothing of a run but its state, counts and links', () => {
    const run = preview('x', {
      ...{ state: 'FAILED', note: 'the note', command: 'the command', triggeredBy: 'the person' },
      ...{ outcome: 'tool_failed', branch: 'the branch' },
      commit: aCommit({ message: 'the message', authorName: 'the author', authorLogin: 'the login' }),
    });

    expect(body({ stacks: [stack('a', { preview: run })] })).not.toMatch(/the (note|comm|per|br|me|au|lo)/);
  });

  test('counts the names of many stacks whose plans are alike', () => {
    const stacks = Array.from({ length: 1000 }, (_, at) =>
      stack(`stack-${String(at).padStart(3, '0')}`, { preview: preview(`run-${at}`, planned) }),
    );

    const [row] = cells(body({ stacks }));

    expect(row?.[0]).toMatch(/^1000 stacks: stack-000, .*, stack-019 and 980 more$/);
  });

  test('shows so many rows as fit, and counts the rest', () => {
    const stacks = Array.from({ length: 1000 }, (_, at) => stack(`stack-${at}`));

    const text = body({ stacks, answer: 'x '.repeat(40_000) }) ?? '';

    const shown = cells(text).length;
    expect(shown).toBeGreaterThan(100);
    const rest = `${1000 - shown} more runs do not fit here: [see the checks](${settings.checksUrl}).`;
    expect(text).toContain(rest);
    expect(text.length).toBeLessThanOrEqual(maxCommentLength);
  });

  test('says of a preview, and of nothing else, that it is not of the newest commit', () => {
    const stacks = [stack('a', { deploying: aRun({ state: 'FINISHED' }) })];
    const commits = (headHash: string | null) => cells(body({ stacks }, { headHash })).map((row) => row[4]);

    expect(commits('f'.repeat(40))).toEqual(['1f0c2b3 (not the newest)', '1f0c2b3']);
    expect(commits(aCommit().hash)).toEqual(['1f0c2b3', '1f0c2b3']);
    expect(commits(null)).toEqual(['1f0c2b3', '1f0c2b3']);
  });

  test('says so where there is no sandbox, and where a run had no secrets', () => {
    const stacks = [stack('a', { preview: preview('x', { isUntrusted: true }) })];

    const text = body({ stacks }, { isSandboxed: false });

    expect(text).toContain('**This server runs the tools without a sandbox.**');
    expect(cells(text)[0]?.[2]).toBe('Previewed, without secrets');
  });

  test('links to nothing that is no web page', () => {
    const commit = aCommit({ url: 'javascript:alert(1)' });
    const quoted = aCommit({ url: 'https://x.example/"><script>' });
    const stacks = [commit, quoted].map((each, at) =>
      stack(`s${at}`, { preview: preview(`x${at}`, { commit: each }) }),
    );

    expect(body({ stacks })).not.toMatch(/javascript|script>/);
  });
});

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom(
    '@acme/all',
    '</code></td></tr></table><h1>',
    '| a | b |',
    '```',
    '\n\n# Title',
    '<!--',
    '&lt;',
  ),
  fc.stringMatching(/^[`|<>@#&"'\n\r]{1,80}$/),
);
const anyRun = fc
  .record({
    state: fc.constantFrom(...runStates),
    type: fc.constantFrom('PROPOSED' as const, 'TRACKED' as const, 'TASK' as const, 'DESTROY' as const),
    text: hostile,
    likeness: fc.option(fc.constantFrom('a', 'b'), { nil: null }),
    hasDelta: fc.boolean(),
  })
  .map(({ state, type, text, likeness, hasDelta }) =>
    aRun({
      ...{ state, type, note: text, command: text, triggeredBy: text, branch: text },
      ...(likeness === null ? {} : { planLikeness: likeness }),
      ...(hasDelta ? { delta } : {}),
      commit: aCommit({ message: text, hash: text, url: text }),
    }),
  );
const anyStacks = fc.array(
  fc.record({
    id: hostile,
    showsDetails: fc.boolean(),
    preview: fc.option(anyRun, { nil: null }),
    deploying: fc.option(anyRun, { nil: null }),
  }),
  { maxLength: 60 },
);
const answerLine = fc.oneof(hostile, fc.constantFrom('```diff', '<details>', 'x'.repeat(9000)));
const anyAnswer = fc.option(
  fc.array(answerLine, { maxLength: 30 }).map((lines) => lines.join('\n')),
  { nil: null },
);

describe('whatever stacks are called and runs are about', () => {
  test('the comment begins with its marker and is not too long', () => {
    fc.assert(
      fc.property(anyStacks, anyAnswer, (stacks, answer) => {
        const text = body({ stacks, answer });
        if (text === null) return;
        expect(text.startsWith(`${markerOf({ repositoryId: 21, number: 7 })}\n`)).toBe(true);
        expect(text.length).toBeLessThanOrEqual(maxCommentLength);
      }),
    );
  });

  test('each row is one line of five cells, and all that is not ours is inside code', () => {
    const cell = /<td>((?:[^<]|<(?!\/td>))*)<\/td>/g;
    const ours =
      /<a href="https?:\/\/[^\s"<>]+">|<\/a>|<b>|<\/b>|<code>(?:[^<>&"]|&(?:amp|lt|gt|quot);)*<\/code>/g;
    fc.assert(
      fc.property(anyStacks, (stacks) => {
        const lines = body({ stacks })?.split(/\r\n?|[\n\u2028\u2029\u0085]/) ?? [];
        const rows = lines.slice(lines.indexOf('<table>') + 2, lines.indexOf('</table>'));
        for (const row of rows) {
          const inside = /^<tr>(.*)<\/tr>$/.exec(row)?.[1] ?? '';
          const found = [...inside.matchAll(cell)];
          expect(found.map(([whole]) => whole).join('')).toBe(inside);
          expect(found).toHaveLength(5);
          for (const [, content = ''] of found) {
            expect(content.replace(ours, '')).toMatch(/^[A-Za-z0-9 ,.:()-]*$/);
          }
        }
      }),
    );
  });

  test('what is below the table stands outside of it', () => {
    fc.assert(
      fc.property(anyStacks, (stacks) => {
        const text = body({ stacks, answer: 'The answer.' }) ?? '';
        expect(text).toMatch(/\n\n---\n\nThe answer\.$/);
        expect(text.split('</table>')).toHaveLength(text.split('<table>').length);
      }),
    );
  });
});
