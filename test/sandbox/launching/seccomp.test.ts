import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { seccompFilter } from '../../../src/sandbox/launching/seccomp.ts';
import {
  type Architecture,
  inspectedSyscalls,
  refusedSyscalls,
} from '../../../src/sandbox/launching/syscalls.ts';

const auditArchitectures: Record<Architecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Runs the program as the kernel would: the filters for both architectures can be tried on either. */
function decide(
  architecture: Architecture,
  number: number,
  args: readonly number[] = [],
  audit = auditArchitectures[architecture],
) {
  const program = new DataView(seccompFilter(architecture).buffer);
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, audit, true);
  for (const [index, arg] of args.entries()) data.setBigUint64(16 + index * 8, BigInt(arg), true);

  let accumulator = 0;
  for (let pc = 0; pc < program.byteLength / 8; pc++) {
    const value = program.getUint32(pc * 8 + 4, true);
    const jump = (isTrue: boolean) => {
      pc += program.getUint8(pc * 8 + (isTrue ? 2 : 3));
    };
    switch (program.getUint16(pc * 8, true)) {
      case 0x20:
        accumulator = data.getUint32(value, true);
        break;
      case 0x15:
        jump(accumulator === value);
        break;
      case 0x45:
        jump((accumulator & value) !== 0);
        break;
      case 0x06:
        return actionOf(value);
      default:
        throw new Error('unknown instruction');
    }
  }
  throw new Error('ran off the end');
}

function actionOf(value: number): string {
  if (value === 0x7fff0000) return 'allow';
  if (value === 0x80000000) return 'kill';
  return `errno ${value & 0xffff}`;
}

describe.each(['x64', 'arm64'] as const)('the filter for %s', (architecture) => {
  it('refuses every call of the list', () => {
    const answers = Object.values(refusedSyscalls)
      .map((call) => call[architecture])
      .filter((number) => number !== null)
      .map((number) => decide(architecture, number));

    expect(answers.length).toBeGreaterThan(45);
    expect(new Set(answers)).toEqual(new Set(['errno 1']));
  });

  it('kills what comes with another architecture', () => {
    const other = architecture === 'x64' ? 'arm64' : 'x64';

    expect(decide(architecture, 1, [], auditArchitectures[other])).toBe('kill');
  });

  it('looks at the flags of clone, and sends libc there from clone3', () => {
    const clone = inspectedSyscalls.clone[architecture];

    expect(decide(architecture, clone, [0x3d0f00])).toBe('allow');
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(decide(architecture, clone, [flag | 17])).toBe('errno 1');
    }
    expect(decide(architecture, inspectedSyscalls.clone3[architecture])).toBe('errno 38');
  });

  it('allows four socket families', () => {
    const families = Array.from({ length: 64 }, (_, family) => family);
    const allowed = families.filter(
      (family) => decide(architecture, inspectedSyscalls.socket[architecture], [family]) === 'allow',
    );

    expect(allowed).toEqual([1, 2, 10, 16]);
    expect(decide(architecture, inspectedSyscalls.socket[architecture], [40])).toBe('errno 97');
  });

  it('refuses two requests to terminals, with any high bits', () => {
    const ioctl = inspectedSyscalls.ioctl[architecture];

    expect(decide(architecture, ioctl, [0, 0x5401])).toBe('allow');
    expect(decide(architecture, ioctl, [0, 0x5412])).toBe('errno 1');
    expect(decide(architecture, ioctl, [0, 0x7_0000_541c])).toBe('errno 1');
  });

  it('allows the rest', () => {
    const listed = [...Object.values(refusedSyscalls), ...Object.values(inspectedSyscalls)].map(
      (call) => call[architecture],
    );
    const others = Array.from({ length: 470 }, (_, number) => number).filter(
      (number) => !listed.includes(number),
    );

    expect(others.every((number) => decide(architecture, number) === 'allow')).toBe(true);
  });
});

it('has no way through x32 numbers', () => {
  expect(decide('x64', 0x40000000 | 165)).toBe('errno 38');
});

describe('the numbers', () => {
  const headers: Record<Architecture, string> = {
    x64: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h',
    arm64: '/usr/include/asm-generic/unistd.h',
  };
  const calls = Object.entries({ ...refusedSyscalls, ...inspectedSyscalls });

  it.each(['x64', 'arm64'] as const)(
    'for %s are those of the kernel headers, where they are installed',
    (architecture) => {
      if (!existsSync(headers[architecture])) return;
      const text = readFileSync(headers[architecture], 'utf8');
      const known = new Map(
        [...text.matchAll(/#define __NR(?:3264)?_(\w+)\s+(\d+)/g)].map(([, name, number]) => [
          name,
          Number(number),
        ]),
      );

      const wrong = calls.filter(
        ([name, call]) =>
          call[architecture] !== null && known.has(name) && known.get(name) !== call[architecture],
      );

      expect(wrong).toEqual([]);
      expect(calls.filter(([name]) => known.has(name)).length).toBeGreaterThan(45);
    },
  );
});
