# SPDX-License-Identifier: Apache-2.0
"""Turns the JSON lines of `tessera convert --verify --bench --json` into a table. Fails if a result was not verified."""
import json
import os
import sys

HEADING = ("file", "reorder", "bytes", "row", "kernel", "us", "memcpy speed", "oneDNN", "oracle")


def row(result):
    onednn = result.get("onednn_us")
    return (
        os.path.basename(result["out"]),
        result["problem"].split(" ")[0],
        str(result["size_bytes"]),
        result["row"],
        result["kernel"],
        f"{result['median_us']:.0f}",
        f"{100 / result['ratio']:.0f}%",
        f"{onednn / result['median_us']:.2f} x" if onednn else "cannot",
        "equal" if result["ok"] else "DIFFERS",
    )


def main():
    results = [json.loads(line) for line in sys.stdin]
    table = [HEADING] + [row(result) for result in results]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEADING))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    print("memcpy speed: memcpy's time for the same bytes over ours; oneDNN: its time over ours; one thread, medians")
    return 0 if results and all(result["ok"] for result in results) else 1


sys.exit(main())
