import { describe, expect, it, test } from 'vitest';
import { answerText, hasOnlyBegun, maxAnswerLength } from '../../../src/github/comments/answer-text.ts';
import { verbFacts, verbs } from '../../../src/runs/comments/verbs.ts';
import type { AnswerBody, CommandAnswer, Refusal, StackStanding } from '../../../src/runs/conversation.ts';
import { fc } from '../../support/fast-check.ts';

const head = { commentId: 1, by: 'ada', verb: 'deploy', glob: null } as const;
const answer = (body: AnswerBody, change: Partial<CommandAnswer> = {}) =>
  ({ ...head, ...body, ...change }) as CommandAnswer;
const textOf = (...given: Parameters<typeof answer>) => answerText(answer(...given));

const run = {
  id: 'R1',
  type: 'TRACKED',
  state: 'UNCONFIRMED',
  url: 'https://slipway.example/runs/R1',
} as const;
const link = 'TRACKED run [UNCONFIRMED](https://slipway.example/runs/R1)';
const [seen, now] = ['a'.repeat(40), 'b'.repeat(40)];
const stacks = { names: ['dns', 'network'], total: 3 };

describe('the answer to help', () => {
  const text = textOf({ kind: 'help' }, { verb: 'help' });

  it.each(verbs)('has a line for %s', (verb) => {
    const lines = text.split('\n').filter((line) => line.startsWith(`- \`/slipway ${verb}`));
    expect(lines).toEqual([`- \`/slipway ${verbFacts[verb].usage}\`: ${verbFacts[verb].does}`]);
  });
});

describe('the answer', () => {
  it.each<[title: string, body: AnswerBody, change: Partial<CommandAnswer>, lines: readonly string[]]>([
    [
      'to what is not understood',
      { kind: 'misunderstood', reason: '"deplyo" is not a command', didYouMean: 'deploy' },
      { verb: null },
      [
        '`/slipway` of `ada`:',
        '',
        '**Not understood:** `"deplyo" is not a command`. Did you mean `/slipway deploy`? `/slipway help` lists what there is.',
      ],
    ],
    [
      'to what is not allowed',
      { kind: 'forbidden', needs: 'writer', role: 'reader' },
      { glob: 'net*' },
      [
        '`/slipway deploy net*` of `ada`:',
        '',
        '**Refused.** `deploy` needs write access to the repository. Your role is reader.',
      ],
    ],
    [
      'to somebody without a role',
      { kind: 'forbidden', needs: 'reader', role: null },
      { verb: null },
      [
        '`/slipway` of `ada`:',
        '',
        '**Refused.** Commands need read access to the repository (on a public one: triage access). You have no role here.',
      ],
    ],
    [
      'for each stack',
      {
        kind: 'acted',
        outcomes: [
          { stack: 'a', kind: 'made', run: { ...run, state: 'QUEUED' }, isUntrusted: false },
          { stack: 'b', kind: 'made', run, isUntrusted: true },
          { stack: 'c', kind: 'moved', run },
          { stack: 'd', kind: 'locked' },
          { stack: 'e', kind: 'unlocked' },
          { stack: 'f', kind: 'refused', refusal: { code: 'not-locked' } },
        ],
      },
      {},
      [
        '`/slipway deploy` of `ada`:',
        '',
        '- `a`: TRACKED run [QUEUED](https://slipway.example/runs/R1) was made.',
        `- \`b\`: ${link} was made, without secrets.`,
        `- \`c\`: the ${link}.`,
        '- `d`: locked: only your own runs start.',
        '- `e`: unlocked.',
        '- `f`: **refused.** The stack is not locked.',
      ],
    ],
    [
      'to explain',
      {
        ...{ kind: 'explained', role: 'reader', changesRepositoryFile: true },
        stacks: [
          {
            stack: 'dns',
            isConcerned: false,
            isUntrusted: false,
            reason: 'no changed path belongs to the stack',
          },
          { stack: 'net', isConcerned: true, isUntrusted: true, reason: 'net/a is below the project root' },
        ],
      },
      { verb: 'explain', by: 'rita' },
      [
        '`/slipway explain` of `rita`:',
        '',
        'Your role is reader. You may not `preview`, `deploy`, `confirm`, `discard`, `approve`, `reject`, `cancel`, `stop`, `retry`, `task`, `lock`, `unlock`: that needs write access to the repository.',
        '',
        'The pull request changes `.github/slipway.yml`. The file counts as it is on the default branch: the change takes effect once it is merged.',
        '',
        '- `net`: **concerned**, without secrets: `net/a is below the project root`',
        '- `dns`: not concerned: `no changed path belongs to the stack`',
      ],
    ],
  ])('%s', (_, body, change, lines) => {
    expect(textOf(body, change).split('\n')).toEqual(lines);
  });

  it.each([
    ['writer', 'To unlock what somebody else has locked needs admin access'],
    ['admin', 'you may give every command.'],
  ] as const)('to explain tells a %s what is missing', (role, words) => {
    expect(textOf({ kind: 'explained', role, stacks: [], changesRepositoryFile: false })).toContain(words);
  });
});

