import { describe, expect, it } from 'vitest';
import { interruptTargets, isShellCommand } from '../../../src/sandbox/launching/interrupt-targets.ts';
import { descendantsOf, type Process, sendSignal } from '../../../src/sandbox/process-tree.ts';

const process = (pid: number, parent: number, innerPid = pid): Process => ({
  pid,
  parent,
  innerPid,
  session: pid,
  state: 'S',
  startTicks: 1,
});

/** init and kthreadd, whose parent is 0, and somebody else's processes. */
const machine = [process(1, 0), process(2, 0), process(10, 2), process(50, 1), process(51, 50)];
/** Server, bwrap, its pid 1, the second bwrap, its pid 1, the command, its child, an orphan. */
const chain = [
  process(100, 50),
  process(101, 100),
  process(102, 101, 1),
  process(103, 102, 2),
  process(104, 103, 1),
  process(105, 104, 2),
  process(106, 105, 3),
  process(107, 104, 4),
];
const shape = { init: 102, isStaged: true, isShell: false };

describe('the processes that are asked to stop', () => {
  it('are the tool alone', () => {
    expect(interruptTargets([...machine, ...chain], shape)).toEqual([105]);
    expect(interruptTargets([...machine, ...chain], { ...shape, init: 104, isStaged: false })).toEqual([105]);
  });

  it('are everything a shell runs, orphans too', () => {
    const targets = interruptTargets([...machine, ...chain], { ...shape, isShell: true });

    expect(targets.toSorted()).toEqual([105, 106, 107]);
  });

  it('are none, at whatever point of the start the request comes', () => {
    for (const isShell of [true, false]) {
      for (let length = 0; length < 5; length++) {
        const sofar = [...machine, ...chain.slice(0, length)];
        expect(interruptTargets(sofar, { ...shape, isShell })).toEqual([]);
      }
    }
  });
});

it.each([0, 1, -1, Number.NaN])('nothing is ever sent to %d', (pid) => {
  expect(() => sendSignal(pid, 'SIGINT')).toThrow();
});

it('nobody asks for the descendants of init', () => {
  expect(() => descendantsOf(1, machine)).toThrow();
  expect(() => descendantsOf(0, machine)).toThrow();
});

it.each([
  [['bash', '-c', 'x'], true],
  [['/bin/sh', '-ec', 'x'], true],
  [['bash', '--noprofile', '-c', 'x'], true],
  [['bash', 'script.sh'], false],
  [['pulumi', '-c', 'x'], false],
] as const)('knows whether %j is a shell that runs a text: %s', (argv, answer) => {
  expect(isShellCommand(argv)).toBe(answer);
});
