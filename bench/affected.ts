/** Which of many stacks a push with many changed paths concerns: what the server does in one go. */
import { createHash } from 'node:crypto';
import { selectStacks } from '../src/stacks/trigger.ts';
import { aCommit, aStack, stackSettings } from '../test/support/builders.ts';
import { type Benchmark, inMs, median } from './figure.ts';

const manyStacks = 1000;
const manyPaths = 50_000;
const rounds = 9;

export const affected: Benchmark = {
  name: 'affected',
  about: `${manyStacks} stacks and ${manyPaths} changed paths: which stacks a push concerns, against sorting the paths`,
  measure(say) {
    const paths = Array.from({ length: manyPaths }, (_, index) => pathOf(index));
    const stacks = Array.from({ length: manyStacks }, (_, index) => stackOf(index));
    const push = {
      ...{ repositoryId: 21, branch: 'main', head: aCommit(), changedPaths: paths },
      ...{ before: null, isForced: false, pusher: 'ada@example.com', pusherLogin: 'ada', pusherIsBot: false },
    };
    const [selectTimes, sortTimes]: [number[], number[]] = [[], []];
    let selected = 0;
    for (let round = 0; round < rounds; round += 1) {
      selectTimes.push(
        timed(() => (selected = selectStacks(stacks, push).filter((each) => each.selected).length)),
      );
      sortTimes.push(timed(() => paths.toSorted()));
    }
    say(`${selected} stacks are concerned`);
    const [selectMs, sortMs] = [median(selectTimes), median(sortTimes)];
    return Promise.resolve([
      {
        what: `${manyStacks} stacks × ${manyPaths} paths`,
        value: selectMs,
        unit: 'ms',
        detail: `${selected} concerned`,
      },
      {
        what: 'selecting the stacks ÷ sorting the paths',
        value: selectMs / sortMs,
        unit: '',
        detail: `${inMs(selectMs)} ÷ ${inMs(sortMs)}`,
      },
    ]);
  },
};

/** Spread over the repository as a generator would change it; half of them below project roots. */
function pathOf(index: number): string {
  const digest = createHash('sha256').update(String(index)).digest('hex');
  const where =
    index % 2 === 0 ? `infra/team-${index % 50}/service-${index % 1500}` : `src/${digest.slice(0, 4)}`;
  return `${where}/${digest.slice(4, 8)}/${digest.slice(8, 24)}.yaml`;
}

/** A third has a glob of its own below a directory, a third one that matches anywhere, all of them one in common. */
function stackOf(index: number) {
  const own = [`modules/m${index}/**`, `**/m${index}.json`, 'shared/**'][index % 3] as string;
  const settings = stackSettings({
    projectRoot: `infra/team-${index % 50}/service-${index}`,
    additionalProjectGlobs: [own, 'shared/**/*.yaml'],
  });
  return aStack({ key: `key-${index}`, id: `stack-${index}`, settings });
}

function timed(work: () => unknown): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}
