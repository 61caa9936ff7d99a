# SPDX-License-Identifier: Apache-2.0
"""Prints JSON lines of `tessera bench` or `bench_peers`, from standard input, as a table, and below it what misses.

usage: report.py [--peers] CASES
"""
import sys

import figures

PEERS = ["onednn", "openblas", "opencv", "xnnpack", "numpy"]


def marks(result, cases):
    one = [result]
    found = [("slower than oneDNN", figures.slower_than_onednn(one))]
    if result["threads"] == 1:
        found += [("behind best", figures.behind_best(one, cases)), ("above limit", figures.above_limit(one))]
    return ", ".join(words for words, misses in found if misses)


def print_table(results, cases):
    best, printed = figures.best_of(cases), []
    print(f"{'us':>10} {'GB/s':>7} {'x memcpy':>8} {'best':>6} {'x onednn':>8}  {'row':<9}  problem")
    for result in results:
        onednn = f"{result['onednn_us'] / result['median_us']:.2f}" if "onednn_us" in result else "-"
        print(f"{result['median_us']:10.2f} {result['bytes'] / result['median_us'] * 1e-3:7.2f} {result['ratio']:8.2f} "
              f"{best.get(result['problem'], '-'):>6} {onednn:>8}  {result['row']:<9}  "
              f"{result['problem']:<48} {marks(result, cases)}".rstrip(), flush=True)
        printed.append(result)
    if not printed:
        return
    words = [f"geometric mean {figures.geometric_mean(r['ratio'] for r in printed):.2f}",
             f"{figures.times_onednn(printed):.2f} times oneDNN",
             f"{len(figures.slower_than_onednn(printed))} slower than oneDNN"]
    if printed[0]["threads"] == 1:
        ahead, compared = figures.ahead_of_best(printed, cases)
        words += [f"ahead of best on {ahead} of {compared} lines",
                  f"more than 5% behind it on {len(figures.behind_best(printed, cases))}",
                  f"{len(figures.above_limit(printed))} above their limits"]
    print("; ".join(words))


def print_peers(results):
    print(f"{'ours':>6} " + " ".join(f"{name:>8}" for name in PEERS) + "  fastest   problem")
    for result in results:
        peers = figures.peer_ratios(result)
        fastest = min({"ours": result["ratio"], **peers}.items(), key=lambda item: item[1])[0]
        columns = [f"{peers[name]:8.2f}" if name in peers else f"{'-':>8}" for name in PEERS]
        print(f"{result['ratio']:6.2f} {' '.join(columns)}  {fastest:<8}  {result['problem']}", flush=True)
    print("times over memcpy's for as many bytes")


def main(arguments):
    with open(arguments[-1], encoding="utf-8") as file:
        cases = figures.read_cases(file)
    results = (figures.read_results([line])[0] for line in sys.stdin)
    if arguments[0] == "--peers":
        print_peers(results)
    else:
        print_table(results, cases)


main(sys.argv[1:])
