# SPDX-License-Identifier: Apache-2.0
"""Cases, the results of `tessera bench --json`, and what is asked of them.

A ratio is a time over memcpy's for as many bytes.
"""
import collections
import json
import math
import re

# best and onednn are the ratios in the comment behind the problem, or None; group is the comment line above.
Case = collections.namedtuple("Case", "problem group best onednn")
# A line that misses: its ratio, and the one that was asked for.
Miss = collections.namedtuple("Miss", "problem ratio wanted")
# What lines were measured with: the instruction set, so many threads, and wisdom or not.
Configuration = collections.namedtuple("Configuration", "cpu threads tuned")

# What a figure may be off before it counts as slower than another.
TOLERANCE = 1.05
# Half of the bytes read and written, as memcpy moves them.
LARGE_BYTES = 1 << 20
# Beyond these, two threads are to take so many times less than one.
SHARED_BYTES, WANTED_GAIN = 4e6, 1.7
NAMED_LIMITS = {
    "u8:nhwc>f32:nchw 1x3x224x224 scale[1] mean[1]": 1.5,
    "u8:nhwc>f32:nchw 1x3x1080x1920 scale[1] mean[1]": 1.3,
}


def read_cases(lines):
    cases, group = [], ""
    for line in lines:
        text, _, comment = (part.strip() for part in line.partition("#"))
        if text:
            ratios = [float(word) if re.fullmatch(r"[\d.]+", word) else None for word in comment.split()]
            cases.append(Case(text, group, *(ratios + [None, None])[:2]))
        elif comment:
            group = comment
    return cases


def read_results(lines):
    return [json.loads(line) for line in lines]


def peer_ratios(result):
    """The ratio of each peer that can do it."""
    return {key[:-len("_us")]: us / result["memcpy_us"] for key, us in result.items()
            if key.endswith("_us") and key not in ("median_us", "memcpy_us")}


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def is_reversed(problem):
    """Are four axes or more turned round, as in abcd>dcba?"""
    layouts = re.match(r"\w+:([a-z]{4,})>\w+:([a-z]{4,}) ", problem)
    return bool(layouts) and layouts[1] == layouts[2][::-1]


def limit(result):
    """The ratio that a line must not exceed."""
    if result["problem"] in NAMED_LIMITS:
        return NAMED_LIMITS[result["problem"]]
    if result["bytes"] / 2 <= LARGE_BYTES:
        return 3.0
    return 2.5 if is_reversed(result["problem"]) else 2.0


def slower_than_onednn(results):
    return [Miss(r["problem"], r["ratio"], r["onednn_us"] / r["memcpy_us"]) for r in results
            if r["median_us"] > TOLERANCE * r.get("onednn_us", math.inf)]


def above_limit(results):
    return [Miss(r["problem"], r["ratio"], limit(r)) for r in results if r["ratio"] > limit(r)]


def slower_than_one_thread(several):
    return [Miss(r["problem"], r["gain"], 1.0) for r in several if TOLERANCE * r["gain"] < 1]


def gaining_too_little(several):
    """Tensors beyond 4 MB that two threads do not move 1.7 times as fast as one, though memory would let them: memcpy gains
    more from two threads, and takes less time on them."""
    return [Miss(r["problem"], r["gain"], min(WANTED_GAIN, r["memcpy_gain"])) for r in several
            if r["bytes"] / 2 > SHARED_BYTES and r["gain"] < WANTED_GAIN and TOLERANCE * r["gain"] < r["memcpy_gain"]
            and r["ratio"] > TOLERANCE]


def best_of(cases):
    return {case.problem: case.best for case in cases if case.best}


def behind_best(results, cases):
    best = best_of(cases)
    return [Miss(r["problem"], r["ratio"], best[r["problem"]]) for r in results
            if r["ratio"] > TOLERANCE * best.get(r["problem"], math.inf)]


def ahead_of_best(results, cases):
    """How many lines are ahead, of how many that can be compared."""
    best = best_of(cases)
    compared = [r["ratio"] < best[r["problem"]] for r in results if r["problem"] in best]
    return sum(compared), len(compared)


def times_onednn(results):
    """oneDNN's time over ours, where oneDNN has the case."""
    return geometric_mean(r["onednn_us"] / r["median_us"] for r in results if "onednn_us" in r)


def times_recorded_onednn(results, cases):
    """The ratio that cases.txt has for oneDNN, on the machine of `best`, over ours."""
    recorded = {case.problem: case.onednn for case in cases if case.onednn}
    return geometric_mean(recorded[r["problem"]] / r["ratio"] for r in results if r["problem"] in recorded)


def by_configuration(results, tuned=False):
    """{Configuration: results}, in the order in which they were measured."""
    groups = {}
    for result in results:
        configuration = Configuration(result["cpu"], result["threads"], tuned)
        groups.setdefault(configuration, []).append(result)
    return groups


def title(configuration):
    cpu, threads, tuned = configuration
    return f"{cpu}, {threads} thread{'s' if threads > 1 else ''}{', tuned' if tuned else ''}"
