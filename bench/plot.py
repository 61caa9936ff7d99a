# SPDX-License-Identifier: Apache-2.0
"""The table of docs/performance.md as a picture: a row of dots for each case, on a logarithmic axis.

usage: plot.py CASES RESULTS.jsonl PICTURE.svg
"""
import sys

import matplotlib

import figures

matplotlib.use("svg")
# The same numbers give the same file, with text as text.
matplotlib.rcParams.update({"svg.hashsalt": "tessera", "svg.fonttype": "none",
                            "font.family": "sans-serif", "font.size": 8})
import matplotlib.pyplot as plt  # noqa: E402, after the choice of the backend

TICKS = [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256]
ROW_INCHES, WIDTH_INCHES = 0.17, 9


def rows_of(cases):
    """{problem: y}, from 0 downwards with a free row above each group, and {group: y of its title}."""
    rows, titles, y = {}, {}, 0
    for case in cases:
        if case.group not in titles:
            y += 1
            titles[case.group] = y
            y += 1
        rows[case.problem] = y
        y += 1
    return rows, titles


def series_of(cases, configurations):
    """(label, marker, colour, {problem: ratio}) for each kind of dot: one thread each, the fastest rung on top."""
    first, *others = [(key, results) for key, results in configurations.items() if key.threads == 1]
    onednn = {result["problem"]: figures.peer_ratios(result).get("onednn") for result in first[1]}
    series = [("best of ten", "|", "tab:red", figures.best_of(cases)),
              ("oneDNN here", "x", "0.6", {problem: ratio for problem, ratio in onednn.items() if ratio})]
    for (key, results), colour in zip([*others, first], ["tab:cyan"] * len(others) + ["tab:blue"]):
        series.append((figures.title(key), ".", colour, {result["problem"]: result["ratio"] for result in results}))
    return series


def draw(cases, series, path):
    rows, titles = rows_of(cases)
    figure, axes = plt.subplots(figsize=(WIDTH_INCHES, ROW_INCHES * (max(rows.values()) + 6)))
    for label, marker, colour, ratios in series:
        known = [problem for problem in rows if problem in ratios]
        axes.scatter([ratios[problem] for problem in known], [rows[problem] for problem in known],
                     s=30, marker=marker, color=colour, label=label, linewidths=1.2)
    axes.axvline(1, color="black", linewidth=0.8)
    for y in rows.values():
        axes.axhline(y, color="0.9", linewidth=0.5, zorder=0)
    axes.set_xscale("log")
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.minorticks_off()
    axes.grid(axis="x", color="0.85", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_yticks([*rows.values(), *titles.values()], [*rows, *titles])
    for label in axes.get_yticklabels()[len(rows):]:
        label.set_fontweight("bold")
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(rows.values()) + 1, 0)
    axes.set_xlabel("time over memcpy's for as many bytes; 1 is memcpy, left is faster")
    axes.legend(loc="lower center", bbox_to_anchor=(0.3, 1), ncols=len(series), frameon=False)
    figure.savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)


def main(cases_path, results_path, picture):
    with open(cases_path, encoding="utf-8") as file:
        cases = figures.read_cases(file)
    with open(results_path, encoding="utf-8") as file:
        configurations = figures.by_configuration(figures.read_results(file))
    draw(cases, series_of(cases, configurations), picture)


main(*sys.argv[1:])
