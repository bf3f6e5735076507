"""`python -I -S probe.py LIBRARY`: call an element or an assembly as contact_core/check does, in a separate process.

A crash ends this process and not the build.

The plan, numbers packed by probe_plan.py, comes by the standard input; counts, findings and the points they were made
at go to the standard output.  Nothing but ctypes is imported: the start of Python is most of the time."""

import ctypes
import sys

COUNTS = 4  # points_at, points, findings, tried
FINDING = 8  # numbers of each


def main(library: str) -> None:
    packed = bytearray(sys.stdin.buffer.read())
    size = ctypes.sizeof(ctypes.c_double)
    plan = (ctypes.c_double * (len(packed) // size)).from_buffer(packed)
    check = ctypes.CDLL(library)
    check.cc_check_memory.restype = ctypes.c_long
    memory = (ctypes.c_double * check.cc_check_memory(plan))()
    counts = (ctypes.c_long * COUNTS)()
    check.cc_check_run(plan, memory, counts)
    points_at, points, findings, _ = counts
    everything = memoryview(memory).cast("B")
    out = sys.stdout.buffer
    out.write(bytes(counts))
    out.write(everything[: size * FINDING * findings])
    if findings:
        values = int(plan[3])  # behind the two options: the number of flags, one for each value
        out.write(everything[size * points_at : size * (points_at + points * values)])


if __name__ == "__main__":
    main(*sys.argv[1:])