describe('the status of a stack', () => {
  const nothing: StackStanding = {
    stack: 'net',
    run: null,
    delta: null,
    waitsFor: null,
    lock: null,
    note: null,
  };
  const withRun = { ...nothing, run: { ...run, commit: seen, isOfHead: true } };
  const turn = { kind: 'turn', queue: { place: 2, of: 3 } } as const;

  it.each<[title: string, standing: StackStanding, line: string]>([
    ['without a run', nothing, 'no run of this pull request.'],
    ['with one', withRun, `${link} of \`aaaaaaa\`.`],
    [
      'of an older commit, planned, waiting, locked, with a note',
      {
        ...withRun,
        run: { ...withRun.run, isOfHead: false },
        delta: { added: 1, changed: 2, deleted: 3, resources: 9 },
        waitsFor: { kind: 'confirmation' },
        lock: { holder: 'bob', reason: 'release' },
        note: 'first\nsecond',
      },
      `${link} of \`aaaaaaa\`, which is not the head (+1 ~2 -3). Waits for somebody to confirm or discard it. The stack is locked by \`bob\`: \`release\`. \`first\\nsecond\``,
    ],
    [
      'locked, on a public repository',
      { ...nothing, lock: { holder: null, reason: null } },
      'no run of this pull request. The stack is locked.',
    ],
    [
      'that waits for a worker',
      { ...withRun, waitsFor: { kind: 'worker' } },
      `${link} of \`aaaaaaa\`. Waits for a free worker.`,
    ],
    [
      'that waits for a review',
      { ...withRun, waitsFor: { kind: 'approval', reason: null } },
      `${link} of \`aaaaaaa\`. Waits for approval.`,
    ],
    [
      'that waits for another run',
      { ...withRun, waitsFor: { ...turn, blocker: { kind: 'run', run } } },
      `${link} of \`aaaaaaa\`. Waits for the ${link}, 2 of 3 in the queue of the stack.`,
    ],
    [
      'that waits for a lock',
      { ...withRun, waitsFor: { ...turn, blocker: { kind: 'lock' } } },
      `${link} of \`aaaaaaa\`. Waits until the stack is unlocked, 2 of 3 in the queue of the stack.`,
    ],
    [
      'that is next',
      { ...withRun, waitsFor: { kind: 'turn', blocker: null, queue: null } },
      `${link} of \`aaaaaaa\`. Waits for its turn, which is next.`,
    ],
  ])('%s', (_, standing, line) => {
    expect(
      textOf({ kind: 'status', stacks: [standing] })
        .split('\n')
        .slice(2),
    ).toEqual([`- \`net\`: ${line}`]);
  });
});

