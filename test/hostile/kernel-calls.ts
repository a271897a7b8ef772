/** System calls that take some preparation: tried to see whether the machine has them, and then by attacks. Python. */

export const openPerformanceCounter = `
attributes = ctypes.create_string_buffer(128)
struct.pack_into("IIQ", attributes, 0, 1, 128, 0)
struct.pack_into("Q", attributes, 40, 0x61)
call("perf_event_open", attributes, 0, -1, -1, 0)`;

/** io_uring_setup(8, parameters) by the entrance for 32-bit programs of x86, where calls have other numbers. */
export const throughOldEntrance = `
low = lambda protection: mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40, prot=protection)
place = lambda memory: ctypes.addressof(ctypes.c_char.from_buffer(memory))
load = lambda register, value: bytes([register]) + struct.pack("<I", value)
parameters, code = low(3), low(7)
code.write(b"\\x53" + load(0xB8, 425) + load(0xBB, 8) + load(0xB9, place(parameters)) + b"\\xcd\\x80\\x5b\\xc3")
if ctypes.CFUNCTYPE(ctypes.c_int)(place(code))() < 0:
    sys.exit(1)`;
