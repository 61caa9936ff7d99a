# SPDX-License-Identifier: Apache-2.0
"""What bench/ makes of measured figures, on figures made up here. Prints TAP; nothing is timed.

usage: test_bench.py ROOT
"""
import os
import re
import sys

sys.dont_write_bytecode = True
ROOT = sys.argv[1]
sys.path.insert(0, os.path.join(ROOT, "bench"))
import figures  # noqa: E402
import pairs  # noqa: E402
import publish  # noqa: E402
import sweep  # noqa: E402

TRANSPOSE, REVERSAL = "f32:ab>f32:ba 1000x1000", "f32:abcd>f32:dcba 64x64x64x64"
SMALL, IMAGE = "f32:ab>f32:ba 64x64", "u8:nhwc>f32:nchw 1x3x1080x1920 scale[1] mean[1]"


def result(problem, ratio, onednn=None, size_bytes=8000000):
    """As a line of `tessera bench --json`, with a memcpy of 10 us."""
    made = {"problem": problem, "cpu": "avx2", "threads": 1, "bytes": size_bytes, "median_us": 10 * ratio, "memcpy_us": 10,
            "ratio": ratio}
    if onednn:
        made["onednn_us"] = 10 * onednn
    return made


def problems(misses):
    return [miss.problem for miss in misses]


def test_cases():
    cases = figures.read_cases(["# a title", "# best dnnl", "# images", "u8:a>u8:a 3  # 1.58   16.6\n", "f32:a>f32:a 3 #7 -",
                                "", "  # weights", "f32:ab>f32:ba 2x3 scale"])
    assert cases == [("u8:a>u8:a 3", "images", 1.58, 16.6), ("f32:a>f32:a 3", "images", 7, None),
                     ("f32:ab>f32:ba 2x3 scale", "weights", None, None)], cases


def test_the_list_of_cases():
    with open(os.path.join(ROOT, "bench", "cases.txt"), encoding="utf-8") as file:
        cases = figures.read_cases(file)
    assert len({case.problem for case in cases}) == len(cases) == 74
    assert len(figures.best_of(cases)) == 73 and all(best >= 0.5 for best in figures.best_of(cases).values())
    assert len({case.group for case in cases}) == 6


def test_geometric_mean():
    assert abs(figures.geometric_mean([1, 2, 4]) - 2) < 1e-12
    assert abs(figures.geometric_mean(iter([0.5, 8])) - 2) < 1e-12
    assert abs(figures.times_onednn([result("a", 1, 3), result("b", 2), result("c", 1, 12)]) - 6) < 1e-12


def test_limits():
    limits = [(TRANSPOSE, 8e6, 2.0), (REVERSAL, 134e6, 2.5), (REVERSAL, 2**21, 3.0), (SMALL, 32768, 3.0), (IMAGE, 31e6, 1.3),
              ("f32:nchw>f32:nhwc 32x256x28x28", 51e6, 2.0), ("f32:abcd>f32:acbd 8x512x12x64", 25e6, 2.0)]
    for problem, size_bytes, limit in limits:
        assert figures.limit(result(problem, 1, size_bytes=size_bytes)) == limit, problem
    misses = figures.above_limit([result(TRANSPOSE, 2.0), result(REVERSAL, 2.4), result(IMAGE, 1.4)])
    assert misses == [(IMAGE, 1.4, 1.3)], misses


def test_best():
    cases = figures.read_cases([f"{TRANSPOSE} # 1.20", f"{SMALL} # 1.00", REVERSAL])
    results = [result(TRANSPOSE, 1.19), result(SMALL, 1.04), result(REVERSAL, 9)]
    assert figures.ahead_of_best(results, cases) == (1, 2)
    assert figures.behind_best(results, cases) == []
    assert figures.behind_best([result(SMALL, 1.06)], cases) == [(SMALL, 1.06, 1.0)]


def test_slower_than_onednn():
    results = [result(TRANSPOSE, 1.04, 1.0), result(SMALL, 2.2, 2.0), result(REVERSAL, 9)]
    assert problems(figures.slower_than_onednn(results)) == [SMALL]
    assert figures.peer_ratios({**results[1], "numpy_us": 30}) == {"onednn": 2.0, "numpy": 3.0}


def on_threads(problem, ratio, gain, copied, size_bytes=10**7):
    """On two threads, of which memcpy gains so much."""
    return {**result(problem, ratio, size_bytes=size_bytes), "threads": 2, "gain": gain, "memcpy_gain": copied}


def test_gains():
    several = [on_threads("halved", 2.0, 1.8, 1.8), on_threads("as memory", 1.04, 1.44, 1.5),
               on_threads("bound by memory", 3.1, 1.16, 1.2), on_threads("little", 2.5, 1.44, 1.8),
               on_threads("small", 2.5, 1.44, 1.8, size_bytes=8 * 10**6), on_threads("loses", 1.2, 0.92, 1.1)]
    little = figures.gaining_too_little(several)
    assert problems(little) == ["little", "loses"], little
    assert [miss.wanted for miss in little] == [1.7, 1.1], little
    assert problems(figures.slower_than_one_thread(several)) == ["loses"]


def test_configurations():
    results = [result("a", 1), {**result("a", 2), "threads": 2}, result("b", 3)]
    found = figures.by_configuration(results)
    assert found == {("avx2", 1, False): [results[0], results[2]], ("avx2", 2, False): [results[1]]}
    found.update(figures.by_configuration(results[:1], tuned=True))
    assert [figures.title(key) for key in found] == ["avx2, 1 thread", "avx2, 2 threads", "avx2, 1 thread, tuned"]


