/** How long after a comment its reaction is there, and the comment with the plan, less what the tool itself took. */
import type { RunObject, StackObject } from '../demo/api-objects.ts';
import type { Repository } from '../demo/github/state.ts';
import { type Installation, startInstallation } from '../demo/installation.ts';
import { waitFor } from '../demo/wait.ts';
import { type Benchmark, inMs, median } from './figure.ts';

const comments = 5;
const withinMs = 60_000;

export const commentCommands: Benchmark = {
  name: 'comments',
  about: `a comment "/slipway preview" to its reaction and to the comment with the plan, median of ${comments}`,
  async measure(say) {
    await using installation = await startInstallation({ settings: { LOG_LEVEL: 'warn' } });
    const world = await prepare(installation);
    const measured: Measured[] = [];
    for (let index = 0; index < comments; index += 1) {
      const each = await command(installation, world, index);
      say(
        `reaction ${inMs(each.reactionMs)}, plan ${inMs(each.planMs)}, of which the tool ${inMs(each.toolMs)}`,
      );
      measured.push(each);
    }
    const [reaction, plan, tool] = (['reactionMs', 'planMs', 'toolMs'] as const).map((key) =>
      median(measured.map((each) => each[key])),
    ) as [number, number, number];
    const own = median(measured.map(({ planMs, toolMs }) => planMs - toolMs));
    return [
      {
        what: 'comment → reaction',
        value: reaction,
        unit: 'ms',
        detail: 'stored, handled, permission asked, sent',
      },
      {
        what: "comment → plan comment, less the tool's own time",
        value: own,
        unit: 'ms',
        detail: `${inMs(plan)} less ${inMs(tool)} of login, select and preview, in a fresh checkout and a sandbox`,
      },
      {
        what: "comment → plan comment ÷ the tool's own time",
        value: plan / tool,
        unit: '',
        detail: `${inMs(plan)} ÷ ${inMs(tool)}`,
      },
    ];
  },
};

interface World {
  readonly stack: StackObject;
  readonly repository: Repository;
}

interface Measured {
  readonly reactionMs: number;
  readonly planMs: number;
  /** Of the commands of the run, as the run tells them. */
  readonly toolMs: number;
}

const program = (value: string) =>
  `name: comments\nruntime: yaml\nresources:\n  one:\n    type: pulumi:Stash\n    properties:\n      input: ${value}\n`;

async function prepare({ api, addRepository }: Installation): Promise<World> {
  const repository = await addRepository('comments', { 'README.md': 'hello\n' });
  const stack = await api.createStack({
    name: 'comments',
    repository: repository.fullName,
    vendor: { pulumi: { loginUrl: 'file:///state', stackName: 'dev' } },
  });
  await api.setVariable(stack, 'PULUMI_CONFIG_PASSPHRASE', { value: 'passphrase of the benchmark' });
  return { stack, repository };
}

/** On a pull request of its own, whose comment was not written yet: one that was may be written again after 10 s only. */
async function command(
  installation: Installation,
  { stack, repository }: World,
  index: number,
): Promise<Measured> {
  const { api, github } = installation;
  const branch = `topic-${index}`;
  // A draft starts nothing by itself, and its branch was pushed without an event.
  const files = { 'Pulumi.yaml': program(String(index)) };
  const sha = await github.commit(repository, { branch, message: `Change ${index}`, files });
  const { number } = await github.openPullRequest(repository, { head: branch, draft: true });

  const startedAtMs = Date.now();
  const { comment } = await github.comment(repository, number, {
    body: `/slipway preview ${stack.id}`,
    login: 'ada',
  });
  const run = await api.waitForState((await api.waitForRun(stack, sha)).id, 'FINISHED');
  const posted = await waitFor(
    'the comment with the plan',
    () => github.requests.find((each) => isAbout(each, repository, run)),
    { timeoutMs: withinMs, intervalMs: 5 },
  );
  const reacted = github.requests.find(({ path }) => path.endsWith(`/comments/${comment.id}/reactions`));
  if (!reacted) throw new Error('there is no reaction');
  const commands = await api.commands(run.id);
  return {
    reactionMs: reacted.atMs - startedAtMs,
    planMs: posted.atMs - startedAtMs,
    toolMs: commands.reduce((sum, { durationMs }) => sum + durationMs, 0),
  };
}

function isAbout(
  { method, path, body }: Installation['github']['requests'][number],
  repository: Repository,
  run: RunObject,
): boolean {
  const { body: text = '' } = (body ?? {}) as { body?: string };
  const isComment = path.startsWith(`/repos/${repository.fullName}/issues/`) && path.includes('/comments');
  return method !== 'GET' && isComment && text.includes(run.id) && text.includes('Previewed');
}
