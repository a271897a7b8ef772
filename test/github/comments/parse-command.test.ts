import { describe, expect, it, test } from 'vitest';
import { parseCommand } from '../../../src/github/comments/parse-command.ts';
import { verbs } from '../../../src/runs/comments/verbs.ts';
import { fc } from '../../support/fast-check.ts';

const command = (verb: string, stacks: string | null = null, task: string | null = null) => ({
  kind: 'command',
  ...{ verb, stacks, task },
});
const none = { kind: 'none' };

describe('every command', () => {
  const plain = verbs.filter((verb) => verb !== 'task');
  it.each(plain)('%s, alone and with a stack', (verb) => {
    expect(parseCommand(`/slipway ${verb}`)).toEqual(command(verb));
    expect(parseCommand(`/slipway ${verb} network-prod`)).toEqual(command(verb, 'network-prod'));
    expect(parseCommand(`/slipway ${verb} {a,b}-*`)).toEqual(command(verb, '{a,b}-*'));
  });

  it.each(plain)('%s takes no second stack, no command and no options', (verb) => {
    expect(parseCommand(`/slipway ${verb} one two`)).toMatchObject({ kind: 'misunderstood' });
    expect(parseCommand(`/slipway ${verb} -- ls`)).toMatchObject({ kind: 'misunderstood' });
    expect(parseCommand(`/slipway ${verb} --force`)).toMatchObject({ kind: 'misunderstood' });
  });
});

describe('recognised', () => {
  it.each<[body: string, expected: object]>([
    // alone
    ['/slipway', command('help')],
    ['/slipway ', command('help')],
    ['/slipway\t', command('help')],
    ['/slipway\n', command('help')],
    ['/slipway\r\n', command('help')],
    ['  /slipway  ', command('help')],
    ['/slipway\n/slipway deploy', command('help')],
    // blanks
    [' /slipway preview', command('preview')],
    ['\t/slipway preview', command('preview')],
    ['    /slipway preview', command('preview')],
    ['/slipway preview ', command('preview')],
    ['/slipway preview\t\t', command('preview')],
    ['/slipway  preview', command('preview')],
    ['/slipway\tpreview', command('preview')],
    ['/slipway \t preview \t network', command('preview', 'network')],
    // line ends
    ['/slipway preview\n', command('preview')],
    ['/slipway preview\r\n', command('preview')],
    ['/slipway preview\r', command('preview')],
    ['/slipway preview \r\n', command('preview')],
    ['/slipway preview\n\n', command('preview')],
    ['/slipway preview\r\n\r\n', command('preview')],
    // what follows on later lines is for people
    ['/slipway deploy\nThanks, looks good.', command('deploy')],
    ['/slipway deploy\n\n> /slipway discard', command('deploy')],
    ['/slipway deploy\n/slipway discard', command('deploy')],
    ['/slipway deploy\n```\n/slipway discard\n```', command('deploy')],
    ['/slipway deploy network\r\nplease', command('deploy', 'network')],
    // stacks
    ['/slipway deploy network-prod', command('deploy', 'network-prod')],
    ['/slipway deploy *', command('deploy', '*')],
    ['/slipway deploy network-*', command('deploy', 'network-*')],
    ['/slipway deploy network-?', command('deploy', 'network-?')],
    ['/slipway deploy network-[ab]', command('deploy', 'network-[ab]')],
    ['/slipway deploy {network,dns}-prod', command('deploy', '{network,dns}-prod')],
    ['/slipway deploy 1', command('deploy', '1')],
    ['/slipway deploy deploy', command('deploy', 'deploy')],
    ['/slipway status help', command('status', 'help')],
    ['/slipway deploy Network', command('deploy', 'Network')],
    ['/slipway deploy @ada', command('deploy', '@ada')],
    ['/slipway deploy `network`', command('deploy', '`network`')],
    ['/slipway deploy nétwork', command('deploy', 'nétwork')],
    // tasks
    ['/slipway task -- pulumi stack ls', command('task', null, 'pulumi stack ls')],
    ['/slipway task network -- pulumi stack ls', command('task', 'network', 'pulumi stack ls')],
    ['/slipway task network-* -- ls', command('task', 'network-*', 'ls')],
    ['/slipway task --  ls   -l  ', command('task', null, 'ls   -l')],
    ['/slipway task --\tls', command('task', null, 'ls')],
    ['/slipway task -- ls -- a', command('task', null, 'ls -- a')],
    ['/slipway task -- -- a', command('task', null, '-- a')],
    ['/slipway task -- --help', command('task', null, '--help')],
    ['/slipway task -- echo "$HOME"; rm -rf /', command('task', null, 'echo "$HOME"; rm -rf /')],
    ['/slipway task -- echo ünï 🚀', command('task', null, 'echo ünï 🚀')],
    ['/slipway task -- ls\nrm -rf /', command('task', null, 'ls')],
    ['/slipway task -- ls \\\n  -l', command('task', null, 'ls \\')],
    ['/slipway task -- /slipway deploy', command('task', null, '/slipway deploy')],
    ['  /slipway   task   network   --   ls  ', command('task', 'network', 'ls')],
    [`/slipway task -- echo ${'x'.repeat(60_000)}`, command('task', null, `echo ${'x'.repeat(60_000)}`)],
    // long bodies
    [`/slipway preview\n${'x'.repeat(65_000)}`, command('preview')],
    [`${' '.repeat(60_000)}/slipway preview`, command('preview')],
    [`/slipway${' '.repeat(60_000)}preview`, command('preview')],
    [`/slipway preview${' '.repeat(60_000)}`, command('preview')],
    [`/slipway preview${'\n'.repeat(60_000)}`, command('preview')],
  ])('%j', (body, expected) => {
    expect(parseCommand(body)).toEqual(expected);
  });
});