const refusals = {
  'no-stacks': [{ code: 'no-stacks' }, 'no stack of this repository'],
  'not-concerned': [{ code: 'not-concerned', stacks }, '`dns`, `network` and 1 more'],
  'no-match': [
    { code: 'no-match', glob: 'netwrok', didYouMean: 'network', stacks },
    'No stack is called `netwrok`. Did you mean `network`? There are: `dns`',
  ],
  'glob-too-costly': [{ code: 'glob-too-costly', glob: '**' }, '`**` is too complex'],
  'one-stack-only': [{ code: 'one-stack-only', stacks }, '`/slipway task STACK -- COMMAND`'],
  'pull-request-closed': [{ code: 'pull-request-closed' }, 'is closed. Reopen'],
  'pull-request-merged': [{ code: 'pull-request-merged' }, 'is merged. `/slipway deploy`'],
  'of-a-fork': [{ code: 'of-a-fork' }, 'in a fork'],
  'repository-away': [
    { code: 'repository-away', reason: 'acme/infra is archived' },
    'acme/infra is archived',
  ],
  'forks-not-allowed': [{ code: 'forks-not-allowed' }, '`allowForks`'],
  'other-branch': [
    { code: 'other-branch', base: 'main', branch: 'dev' },
    'is for `main`, the stack follows `dev`',
  ],
  'promotion-off': [{ code: 'promotion-off', branch: 'main' }, 'takes commits of `main`'],
  'not-previewed': [{ code: 'not-previewed' }, '`/slipway preview`'],
  'preview-not-seen': [{ code: 'preview-not-seen', run }, 'had no plan to look at'],
  'head-moved': [{ code: 'head-moved', run, seen, head: now }, 'The head is `bbbbbbb` now'],
  behind: [{ code: 'behind', run, head: now, deployed: seen }, '`bbbbbbb` does not contain `aaaaaaa`'],
  'branch-not-found': [{ code: 'branch-not-found', branch: 'main' }, '`main` that the stack follows'],
  'nothing-waits': [{ code: 'nothing-waits', run }, `No run waits for people; the stack is at its ${link}`],
  'of-another': [{ code: 'of-another', run }, 'not of this pull request'],
  'not-seen-yet': [{ code: 'not-seen-yet', run }, 'after the comment was written'],
  'tear-down': [{ code: 'tear-down', run }, 'with the name of the stack'],
  'no-approval-policies': [{ code: 'no-approval-policies' }, 'The stack has no approval policies'],
  'no-run': [{ code: 'no-run' }, 'had no run of this pull request'],
  'approval-required': [
    { code: 'approval-required', reason: 'two-people has not approved it' },
    '`two-people has not approved it`',
  ],
  'no-run-over': [{ code: 'no-run-over' }, 'no run of this pull request that was over'],
  'wrong-state': [{ code: 'wrong-state', run }, `not possible for the ${link}`],
  locked: [{ code: 'locked', holder: 'bob', reason: 'release' }, 'locked by `bob`: `release`.'],
  'lock-not-yours': [
    { code: 'lock-not-yours', holder: 'bob', reason: null },
    'locked by `bob`. Only the holder',
  ],
  'locked-since': [{ code: 'locked-since', holder: null, reason: null }, 'was locked after the comment'],
  'not-locked': [{ code: 'not-locked' }, 'is not locked'],
  removed: [{ code: 'removed' }, 'removed meanwhile'],
  'done-before': [{ code: 'done-before' }, 'had its run already'],
} as const satisfies { [Code in Refusal['code']]: readonly [Refusal & { code: Code }, string] };

test.each(Object.values(refusals).map(([refusal, words]) => [refusal.code, refusal, words] as const))(
  'a refusal says why and what to do: %s',
  (_, refusal, words) => {
    expect(textOf({ kind: 'refused', refusal })).toContain(words);
    expect(textOf({ kind: 'acted', outcomes: [{ stack: 'x', kind: 'refused', refusal }] })).toContain(words);
  },
);

test('nothing waits, and nothing else is under way', () => {
  expect(textOf({ kind: 'refused', refusal: { code: 'nothing-waits', run: null } })).toContain(
    '**Refused.** No run waits for people.',
  );
});

