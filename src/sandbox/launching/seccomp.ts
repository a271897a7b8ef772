/**
 * The system-call filter of the sandbox, as the classic BPF program that bwrap loads with `--seccomp`.
 *
 * Everything is allowed but what no tool needs and what widens the way to the kernel (syscalls.ts). Generated
 * here, so that no libseccomp has to be installed; about 35 ns a call, and nothing for calls whose answer the
 * kernel caches. Namespaces and missing capabilities stop most of this already; the filter is the second wall,
 * and the only one for AF_VSOCK, which ignores network namespaces.
 */
import { type Architecture, inspectedSyscalls, refusedSyscalls } from './syscalls.ts';

// linux/bpf_common.h: load a word of struct seccomp_data, jump if equal, jump if any bit is set, return.
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

// linux/seccomp.h
const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const refuseWith = (errno: number) => 0x0005_0000 | errno;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

// Offsets in struct seccomp_data. Of the arguments the low half is enough: the kernel itself reads families,
// ioctl requests and the flags of clone as 32-bit values. Both architectures are little-endian.
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of linux/audit.h. */
const auditArchitecture: Record<Architecture, number> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
const X32_BIT = 0x4000_0000;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. (NEWTIME only exists for clone3 and unshare.) */
const CLONE_NEW_FLAGS = 0x7e02_0000;
/** AF_UNIX (Terraform's plugins), AF_INET, AF_INET6, AF_NETLINK (listing interfaces). */
const allowedFamilies = [1, 2, 10, 16];
/** TIOCSTI and TIOCLINUX type into the terminal the server may have been started from. */
const refusedRequests = [0x5412, 0x541c];

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

export function seccompFilter(architecture: Architecture): Uint8Array<ArrayBuffer> {
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [JUMP_IF_EQUAL, 1, 0, auditArchitecture[architecture]],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER],
  ];
  if (architecture === 'x64') {
    program.push([JUMP_IF_ANY_BIT, 0, 1, X32_BIT], [RETURN, 0, 0, refuseWith(ENOSYS)]);
  }
  const { clone, clone3, socket, ioctl } = inspectedSyscalls;
  // clone3 keeps its flags in memory, which a filter cannot read; told it is missing, libc falls back to clone.
  program.push(...onCall(clone3[architecture], [[RETURN, 0, 0, refuseWith(ENOSYS)]]));
  program.push(
    ...onCall(clone[architecture], [
      [LOAD, 0, 0, FIRST_ARGUMENT],
      [JUMP_IF_ANY_BIT, 0, 1, CLONE_NEW_FLAGS],
      [RETURN, 0, 0, refuseWith(EPERM)],
      [RETURN, 0, 0, ALLOW],
    ]),
  );
  program.push(
    ...onCall(socket[architecture], [
      [LOAD, 0, 0, FIRST_ARGUMENT],
      ...allowedFamilies.flatMap((family) => onValue(family, ALLOW)),
      [RETURN, 0, 0, refuseWith(EAFNOSUPPORT)],
    ]),
  );
  program.push(
    ...onCall(ioctl[architecture], [
      [LOAD, 0, 0, SECOND_ARGUMENT],
      ...refusedRequests.flatMap((request) => onValue(request, refuseWith(EPERM))),
      [RETURN, 0, 0, ALLOW],
    ]),
  );
  for (const call of Object.values(refusedSyscalls)) {
    const number = call[architecture];
    if (number !== null) program.push(...onValue(number, refuseWith(EPERM)));
  }
  program.push([RETURN, 0, 0, ALLOW]);
  return encode(program);
}

export function isSupportedArchitecture(name: string): name is Architecture {
  return name === 'x64' || name === 'arm64';
}

/** The body has to return on every path, because it loads an argument over the call's number. */
function onCall(number: number, body: readonly Instruction[]): Instruction[] {
  return [[JUMP_IF_EQUAL, 0, body.length, number], ...body];
}

function onValue(value: number, action: number): Instruction[] {
  return [
    [JUMP_IF_EQUAL, 0, 1, value],
    [RETURN, 0, 0, action],
  ];
}

/** struct sock_filter: code (16 bits), jump offsets (8 bits each), value (32 bits). */
function encode(program: readonly Instruction[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, ifTrue);
    view.setUint8(index * 8 + 3, ifFalse);
    view.setUint32(index * 8 + 4, value, true);
  }
  return bytes;
}