def test_sweep():
    points = list(sweep.points())
    assert len({point.problem for point in points}) == len(points) == 700
    names = {point.problem: point for point in points}

    def around(problem):
        return problems(sweep.neighbours(names[problem], points))

    assert around("u8:ab>u8:ba 64x64") == ["u8:ab>u8:ba 63x63", "u8:ab>u8:ba 65x65"]
    assert around("u8:ab>u8:ba 15x15") == ["u8:ab>u8:ba 16x16"]
    assert around("f64:ab>f64:ba 1531x1531") == ["f64:ab>f64:ba 1025x1025", "f64:ab>f64:ba 2047x2047"]
    assert around("f32:nchw>f32:nhwc 1x4x7x7") == [
        "f32:nchw>f32:nhwc 1x3x7x7", "f32:nchw>f32:nhwc 1x16x7x7", "f32:nchw>f32:nhwc 1x4x14x14"]


def test_out_of_line():
    points = list(sweep.points())
    ratios = {point.problem: 1.0 for point in points}
    assert sweep.out_of_line(points, ratios) == []
    ratios["f32:ab>f32:ba 1024x1024"] = 2.1
    ratios["f32:ab>f32:ba 15x15"], ratios["f32:ab>f32:ba 16x16"] = 4.0, 2.0  # twice, not more
    ratios["u8:nhwc>u8:nchw 1x3x7x7"], ratios["u8:nhwc>u8:nchw 1x4x7x7"] = 9.0, 9.0  # two that are alike
    assert sweep.out_of_line(points, ratios) == [("f32:ab>f32:ba 1024x1024", 2.1, 1.0)]


def test_pairs():
    drawn = pairs.problems(200, 7)
    assert drawn == pairs.problems(200, 7) and drawn != pairs.problems(200, 8)
    assert len(set(drawn)) == 200
    assert {problem.split(">")[0].split(":")[0] for problem in drawn} == set(pairs.TYPES)
    assert any("scale[0]" in problem for problem in drawn) and any("OIhw4i16o4i" in problem for problem in drawn)
    axes = pairs.problems(50, 7, pairs.draw_axes)
    assert axes == pairs.problems(50, 7, pairs.draw_axes) and len(set(axes)) == 50
    for problem in axes:
        src, dst = (side.split(":")[1] for side in problem.split(" ")[0].split(">"))
        assert sorted(src) == sorted(dst) and src != dst and len(problem.split(" ")[1].split("x")) == len(src)
    blocks = pairs.problems(50, 7, pairs.draw_blocks)
    assert blocks == pairs.problems(50, 7, pairs.draw_blocks) and len(set(blocks)) == 50
    assert any("nChw" in problem for problem in blocks) and any("OIhw" in problem for problem in blocks)
    for problem in blocks:
        src, dst = (int(re.search(r"(\d+)[ci]", layout).group(1)) for layout in problem.split()[0].split(">"))
        assert src % dst != 0 and dst % src != 0, problem


def test_document():
    assert publish.fill("a\n<!-- x -->\nold\n<!-- end of x -->\nb", {"x": r"\1 new"}) == (
        "a\n<!-- x -->\n\\1 new\n<!-- end of x -->\nb")
    try:
        publish.fill("nothing to fill", {"x": "new"})
        raise AssertionError("a missing block was accepted")
    except ValueError as error:
        assert str(error) == "expected one block x, found 0"
    for page in ("performance.md", "performance-epyc.md", "performance-granite-rapids.md", "performance-zen3.md",
                 "performance-zen4.md"):
        with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as file:
            publish.fill(file.read(), dict.fromkeys(["machine", "summary", "cases", "misses", "peers", "sweep"], ""))


def test_tables():
    cases = figures.read_cases([f"{TRANSPOSE} # 1.20 2.60", SMALL])
    one = [{**result(TRANSPOSE, 1.3, 2.6), "kernel": "k"}, {**result(SMALL, 3.5, size_bytes=32768), "kernel": "-"}]
    two = [{**line, "threads": 2, "gain": 2.0, "memcpy_gain": 1.0} for line in one]
    configurations = figures.by_configuration(one + two)
    assert "| avx2, 1 thread | 2.13 | 2.00 | 0 | 2.00 | 0 of 1 | 1 | 1 |" in publish.summary_block(configurations, cases)
    table = publish.cases_block(configurations, cases)
    assert f"| `{TRANSPOSE}` | 4.00 | 1.20 | 2.60 | 1.30 | 1.30 | 2.00 | 1.00 | k |" in table, table
    misses = publish.misses_block(configurations, cases)
    tuned = [{**line, "ratio": line["ratio"] / 2, "row": "onednn" if line == one[0] else None} for line in one]
    both = {**figures.by_configuration(one), **figures.by_configuration(tuned, tuned=True)}
    table = publish.cases_block(both, cases)
    assert "| 1.30 | 0.65, onednn | k |" in table and "| 3.50 | 1.75 | - |" in table, table
    assert f"behind best:\n\n- `{TRANSPOSE}`: 1.30, wanted 1.20" in misses and f"- `{SMALL}`: 3.50, wanted 3.00" in misses


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    failed = 0
    print(f"1..{len(tests)}")
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} - {name}")
        except Exception as error:  # a test that breaks has failed
            failed += 1
            message = f"{type(error).__name__}: {error}".replace("\n", "\n# ")
            print(f"not ok {number} - {name}\n# {message}")
    return 1 if failed else 0


sys.exit(main())