describe('what came from people', () => {
  const hostile = [
    '@ada',
    '`@ada`',
    '``@ada``',
    '`',
    '```\n@ada\n```',
    '<img src=x onerror=alert(1)>',
    '</details>',
    '<!--',
    '[click](https://evil.example)',
    '![x](https://evil.example/x.png)',
    'acme/infra#1 #2 https://evil.example',
    '\u202eesrever',
    '- a\n- b',
    ' ` ',
  ];

  /** Without what is in code: a run of backticks up to the next run of the same length, as CommonMark has it. */
  function outsideCode(line: string): string {
    let rest = line;
    let outside = '';
    for (let open = /`+/.exec(rest); open; open = /`+/.exec(rest)) {
      const behind = rest.slice(open.index + open[0].length);
      const close = [...behind.matchAll(/`+/g)].find(([ticks]) => ticks.length === open?.[0].length);
      expect(close, `unclosed code in ${line}`).toBeDefined();
      outside += rest.slice(0, open.index);
      rest = behind.slice((close?.index ?? 0) + open[0].length);
    }
    return outside + rest;
  }

  const everywhere = (text: string): readonly CommandAnswer[] => [
    answer({ kind: 'misunderstood', reason: text, didYouMean: null }, { by: text, glob: text }),
    answer({
      kind: 'refused',
      refusal: { code: 'no-match', glob: text, didYouMean: text, stacks: { names: [text], total: 1 } },
    }),
    answer({ kind: 'refused', refusal: { code: 'other-branch', base: text, branch: text } }),
    answer({ kind: 'refused', refusal: { code: 'head-moved', run, seen: text, head: text } }),
    answer({
      kind: 'acted',
      outcomes: [{ stack: text, kind: 'refused', refusal: { code: 'locked', holder: text, reason: text } }],
    }),
    answer({
      kind: 'status',
      stacks: [
        {
          stack: text,
          run: null,
          delta: null,
          waitsFor: null,
          lock: { holder: text, reason: text },
          note: text,
        },
      ],
    }),
    answer({
      ...{ kind: 'explained', role: 'admin', changesRepositoryFile: false },
      stacks: [{ stack: text, isConcerned: true, isUntrusted: false, reason: text }],
    }),
  ];

  function expectHarmless(text: string): void {
    const plain = everywhere('x').map((each) => answerText(each).split('\n').map(outsideCode));
    const given = everywhere(text).map((each) => answerText(each).split('\n').map(outsideCode));
    expect(given).toEqual(plain);
    for (const each of everywhere(text)) expect(answerText(each)).not.toMatch(/\u202e|\r/);
  }

  it.each(hostile)('says nothing by itself: %j', expectHarmless);

  it('says nothing by itself, whatever it is', () => {
    const unit = fc.constantFrom(...'`@#<>[]()!*_-~|\\& \n\r\tab/:.\u202e');
    fc.assert(fc.property(fc.string({ unit, minLength: 1, maxLength: 40 }), expectHarmless), {
      numRuns: 500,
    });
  });
});

describe('a long answer', () => {
  const outcomes = Array.from({ length: 500 }, (_, n) => ({
    ...{ stack: `stack-${n}`, kind: 'refused' as const },
    refusal: { code: 'other-branch' as const, base: 'main', branch: 'develop' },
  }));

  it('is cut between two lines, and says so', () => {
    const text = textOf({ kind: 'acted', outcomes });

    expect(text.length).toBeLessThanOrEqual(maxAnswerLength);
    expect(text.length).toBeGreaterThan(maxAnswerLength - 300);
    const [, kept, rest] = /- `stack-(\d+)`: [^\n]+\.\n\n…and (\d+) more lines, [^\n]+$/.exec(text) ?? [];
    expect(Number(kept) + 1 + Number(rest)).toBe(500);
  });

  it('is whole when it fits', () => {
    expect(textOf({ kind: 'acted', outcomes: outcomes.slice(0, 50) })).not.toContain('…');
  });
});

test('only runs that begin leave more to say', () => {
  const made = { stack: 'a', kind: 'made', run, isUntrusted: false } as const;
  expect(hasOnlyBegun(answer({ kind: 'acted', outcomes: [made, made] }))).toBe(true);
  expect(hasOnlyBegun(answer({ kind: 'acted', outcomes: [made, { stack: 'b', kind: 'locked' }] }))).toBe(
    false,
  );
  expect(hasOnlyBegun(answer({ kind: 'help' }))).toBe(false);
});
