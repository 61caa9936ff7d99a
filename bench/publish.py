# SPDX-License-Identifier: Apache-2.0
"""Writes what was measured into a page such as docs/performance.md, between its markers.

usage: publish.py TESSERA RESULTS PAGE

RESULTS is the folder that bench/run --publish fills: cases.jsonl, peers.jsonl, sweep.jsonl; and with wisdom cases_tuned.jsonl and
sweep_tuned.jsonl, which has those points of the sweep again that were slower than oneDNN.
"""
import datetime
import json
import os
import platform
import re
import subprocess
import sys

import figures
import sweep

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def table(heading, rows):
    """Markdown; the first column is text, the others are figures."""
    lines = [heading, ["---"] + ["--:"] * (len(heading) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def figure(value):
    return f"{value:.2f}" if value else ""


def listed(misses):
    return "\n".join(f"- `{miss.problem}`: {miss.ratio:.2f}, wanted {miss.wanted:.2f}" for miss in misses)


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()


def machine_block(tool, page):
    listing = [json.loads(line) for line in output_of(tool, "list", "--json").splitlines()]
    about = {item["kind"]: item for item in listing}
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)|$", file.read())[1] or platform.machine()
    rows = [
        ("processor", f"{model}; {about['machine']['name']}; {about['machine']['detail']}"),
        ("system", f"{platform.freedesktop_os_release()['PRETTY_NAME']}, Linux {platform.release()}"),
        ("library", f"{about['library']['name']}, {about['library']['detail']}"),
        ("commit", output_of("git", "describe", "--always", "--dirty")),
        ("compiler", output_of("cc", "--version").splitlines()[0]),
        ("date", datetime.date.today().isoformat()),
        ("command", f"`bench/run --publish {page}`"),
    ]
    return table(["", ""], rows).replace("--:", "---")


def tuned_figure(result, untuned):
    """With the row that wisdom has taken, if it is another one."""
    row = result.get("row")
    return figure(result["ratio"]) + (f", {row}" if row != untuned.get("row") else "")


def summary_block(configurations, cases):
    rows = []
    for configuration, results in configurations.items():
        row = [figures.title(configuration), figure(figures.geometric_mean(r["ratio"] for r in results)),
               figure(figures.times_onednn(results)), len(figures.slower_than_onednn(results))]
        if configuration.threads == 1:
            ahead, compared = figures.ahead_of_best(results, cases)
            row += [figure(figures.times_recorded_onednn(results, cases)), f"{ahead} of {compared}",
                    len(figures.behind_best(results, cases)), len(figures.above_limit(results))]
        else:
            row += [""] * 4
        rows.append(row)
    return table(["", "geometric mean", "times oneDNN", "slower than oneDNN", "times `dnnl`", "ahead of best",
                  "5% behind best", "above limit"], rows)


def cases_block(configurations, cases):
    first, *others = configurations
    found = {configuration: {r["problem"]: r for r in results} for configuration, results in configurations.items()}
    rows = []
    for case in cases:
        result = found[first][case.problem]
        onednn = figures.peer_ratios(result).get("onednn")
        row = [f"`{case.problem}`", f"{result['bytes'] / 2e6:.2f}", figure(case.best), figure(onednn),
               figure(result["ratio"])]
        for other in others:
            there = found[other][case.problem]
            row.append(tuned_figure(there, result) if other.tuned else figure(there["ratio"]))
            if other.threads > 1:
                row += [figure(there["gain"]), figure(there["memcpy_gain"])]
        rows.append(row + [result["kernel"]])
    heading = ["", "MB", "best", "oneDNN", figures.title(first)]
    for other in others:
        heading += [figures.title(other)] + (["times one thread", "memcpy likewise"] if other.threads > 1 else [])
    return table(heading + ["kernel"], rows)


def misses_block(configurations, cases):
    parts = []
    for configuration, results in configurations.items():
        kinds = [("slower than oneDNN", figures.slower_than_onednn(results))]
        if configuration.threads == 1:
            kinds += [("more than 5% behind best", figures.behind_best(results, cases)),
                      ("above the limit", figures.above_limit(results))]
        else:
            kinds += [("gain over one thread, where there is none", figures.slower_than_one_thread(results)),
                      ("gain over one thread, less than memory allows", figures.gaining_too_little(results))]
        parts += [f"{figures.title(configuration)}, {words}:\n\n{listed(misses)}" for words, misses in kinds if misses]
    return "\n\n".join(parts) or "None."


def peers_block(results):
    names = sorted({name for result in results for name in figures.peer_ratios(result)})
    rows = []
    for result in results:
        peers = figures.peer_ratios(result)
        rows.append([f"`{result['problem']}`", figure(result["ratio"]), *(figure(peers.get(name)) for name in names)])
    return f"With {results[0]['peers']}.\n\n" + table(["", "ours", *names], rows)


def sweep_block(results, tuned):
    points = list(sweep.points())
    ratios = {result["problem"]: result["ratio"] for result in results}
    slower, alone = figures.slower_than_onednn(results), sweep.out_of_line(points, ratios)
    text = (f"{len(ratios)} points; geometric mean {figures.geometric_mean(ratios.values()):.2f}; "
            f"{figures.times_onednn(results):.2f} times oneDNN; {len(slower)} points slower than oneDNN; "
            f"{len(alone)} slower than half of every neighbour.")
    if tuned:
        text += (f" Measured again with what was tuned, {len(figures.slower_than_onednn(tuned))} of these "
                 f"{len(slower)} are slower.")
    for words, misses in (("Slower than oneDNN", slower), ("Slower than half of every neighbour", alone)):
        if misses:
            text += f"\n\n{words}:\n\n{listed(misses)}"
    return text


def fill(document, blocks):
    """Replaces what stands between <!-- NAME --> and <!-- end of NAME -->."""
    for name, text in blocks.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        document, found = pattern.subn(lambda match, text=text: f"{match[1]}{text}\n{match[2]}", document)
        if found != 1:
            raise ValueError(f"expected one block {name}, found {found}")
    return document


def results_of(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return figures.read_results(file)


def main(tool, folder, page):
    with open(os.path.join(ROOT, "bench", "cases.txt"), encoding="utf-8") as file:
        cases = figures.read_cases(file)
    configurations = figures.by_configuration(results_of(folder, "cases.jsonl"))
    configurations.update(figures.by_configuration(results_of(folder, "cases_tuned.jsonl"), tuned=True))
    blocks = {
        "machine": machine_block(os.path.abspath(tool), page),
        "summary": summary_block(configurations, cases),
        "cases": cases_block(configurations, cases),
        "misses": misses_block(configurations, cases),
        "peers": peers_block(results_of(folder, "peers.jsonl")),
        "sweep": sweep_block(results_of(folder, "sweep.jsonl"), results_of(folder, "sweep_tuned.jsonl")),
    }
    path = os.path.join(ROOT, page)
    with open(path, encoding="utf-8") as file:
        document = fill(file.read(), blocks)
    with open(path, "w", encoding="utf-8") as file:
        file.write(document)


if __name__ == "__main__":
    main(*sys.argv[1:])
