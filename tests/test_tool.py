# SPDX-License-Identifier: Apache-2.0
"""The command `tessera`, run as a user runs it. Prints TAP.

    test_tool.py TESSERA PROBLEMS.txt
"""
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile

TOOL, PROBLEMS = map(os.path.abspath, sys.argv[1:3])
COMMANDS = ("describe", "explain", "check", "bench", "tune", "convert", "list")
CODES = {"<f4": "f", "<u1": "B", "|u1": "B", "<f8": "d", "|b1": "B", ">f4": "f", "<i2": "h"}


def run(*arguments, **options):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=240, **options)


def lines(*arguments):
    """The JSON objects that a successful command prints."""
    result = run(*arguments)
    assert result.returncode == 0, f"{arguments}: {result.stderr}"
    assert result.stderr == "", result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def refused(status, message, *arguments, **options):
    """Fails with the status, says the message on stderr, and nothing on stdout."""
    result = run(*arguments, **options)
    assert result.returncode == status, f"{arguments}: status {result.returncode}, expected {status}"
    assert message in result.stderr, f"{arguments}: {result.stderr!r} does not say {message!r}"
    assert result.stdout == "", result.stdout


def npy(shape, values, descr="<f4", fortran=False):
    header = repr({"descr": descr, "fortran_order": fortran, "shape": tuple(shape)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    order = ">" if descr[0] == ">" else "<"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(
        f"{order}{len(values)}{CODES[descr]}", *values)


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    (length,) = struct.unpack("<H", data[8:10])
    header = eval(data[10:10 + length])  # written by the tool under test
    body = data[10 + length:]
    code = CODES[header["descr"]]
    return header["shape"], list(struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body))


def put(name, content):
    with open(name, "wb") as file:
        file.write(content)
    return name


def convert(name, *options):
    return lines("convert", name, "out.npy", *options, "--verify", "--json")[0]


# ---- the tests; each runs in an empty folder ----

def test_help():
    for command in COMMANDS:
        result = run(command, "--help")
        assert result.returncode == 0 and result.stdout.startswith(f"usage: tessera {command}"), command
    assert all(command in run("--help").stdout for command in COMMANDS)
    assert run("--version").stdout.startswith("tessera ")


def test_bad_usage():
    refused(2, "usage:", )
    refused(2, 'expected a command, found "descibe"', "descibe")
    for command in COMMANDS:
        refused(2, "usage:", command, "--no-such-option")
    refused(2, "usage:", "describe", "nchw")
    refused(2, "usage:", "check")
    refused(2, "usage:", "convert", "a.npy", "b.npy", "--from", "nchw")
    refused(2, "parse error", "describe", "nchwq", "1x2x3x4x5")
    refused(2, "parse error", "describe", "nchw", "1x2x")
    refused(2, "parse error", "describe", "nchw", "1x2x3x4", "--index", "0,0,0")
    refused(2, "expected a type", "describe", "nchw", "1x2x3x4", "--dtype", "f31")
    refused(2, "expected a dialect", "describe", "nchw", "1x2x3x4", "--from", "latin")
    refused(2, "parse error", "describe", "nchw", "1x2x3x4", "--from", "cute")
    refused(2, "expected a number of threads", "check", "--threads", "none", "f32:ab>f32:ba 2x3")


def test_failures():
    refused(1, "has 4 axes, the dims have 3", "describe", "nchw", "1x2x3")
    refused(1, "overflow", "describe", "nchw", "9223372036854775807x2x2x2")
    refused(1, "index[1] is 3, expected 0 to 2", "describe", "ab", "2x3", "--index", "0,3")
    refused(1, "elements overlap", "explain", "f32:ab>f32:[a4:1,b5:1] 4x5")
    refused(1, "cannot open", "check", "--file", "missing.txt")
    refused(1, "cannot open", "convert", "missing.npy", "out.npy", "--from", "ab", "--to", "ba")


def test_describe():
    (one,) = lines("describe", "nChw8c", "1x25x20x20", "--json", "--index", "0,0,0,1", "--index", "0,1,0,2")
    assert one["dims"] == [1, 25, 20, 20]
    assert one["block_dims"] == [1, 4, 20, 20, 8]
    assert one["order"] == [0, 1, 2, 3, 1]
    assert one["strides"] == [12800, 3200, 160, 8, 1]
    assert (one["offset"], one["size_bytes"], one["padded_elements"]) == (0, 51200, 12800)
    assert one["offsets"] == [8, 17]
    text = run("describe", "nChw8c", "1x25x20x20", "--index", "0,1,0,2", "--dtype", "f64").stdout
    assert "102400 bytes" in text and "21.9%" in text and ": 17" in text, text
    (window,) = lines("describe", "[b2:128,b8:1,a1]@b3/2", "1x4", "--json")
    assert (window["first"], window["step"], window["dense"]) == ([0, 3], [0, 2], False)
    (same,) = lines("describe", "nhwc", "2x1x4x4", "--json")
    assert (same["layout"], same["canonical"], same["injective"], same["span"]) == ("nhwc", "nchw", "yes", [0, 32])


def test_dialects():
    (one,) = lines("describe", "n (c 16) h w -> n c h w 16", "1x64x7x7", "--from", "einops", "--dialects", "--json")
    assert one["dialects"] == {
        "tessera": "nChw16c", "openvino": None, "onednn": "nChw16c", "tvm": "NCHW16c",
        "einops": "n (c 16) h w -> n c h w 16", "cute": "(1,(16,4),7,7):(3136,(1,784),112,16)",
        "xla": "{3,2,1,0:T(16,1,1)}", "numpy": None}
    for dialect, text in one["dialects"].items():
        if text:
            (again,) = lines("describe", text, "1x64x7x7", "--from", dialect, "--json")
            assert again["hash"] == one["hash"], (dialect, again)


def test_check():
    ok, wrong = "f32:nchw>f32:nChw16c 2x19x5x7", "f32:ab>f32:ab 2x3 scale[0] shift[1]"
    (one,) = lines("check", "--json", ok)
    assert {"problem": ok, "ok": True, "boxes": 2}.items() <= one.items() and one["row"], one
    result = run("check", "--json", ok, wrong)
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert result.returncode == 1 and first["ok"] and not second["ok"] and second["problem"] == wrong
    assert "expected one axis" in result.stderr


def test_problem_list():
    results = lines("check", "--json", "--file", PROBLEMS)
    assert len(results) >= 300 and all(result["ok"] for result in results)
    rows = {result["row"] for result in results}
    assert {"alias", "copy", "transpose", "convert", "gather", "elementwise", "square", "slices"} <= rows, rows
    for row in ("transpose", "convert", "square"):
        again = lines("check", "--json", "--row", row,
                      *[r["problem"] for r in results if r["row"] == row][:20])
        assert all(result["row"] == row for result in again)


def test_list_file_has_comments():
    put("list.txt", b"# head\n\n  f32:ab>f32:ba 3x5   # tail\nu8:ab>u8:ba 7x2\n")
    problems = [result["problem"] for result in lines("check", "--json", "--file", "list.txt")]
    assert problems == ["f32:ab>f32:ba 3x5", "u8:ab>u8:ba 7x2"]


def test_bench():
    problem = "f32:nchw>f32:nhwc 1x8x9x10"
    (one,) = lines("bench", "--json", "--threads", "2", problem)
    assert one["problem"] == problem and one["threads"] == 2 and one["bytes"] == 2 * 4 * 720
    assert one["median_us"] > 0 and one["memcpy_us"] > 0 and one["row"]
    assert abs(one["ratio"] - one["median_us"] / one["memcpy_us"]) < 0.01 * one["ratio"]
    assert one["gain"] > 0 and one["memcpy_gain"] > 0
    assert f", {one['cpu']}\n" in run("--version").stdout
    if "onednn" in run("--version").stdout:
        assert one["onednn_us"] > 0
    (empty,) = lines("bench", "--json", "f32:ab>f32:ba 0x5")
    assert empty["bytes"] == 0 and "gain" not in empty


def test_explain():
    problem = "f32:nchw>f32:nChw16c 1x19x4x4"
    (one,) = lines("explain", "--json", problem)
    assert one["problem"] == problem and one["boxes"] == 2 and one["zero_boxes"] == 0 and len(one["box"]) == 2
    taken = [row for row in one["rows"] if row["row"] == one["row"]]
    assert taken and taken[0]["applicable"] and abs(taken[0]["cost"] - one["cost"]) < 1e-6
    assert all("reason" in row for row in one["rows"] if not row["applicable"])
    assert "the blocks nest, no table is needed" in run("explain", problem).stdout


def test_explain_run():
    problem = "f32:nchw>f32:nhwc 1x8x9x10"
    (one,) = lines("explain", "--json", "--run", "--threads", "1", problem)
    measured = one["measured"]
    assert measured["row"] == one["row"] and measured["threads"] == 1 and measured["median_us"] > 0
    assert abs(one["share"] * one["cost"] - 1) < 1e-6 and abs(one["measured_share"] * measured["ratio"] - 1) < 1e-6
    text = run("explain", "--run", problem).stdout.splitlines()
    for kind, line in zip(("expected", "measured"), text[2:4]):
        assert re.fullmatch(rf"  {kind} time: \d+\.\d\d x memcpy, \d+% of its speed", line), line
    (plain,) = lines("explain", "--json", problem)
    assert "measured" not in plain and "measured_share" not in plain and not plain["tuned"]
    assert "measured" not in run("explain", problem).stdout


# ---- wisdom ----

LESSON = re.compile(r"\w+ (\d+) (\S+>\S+ [^=]*) = (\w+) (auto|never|always) (\d+) (\d+)")


def lessons(path):
    """(threads, problem, row) of each line, which is as it should be."""
    with open(path, encoding="ascii") as file:
        head, *rest = file.read().splitlines()
    assert re.fullmatch(r"tessera-wisdom 1 .+, \w+, caches \d+ \d+ \d+", head), head
    found = [LESSON.fullmatch(line) for line in rest]
    assert all(found) and rest == sorted(rest), rest
    return [(int(one[1]), one[2], one[3]) for one in found]


def wise(path):
    return dict(os.environ, TSR_WISDOM=path)


def test_tune():
    first, second = "f32:nchw>f32:nhwc 1x8x9x10", "u8:nhwc>f32:nchw 1x3x8x9 scale[1] mean[1]"
    (one,) = lines("tune", "--json", "--threads", "1", "--output", "file", first)
    assert one["problem"] == first and one["threads"] == 1 and 0 < one["best_us"] <= one["default_us"]
    assert one["memcpy_us"] > 0 and one["streaming"] in ("auto", "never", "always") and one["tile_bytes"] >= 0
    assert lessons("file") == [(1, first, one["row"])]
    put("list.txt", f"{second}  # and the first again\n{first} in-place\n".encode())
    result = run("tune", "--threads", "1", "--file", "list.txt", env=wise("file"))
    assert result.returncode == 0 and result.stderr == "", result.stderr
    assert second in result.stdout.splitlines()[1] and len(result.stdout.splitlines()) == 3, result.stdout
    assert [lesson[:2] for lesson in lessons("file")] == sorted([(1, first), (1, second), (1, first + " in-place")])
    assert sorted(os.listdir()) == ["file", "list.txt"]
    explained = run("explain", "--threads", "1", first, env=wise("file")).stdout.splitlines()
    assert explained[1].endswith(", 1 thread, tuned") and explained[1].startswith(f"  {one['row']}, "), explained
    assert run("check", first, second, env=wise("file")).returncode == 0


def test_tune_for_all_threads():
    """For one thread and for all, each by itself, in a folder that is made."""
    home = dict(os.environ, OMP_NUM_THREADS="2", HOME=os.getcwd())
    home.pop("TSR_WISDOM", None)
    home.pop("XDG_CONFIG_HOME", None)
    result = run("tune", "f32:nchw>f32:nhwc 1x8x9x10", env=home)
    assert result.returncode == 0, result.stderr
    threads = [lesson[0] for lesson in lessons(".config/tessera/wisdom")]
    assert threads == ([1, 2] if "openmp" in run("--version").stdout else [1]), threads
    assert "tuned" in run("explain", "f32:nchw>f32:nhwc 1x8x9x10", env=home).stdout


def test_tune_refusals():
    problem = "f32:nchw>f32:nhwc 1x2x3x4"
    refused(1, "expected --output FILE", "tune", problem, env=wise(""))
    refused(1, "cannot write", "tune", "--threads", "1", "--output", "no/such/folder", problem)
    refused(2, "usage:", "tune", "--row", "copy", problem)
    refused(2, "usage:", "bench", "--output", "file", problem)
    refused(2, "parse error", "tune", "--output", "file", "f32:nchw>f32:nhwq 1x2x3x4")
    refused(1, "expected one axis", "tune", "--output", "file", "f32:ab>f32:ab 2x3 scale[0] shift[1]")
    assert os.listdir() == []
    put("file", b"nonsense\n")
    refused(2, "file: line 1: expected", "tune", "--output", "file", problem)
    result = run("explain", problem, env=wise("file"))
    assert result.returncode == 0 and 'tessera: wisdom is ignored: file: line 1: expected "tessera' in result.stderr
    put("file", b"tessera-wisdom 1 Univac I, c, caches 1 2 3\nc 1 ???\n")
    assert "file: line 1: expected wisdom of this machine" in run("explain", problem, env=wise("file")).stderr
    result = run("tune", "--threads", "1", "--output", "file", problem)
    assert result.returncode == 0 and "tessera: written anew: file: line 1: expected wisdom of" in result.stderr
    assert [lesson[:2] for lesson in lessons("file")] == [(1, problem)]


def test_list():
    items = lines("list", "--json")
    types = [item["name"] for item in items if item["kind"] == "type"]
    assert types == ("f32 f64 f16 bf16 s8 u8 s16 u16 s32 u32 s64 u64 bool "
                     "f8_e4m3 f8_e5m2 q78 s4 u4 nf4 u1").split()
    assert {"kind": "layout", "name": "nhwc", "detail": "order 0 2 3 1"} in items


def test_convert_blocked_and_back():
    values = [float(i) for i in range(1 * 19 * 2 * 3)]
    put("in.npy", npy((1, 19, 2, 3), values))
    result = convert("in.npy", "--from", "nchw", "--to", "nChw16c")
    assert result["ok"] and result["size_bytes"] == 4 * 32 * 6
    shape, blocked = read_npy("out.npy")
    assert shape == (1, 2, 2, 3, 16)
    for offset, value in enumerate(blocked):
        c = offset // 96 * 16 + offset % 16
        assert value == (values[c * 6 + offset // 16 % 6] if c < 19 else 0), offset
    os.rename("out.npy", "blocked.npy")
    convert("blocked.npy", "--from", "nChw16c", "--dims", "1x19x2x3", "--to", "nchw")
    assert read_npy("out.npy") == ((1, 19, 2, 3), values)
    convert("blocked.npy", "--from", "nChw16c", "--to", "nchw")  # all blocks full: the padding is kept
    assert read_npy("out.npy") == ((1, 32, 2, 3), values + [0.0] * 78)
    refused(1, "expected an array of 1x1x2x3x16, found 1x2x2x3x16", "convert", "blocked.npy", "no.npy", "--from",
            "nChw16c", "--dims", "1x16x2x3", "--to", "nchw")
    refused(1, "has 4 levels, the array has 5 axes", "convert", "blocked.npy", "no.npy", "--from", "nchw", "--to",
            "nhwc")
    assert not os.path.exists("no.npy")


def test_convert_orders():
    """Row-major, Fortran and big-endian input hold the same tensor."""
    values = [float(i) for i in range(24)]
    fortran = [values[(i % 2) * 12 + i // 2 % 3 * 4 + i // 6] for i in range(24)]
    expected = [values[i // 4 % 2 * 12 + i // 8 * 4 + i % 4] for i in range(24)]  # bac
    for content in (npy((2, 3, 4), values), npy((2, 3, 4), fortran, fortran=True), npy((2, 3, 4), values, ">f4")):
        convert(put("in.npy", content), "--from", "abc", "--to", "bac")
        assert read_npy("out.npy") == ((3, 2, 4), expected)


def test_convert_types_and_factors():
    put("in.npy", npy((1, 1, 2, 3), [0, 50, 100, 255, 128, 7], "|u1"))
    convert("in.npy", "--from", "nhwc", "--to", "nchw", "--dtype", "f32", "--mean", "0,50,100", "--scale", "2,1,0.5")
    assert read_npy("out.npy") == ((1, 3, 1, 2), [0, 510, 0, 78, 0, -46.5])
    convert("in.npy", "--from", "nhwc", "--to", "nhwc", "--dtype", "f32", "--scale", "0.5")
    assert read_npy("out.npy")[1] == [0, 25, 50, 127.5, 64, 3.5]
    done = convert("in.npy", "--from", "nhwc", "--to", "nchw", "--dtype", "f64", "--scale", "2,0.5", "--shift", "1",
                   "--group", "2", "--reverse", "1", "--reverse", "3")
    assert done["problem"] == "u8:nhwc>f64:nchw 1x3x1x2 scale[1/2] shift reverse[1] reverse[3]"
    assert read_npy("out.npy") == ((1, 3, 1, 2), [15, 201, 257, 101, 128.5, 1])
    refused(2, "expected a number", "convert", "in.npy", "no.npy", "--from", "nhwc", "--to", "nchw", "--reverse", "32")
    refused(1, "reverse names axis 4", "convert", "in.npy", "no.npy", "--from", "nhwc", "--to", "nchw", "--reverse", "4")
    refused(1, "mean has 2 values, axis 1 has 3 indices", "convert", "in.npy", "no.npy", "--from", "nhwc", "--to",
            "nchw", "--dtype", "f32", "--mean", "1,2")
    refused(1, "no u1", "convert", "in.npy", "no.npy", "--from", "nhwc", "--to", "nchw", "--dtype", "u1")
    refused(1, "no bf16", "convert", "in.npy", "no.npy", "--from", "nhwc", "--to", "nchw", "--dtype", "bf16")
    refused(2, "expected numbers", "convert", "in.npy", "no.npy", "--from", "nhwc", "--to", "nchw", "--mean", "1,x")
    assert sorted(os.listdir()) == ["in.npy", "out.npy"]


def test_convert_degenerate():
    convert(put("in.npy", npy((), [3.5])), "--from", "scalar", "--to", "scalar")
    assert read_npy("out.npy") == ((), [3.5])
    convert(put("in.npy", npy((2, 0, 4), [])), "--from", "abc", "--to", "cba")
    assert read_npy("out.npy") == ((4, 0, 2), [])


def test_convert_bad_files():
    whole = npy((2, 3), [float(i) for i in range(6)])
    put("in.npy", whole)
    for content in (b"", whole[:7], whole[:50], whole[:-1], b"PK" + whole, whole.replace(b"(2, 3)", b"(2, 9)"),
                    whole.replace(b"(2, 3)", b"(-2,3)"), whole.replace(b"'<f4'", b"'<q4'")):
        put("bad.npy", content)
        refused(1, "bad.npy: ", "convert", "bad.npy", "no.npy", "--from", "ab", "--to", "ba")
    refused(1, "cannot write", "convert", "in.npy", "no/such/folder/o.npy", "--from", "ab", "--to", "ba")
    refused(1, "No space left", "convert", "in.npy", "/dev/full", "--from", "ab", "--to", "ba")
    refused(1, "has gaps", "convert", "in.npy", "no.npy", "--from", "ab", "--to", "[a2:4,b3:1]")
    assert sorted(os.listdir()) == ["bad.npy", "in.npy"]


def test_convert_too_large():
    """A limit on file sizes is an error like others: nothing is left of the output."""
    put("in.npy", npy((300, 100), [1.0] * 30000))
    limited = subprocess.run(["sh", "-c", f"ulimit -f 20; '{TOOL}' convert in.npy o.npy --from ab --to ba"],
                             capture_output=True, text=True)
    assert limited.returncode == 1 and "File too large" in limited.stderr, limited
    assert os.listdir() == ["in.npy"], os.listdir()


def test_convert_onto_itself():
    convert(put("in.npy", npy((2, 3), [float(i) for i in range(6)])), "--from", "ab", "--to", "ba")
    lines("convert", "in.npy", "in.npy", "--from", "ab", "--to", "ba", "--json")
    assert read_npy("in.npy") == read_npy("out.npy") == ((3, 2), [0, 3, 1, 4, 2, 5])


def test_convert_to_standard_output():
    put("in.npy", npy((2, 3), [float(i) for i in range(6)]))
    result = subprocess.run([TOOL, "convert", "in.npy", "/dev/stdout", "--from", "ab", "--to", "ab"],
                            capture_output=True)
    assert result.returncode == 0 and b"in.npy -> /dev/stdout" in result.stderr
    assert read_npy(put("out.npy", result.stdout)) == ((2, 3), [0, 1, 2, 3, 4, 5])


def test_convert_bench():
    put("in.npy", npy((4, 100, 100), [float(i) for i in range(40000)]))
    (one,) = lines("convert", "in.npy", "out.npy", "--from", "abc", "--to", "cba", "--json", "--bench", "--verify")
    assert one["ok"] and one["threads"] == 1 and one["bytes"] == 320000 and one["median_us"] > 0


def test_lowered_instruction_set():
    for word in ("c", "sse41", "avx2"):
        result = run("check", "f32:nchw>f32:nhwc 1x33x17x19", "f16:ab>f32:ba 33x35", env=dict(os.environ, TSR_CPU=word))
        assert result.returncode == 0, result.stderr
    assert run("--version", env=dict(os.environ, TSR_CPU="c")).stdout.strip().endswith(", c")


def test_check_reports_the_worst():
    good, refusal = "f32:ab>f32:ba 2x3", "f32:ab>f32:ab 2x3 scale[0] shift[1]"
    nonsense = b"\xff\xc3:a>f32:a 1"
    for problems, status in ([good], 0), ([good, refusal, good], 1), ([nonsense, refusal], 2), ([refusal, nonsense], 2):
        result = run("check", "--json", *problems, errors="replace")
        found = [json.loads(line) for line in result.stdout.splitlines()]
        assert result.returncode == status and [one["ok"] for one in found] == [text == good for text in problems]
        assert all(("error" in one) != one["ok"] for one in found), found
    assert found[1]["problem"] == "??:a>f32:a 1"  # what is not UTF-8 does not spoil the JSON


def test_standard_output_that_takes_nothing():
    for words in ("list",), ("--help",), ("--version",), ("check", "f32:a>f32:a 1"), ("describe", "a", "3"):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([TOOL, *words], stdout=full, stderr=subprocess.PIPE)
        assert result.returncode == 1 and b"cannot write to standard output" in result.stderr, (words, result)
    for words in ("list",), ("check", "--file", PROBLEMS):
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run([TOOL, *words], stdout=writer, stderr=subprocess.DEVNULL, timeout=240)
        os.close(writer)
        assert result.returncode in (1, -signal.SIGPIPE), (words, result)


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    home, failed = os.getcwd(), 0
    print(f"1..{len(tests)}", flush=True)
    for number, (name, test) in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                test()
                print(f"ok {number} - {name}", flush=True)
            except Exception as error:  # a test that breaks has failed
                failed += 1
                message = f"{type(error).__name__}: {error}".replace("\n", "\n# ")
                print(f"not ok {number} - {name}\n# {message}", flush=True)
            finally:
                os.chdir(home)
    return 1 if failed else 0


sys.exit(main())
