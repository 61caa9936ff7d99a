# SPDX-License-Identifier: Apache-2.0
"""A sweep over sizes, to find those that fall behind.

usage: sweep.py           prints the problems
       sweep.py --check   reads JSON lines of `tessera bench` over them from standard input, and says what misses
       sweep.py --slower  likewise, and prints those that are slower than oneDNN

Points of one family differ in sizes alone. Neighbours are points of one family that differ in one size, where no other size
of the sweep lies between the two.
"""
import collections
import sys

import figures

# family is the layouts and types, place the sizes that tell its points apart.
Point = collections.namedtuple("Point", "family place problem")

TYPES = ["u8", "bf16", "f32", "f64"]
POWERS = [1 << k for k in range(4, 13)]
PRIMES = [23, 47, 97, 191, 383, 769, 1531, 3067]  # each about in the middle between two powers
SIDES = sorted([power + d for power in POWERS for d in (-1, 0, 1)] + PRIMES)
CHANNELS = [3, 4, 16, 32, 64, 256, 512]
IMAGES = [7, 14, 28, 56, 112]
ACTIVATIONS = [("nchw", "nhwc"), ("nhwc", "nchw"), ("nchw", "nChw16c"), ("nChw16c", "nchw")]


def points():
    for dtype in TYPES:
        family = f"{dtype}:ab>{dtype}:ba"
        for n in SIDES:
            yield Point(family, (n,), f"{family} {n}x{n}")
    for src, dst in ACTIVATIONS:
        for dtype in TYPES:
            family = f"{dtype}:{src}>{dtype}:{dst}"
            for c in CHANNELS:
                for hw in IMAGES:
                    yield Point(family, (c, hw), f"{family} 1x{c}x{hw}x{hw}")


def neighbours(point, all_points):
    """The next smaller and the next larger point along each size."""
    found = []
    for axis, size in enumerate(point.place):
        line = [other for other in all_points
                if other.family == point.family and other.place[:axis] + other.place[axis + 1:]
                == point.place[:axis] + point.place[axis + 1:]]
        found += sorted((other for other in line if other.place[axis] < size), key=lambda other: other.place)[-1:]
        found += sorted((other for other in line if other.place[axis] > size), key=lambda other: other.place)[:1]
    return found


def out_of_line(all_points, ratios):
    """Points with more than twice the ratio of every neighbour."""
    misses = []
    for point in all_points:
        around = [ratios[other.problem] for other in neighbours(point, all_points) if other.problem in ratios]
        if around and point.problem in ratios and ratios[point.problem] > 2 * max(around):
            misses.append(figures.Miss(point.problem, ratios[point.problem], max(around)))
    return misses


def main(arguments):
    if not arguments:
        print("\n".join(point.problem for point in points()))
        return
    results = figures.read_results(sys.stdin)
    if arguments == ["--slower"]:
        print("\n".join(miss.problem for miss in figures.slower_than_onednn(results)))
        return
    ratios = {result["problem"]: result["ratio"] for result in results}
    missing = [point.problem for point in points() if point.problem not in ratios]
    print(f"{len(results)} points, {len(missing)} missing; geometric mean "
          f"{figures.geometric_mean(ratios.values()):.2f}; {figures.times_onednn(results):.2f} times oneDNN")
    for title, misses in (("slower than oneDNN", figures.slower_than_onednn(results)),
                          ("slower than half of every neighbour", out_of_line(list(points()), ratios))):
        print(f"{title}: {len(misses)}")
        for miss in misses:
            print(f"    {miss.ratio:6.2f} x memcpy, not {miss.wanted:6.2f}  {miss.problem}")


if __name__ == "__main__":
    main(sys.argv[1:])
