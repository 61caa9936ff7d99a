# SPDX-License-Identifier: Apache-2.0
"""Random pairs of layouts and types, usual ones and others, to find cliffs.

usage: pairs.py [COUNT [SEED]]  prints problems
       pairs.py --blocks [COUNT [SEED]]  of blocks that do not nest
       pairs.py --axes [COUNT [SEED]]  of permuted axes of any sizes, from 2 to 24 MB
       pairs.py --check         reads JSON lines of `tessera bench` over them from standard input, and says which are slow
"""
import math
import random
import sys

import figures

# Types as often as they are drawn, and their bytes.
TYPES = {"f32": 6, "s8": 5, "u8": 4, "f16": 3, "bf16": 3, "s32": 3, "f64": 1, "s64": 1, "s16": 1, "u16": 1, "bool": 1, "s4": 1,
         "u4": 1}
BYTES = {"f32": 4, "s8": 1, "u8": 1, "f16": 2, "bf16": 2, "s32": 4, "f64": 8, "s64": 8, "s16": 2, "u16": 2, "bool": 1, "s4": 0.5,
         "u4": 0.5}
LEAST_BYTES, MOST_BYTES = 20e3, 6e6  # half of what is read and written

IMAGES = "nchw nhwc nChw4c nChw8c nChw16c nChw32c nhcw cnhw chwn".split()
WEIGHTS = ("oihw ohwi hwio OIhw16i16o OIhw16o16i OIhw8i8o OIhw8o8i OIhw4i4o OIhw4i16o4i OIhw8i16o2i OIhw2i8o4i Ohwi16o "
           "Oihw16o").split()
MATRICES = "ab ba Ab16a aB16b aB32b BA16a16b AB16b16a BA4b8a8b AB8a8b".split()
CUBES = "abc acb bac bca cab cba aBc16b aBc8b".split()
SIDES = [7, 10, 30, 64, 100, 128, 256, 333, 500, 512, 768, 1000, 1024, 2048, 3072, 4096]
FACTORS = ["scale", "scale[1]", "scale mean shift", "scale[1] shift[1]"]


def draw_shape(chance):
    """Layouts to draw from, dims, and the axis of channels."""
    kind = chance.random()
    if kind < 0.4:
        height = chance.choice([1, 7, 13, 14, 17, 28, 32, 56, 64, 112])
        width = height if chance.random() < 0.8 else chance.choice([5, 9, 20, 30])
        channels = chance.choice([1, 2, 3, 4, 6, 12, 16, 24, 32, 64, 100, 128, 256, 320, 512])
        return IMAGES, [chance.choice([1, 1, 1, 2, 4, 8, 32]), channels, height, width], 1
    if kind < 0.65:
        kernel = chance.choice([1, 3, 3, 3, 5, 7])
        channels = [16, 32, 64, 96, 128, 256, 512, 1024]
        return WEIGHTS, [chance.choice(channels), chance.choice([3] + channels), kernel, kernel], 0
    if kind < 0.85:
        return MATRICES, [chance.choice(SIDES[3:]), chance.choice(SIDES)], 1
    return CUBES, [chance.choice([2, 3, 4, 8, 12, 32, 77, 128, 512]) for _ in range(3)], 1


def draw(chance):
    """A problem, or None if it is no reorder or of another size than wanted."""
    layouts, dims, axis = draw_shape(chance)
    src_type = chance.choices(list(TYPES), TYPES.values())[0]
    dst_type = src_type if chance.random() < 0.45 else chance.choices(list(TYPES), TYPES.values())[0]
    src, dst = chance.choice(layouts), chance.choice(layouts)
    size = math.prod(dims) * (BYTES[src_type] + BYTES[dst_type]) / 2
    if (src, src_type) == (dst, dst_type) or not LEAST_BYTES < size < MOST_BYTES:
        return None
    problem = f"{src_type}:{src}>{dst_type}:{dst} {'x'.join(map(str, dims))}"
    if chance.random() < (0.1 if src_type == dst_type else 0.5) and "bool" not in (src_type, dst_type):
        problem += " " + chance.choice(FACTORS).replace("[1]", f"[{axis}]")
    return problem


def draw_blocks(chance):
    """Images in blocks of channels, or weights in blocks of two axes, that do not nest."""
    sizes = [3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 48, 64]
    a, b, c, d = chance.choices(sizes, k=4)
    dtype = chance.choice(["u8", "u16", "f32", "f64"])
    if chance.random() < 0.7:
        side = chance.choice([7, 14, 28, 56, 112])
        dims, src, dst = [chance.choice([1, 2, 8, 32]), chance.choice(range(16, 257)), side, side], f"nChw{a}c", f"nChw{b}c"
    else:
        kernel = chance.choice([1, 3, 5])
        dims = chance.choices(range(16, 513), k=2) + [kernel, kernel]
        src, dst = f"OIhw{a}i{c}o", chance.choice([f"OIhw{b}i{d}o", f"OIhw{d}o{b}i"])
    nests = a % b == 0 or b % a == 0
    if nests or not LEAST_BYTES < math.prod(dims) * BYTES[dtype] < MOST_BYTES:
        return None
    return f"{dtype}:{src}>{dtype}:{dst} {'x'.join(map(str, dims))}"


def draw_axes(chance):
    """Two to six axes, of usual and of any sizes, permuted; one time in four converted."""
    usual = [2, 3, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 197, 224, 256, 300, 384, 512, 768, 1024]
    rank = chance.choice([2, 3, 3, 4, 4, 5, 6])
    dims = [chance.choice(usual) if chance.random() < 0.5 else int(2 ** chance.uniform(1, 10.5)) for _ in range(rank)]
    src = "abcdef"[:rank]
    dst = "".join(chance.sample(src, rank))
    src_type = chance.choice(["u8", "s8", "u16", "bf16", "f32", "f64"])
    dst_type = src_type if chance.random() < 0.75 else chance.choice(["u8", "s8", "bf16", "f16", "f32"])
    size = math.prod(dims) * (BYTES[src_type] + BYTES[dst_type]) / 2
    if src == dst or not 2e6 < size < 24e6:
        return None
    return f"{src_type}:{src}>{dst_type}:{dst} {'x'.join(map(str, dims))}"


DRAWS = {"--blocks": draw_blocks, "--axes": draw_axes}


def problems(count, seed, draw_one=draw):
    chance, drawn = random.Random(seed), {}
    while len(drawn) < count:
        problem = draw_one(chance)
        if problem:
            drawn[problem] = None
    return list(drawn)


def main(arguments):
    if arguments[:1] != ["--check"]:
        draw_one = DRAWS.get(arguments[0], draw) if arguments else draw
        arguments = arguments[draw_one is not draw:]
        count, seed = (int(argument) for argument in arguments + ["500", "1"][len(arguments):])
        print("\n".join(problems(count, seed, draw_one)))
        return
    results = figures.read_results(sys.stdin)
    results.sort(key=lambda result: -result["ratio"])
    print(f"{len(results)} pairs; geometric mean {figures.geometric_mean(result['ratio'] for result in results):.2f}; "
          f"{figures.times_onednn(results):.2f} times oneDNN")
    for most in (6, 20, 100):
        print(f"above {most} times memcpy: {sum(result['ratio'] > most for result in results)}")
    for result in results[:40]:
        print(f"    {result['ratio']:6.1f} x memcpy  {result['problem']}")


if __name__ == "__main__":
    main(sys.argv[1:])
