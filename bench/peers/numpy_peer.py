# SPDX-License-Identifier: Apache-2.0
"""Adds NumPy to the lines of bench_peers, from standard input to standard output.

NumPy and memcpy take turns as in tools/measure.c; numpy_us is NumPy's time over memcpy's here, times memcpy's time there. What
Python takes to call memcpy is measured beside them, and taken away.
"""
import ctypes
import json
import re
import statistics
import sys
import time

import numpy

ROUNDS, MAX_ROUNDS, MIN_SAMPLE_US, MIN_TOTAL_US = 21, 201, 40, 200e3
TYPES = {"u8": "u1", "s8": "i1", "u16": "u2", "s16": "i2", "s32": "i4", "f16": "f2", "f32": "f4", "f64": "f8"}


def sample_us(run, repeat):
    begin = time.perf_counter()
    for _ in range(repeat):
        run()
    return (time.perf_counter() - begin) * 1e6 / repeat


def warm_up(run):
    """How often to run it for a sample that the clock can measure."""
    repeat = 1
    sample_us(run, 1)
    while sample_us(run, repeat) * repeat < MIN_SAMPLE_US:
        repeat *= 2
    return repeat


def medians(runs):
    repeats = [warm_up(run) for run in runs]
    samples = [[] for _ in runs]
    begin = time.perf_counter()
    while len(samples[0]) < MAX_ROUNDS and (len(samples[0]) < ROUNDS or (time.perf_counter() - begin) * 1e6 < MIN_TOTAL_US):
        for run, repeat, times in zip(runs, repeats, samples):
            times.append(sample_us(run, repeat))
    return [statistics.median(times) for times in samples]


def reorder(result):
    """The function that does it, or None. Integers are left out where they would have to saturate."""
    src_type, dst_type, attributes = re.match(r"(\w+):.*>(\w+):\S+ \S+ ?(.*)", result["problem"]).groups()
    if "shape" not in result or attributes not in ("", "scale"):
        return None
    if src_type == dst_type == "bf16":
        src_type = dst_type = "u16"
    if src_type not in TYPES or dst_type not in TYPES or (src_type != dst_type and dst_type[0] != "f"):
        return None
    src = numpy.ones(result["shape"], TYPES[src_type]).transpose(result["perm"])
    dst = numpy.zeros(src.shape, TYPES[dst_type])
    if attributes:
        return lambda: numpy.multiply(src, numpy.float32(0.5), out=dst, casting="same_kind")
    return lambda: numpy.copyto(dst, src, casting="same_kind")


def copy(size):
    memory = ctypes.c_char * size
    src, dst = (memory.from_buffer(numpy.ones(size, "u1")) for _ in range(2))
    return lambda: ctypes.memmove(dst, src, size)


def main():
    for line in sys.stdin:
        result = json.loads(line)
        run = reorder(result)
        if run:
            numpy_us, memcpy_us, call_us = medians([run, copy(result["bytes"] // 2), copy(0)])
            result["numpy_us"] = numpy_us / (memcpy_us - call_us) * result["memcpy_us"]
        result["peers"] = ", ".join(filter(None, [result["peers"], f"NumPy {numpy.__version__}"]))
        print(json.dumps(result), flush=True)


main()