describe('not for us', () => {
  it.each([
    '',
    ' ',
    '\n',
    '\r\n',
    'LGTM',
    // an empty first line
    '\n/slipway deploy',
    '\r\n/slipway deploy',
    '\r/slipway deploy',
    '   \n/slipway deploy',
    '\t\n/slipway deploy',
    // later lines
    'Looks good\n/slipway deploy',
    'Looks good\r\n/slipway deploy',
    '> deploy?\n\n/slipway deploy',
    // not in front
    'please /slipway deploy',
    'I would write `/slipway deploy` now',
    '- /slipway deploy',
    '* /slipway deploy',
    '1. /slipway deploy',
    '# /slipway deploy',
    '- [ ] /slipway deploy',
    '(/slipway deploy)',
    '"/slipway deploy"',
    '**/slipway deploy**',
    '_/slipway deploy_',
    '~~/slipway deploy~~',
    // quoted
    '> /slipway deploy',
    '>/slipway deploy',
    '>> /slipway deploy',
    '&gt; /slipway deploy',
    // code
    '`/slipway deploy`',
    '``/slipway deploy``',
    '```\n/slipway deploy\n```',
    '```sh\n/slipway deploy\n```',
    '~~~\n/slipway deploy\n~~~',
    '```/slipway deploy```',
    // html
    '<!-- /slipway deploy -->',
    '<b>/slipway deploy</b>',
    '<details>/slipway deploy</details>',
    // mentions
    '@slipway deploy',
    '@slipway /slipway deploy',
    '@ada /slipway deploy',
    // spelt otherwise
    '/Slipway deploy',
    '/SLIPWAY deploy',
    '/slipWay deploy',
    'slipway deploy',
    '//slipway deploy',
    './slipway deploy',
    '/ slipway deploy',
    '\\slipway deploy',
    '/slipways deploy',
    '/slipway-deploy',
    '/slipway_deploy',
    '/slipwaydeploy',
    '/slipway.',
    '/slipway!',
    '/slipway?',
    '/slipway, deploy',
    '/slipway: deploy',
    '/slipway/deploy',
    '/slipway@v1 deploy',
    '/slip way deploy',
    '/slipwa deploy',
    // looks alike
    '/slіpway deploy',
    '/ѕlipway deploy',
    '/slipwаy deploy',
    '/slipway\u00a0deploy',
    '/slipway\u2003deploy',
    '/slipway\u3000deploy',
    '/slipway\u200bdeploy',
    '/slipway\u2028deploy',
    '/slipway\u0085deploy',
    '/slipway\u000bdeploy',
    '/slipway\u000cdeploy',
    '/slipway\u0000deploy',
    '/slip\u200bway deploy',
    '/slip\u00adway deploy',
    '\ufeff/slipway deploy',
    '\u200b/slipway deploy',
    '\u00a0/slipway deploy',
    '\u202e/slipway deploy',
    '\u2066/slipway deploy\u2069',
    '／slipway deploy',
    '⁄slipway deploy',
    '∕slipway deploy',
    '/ｓｌｉｐｗａｙ deploy',
    '/slipwa\u0301y deploy',
    '/slipway\u0301 deploy',
    // huge
    'x'.repeat(65_536),
    `${'x'.repeat(65_000)}/slipway deploy`,
    '\n'.repeat(65_536),
    `${'\n'.repeat(60_000)}/slipway deploy`,
  ])('%j', (body) => {
    expect(parseCommand(body)).toEqual(none);
  });
});

describe('misunderstood', () => {
  it.each<[body: string, didYouMean: string | null, reason: string]>([
    // spelt otherwise
    ['/slipway Deploy', 'deploy', '"Deploy" is not a command'],
    ['/slipway DEPLOY', 'deploy', 'not a command'],
    ['/slipway depoly', 'deploy', 'not a command'],
    ['/slipway deplyo network', 'deploy', 'not a command'],
    ['/slipway deploy.', 'deploy', 'not a command'],
    ['/slipway deploy!', 'deploy', 'not a command'],
    ['/slipway deploy,', 'deploy', 'not a command'],
    ['/slipway `deploy`', 'deploy', 'not a command'],
    ['/slipway --deploy', 'deploy', 'not a command'],
    ['/slipway -help', 'help', 'not a command'],
    ['/slipway --help', 'help', 'not a command'],
    ['/slipway halp', 'help', 'not a command'],
    ['/slipway previw', 'preview', 'not a command'],
    ['/slipway pre-view', 'preview', 'not a command'],
    ['/slipway confrim', 'confirm', 'not a command'],
    ['/slipway aprove', 'approve', 'not a command'],
    ['/slipway cancle', 'cancel', 'not a command'],
    ['/slipway unlok', 'unlock', 'not a command'],
    ['/slipway stauts', 'status', 'not a command'],
    ['/slipway explian', 'explain', 'not a command'],
    // something else
    ['/slipway plan', null, '"plan" is not a command'],
    ['/slipway apply', null, '"apply" is not a command'],
    ['/slipway destroy', null, 'not a command'],
    ['/slipway is great', null, '"is" is not a command'],
    ['/slipway 🚀', null, 'not a command'],
    ['/slipway @ada', null, 'not a command'],
    ['/slipway /slipway deploy', null, 'not a command'],
    ['/slipway <script>', null, 'not a command'],
    ['/slipway constructor', null, 'not a command'],
    ['/slipway __proto__', null, 'not a command'],
    [`/slipway ${'x'.repeat(60_000)}`, null, 'not a command'],
    // look alike
    ['/slipway dеploy', 'deploy', 'not a command'],
    ['/slipway deploy\u200b', 'deploy', 'not a command'],
    ['/slipway deploy\u00a0network', null, 'not a command'],
    ['/slipway ｄｅｐｌｏｙ', null, 'not a command'],
    // trailing text
    ['/slipway deploy network please', null, 'one stack at most'],
    ['/slipway deploy network dns', null, 'one stack at most'],
    ['/slipway confirm it now, thanks', null, 'one stack at most'],
    ['/slipway preview # for later', null, 'one stack at most'],
    // stacks
    ['/slipway deploy -f', null, 'there are no options'],
    ['/slipway deploy --stack=network', null, 'there are no options'],
    ['/slipway deploy !network', null, 'no stack and no glob'],
    ['/slipway deploy {network', null, 'no stack and no glob'],
    ['/slipway deploy [network', null, 'no stack and no glob'],
    ['/slipway deploy network}', null, 'no stack and no glob'],
    ['/slipway deploy /network', null, 'no stack and no glob'],
    ['/slipway deploy ../network', null, 'no stack and no glob'],
    ['/slipway deploy net\\work', null, 'no stack and no glob'],
    ['/slipway deploy net\u0000work', null, 'no stack and no glob'],
    ['/slipway deploy net|work', null, 'no stack and no glob'],
    [`/slipway deploy ${'x'.repeat(201)}`, null, '200 characters'],
    [`/slipway deploy ${'{a,b}'.repeat(20)}`, null, 'no stack and no glob'],
    // tasks
    ['/slipway task', null, 'needs " -- "'],
    ['/slipway task ls', null, 'needs " -- "'],
    ['/slipway task --ls', null, 'needs " -- "'],
    ['/slipway task —— ls', null, 'needs " -- "'],
    ['/slipway task – ls', null, 'needs " -- "'],
    ['/slipway task --', null, 'no command behind'],
    ['/slipway task --\nls', null, 'no command behind'],
    ['/slipway task network --', null, 'no command behind'],
    ['/slipway task -- ls \u0000', null, 'NUL character'],
    ['/slipway task network dns -- ls', null, 'one stack at most'],
    ['/slipway Task -- ls', 'task', 'not a command'],
    ['/slipway -- ls', null, 'help takes no command'],
    ['/slipway deploy -- ls', null, 'takes no command'],
    ['/slipway deploy network -- ls', null, 'takes no command'],
  ])('%j', (body, didYouMean, reason) => {
    const parsed = parseCommand(body);
    expect(parsed).toMatchObject({ kind: 'misunderstood', didYouMean });
    expect(parsed).toHaveProperty('reason', expect.stringContaining(reason));
    // It is shown in the answer: never longer than a line or two.
    if (parsed.kind === 'misunderstood') expect(parsed.reason.length).toBeLessThan(300);
  });
});

test('whatever is written, the answer is one of three, and only the first line counts', () => {
  const unit = fc.constantFrom(...'/slipway deploy task --*{}[]!\\\t\r\n> `é\u00a0\u200b🚀');
  const body = fc.oneof(
    fc.string({ unit, maxLength: 80 }),
    fc.string({ unit, maxLength: 80 }).map((rest) => `/slipway ${rest}`),
  );
  fc.assert(
    fc.property(body, fc.string({ unit, maxLength: 40 }), (text, later) => {
      const parsed = parseCommand(text);
      expect(parseCommand(`${text.split(/[\r\n]/)[0]}\n${later}`)).toEqual(parsed);
      if (!/^[ \t]*\/slipway(?:[ \t\r\n]|$)/.test(text)) expect(parsed.kind).toBe('none');
      else expect(parsed.kind).not.toBe('none');
    }),
    { numRuns: 5000 },
  );
});
