# SPDX-License-Identifier: Apache-2.0
"""Builds and tests each configuration, and ends with the line "N passed, N failed" over all of them."""
import os
import platform
import subprocess
import sys
import xml.etree.ElementTree

IS_X86_64 = platform.machine() == "x86_64"

STRICT = ["--werror", "-Dtools=enabled", "-Dtests=enabled"]
SANITIZED = [*STRICT, "--buildtype=debugoptimized", "-Db_sanitize=address,undefined", "-Db_lundef=false",
             "-Dc_args=-fno-sanitize-recover=all"]
RELEASE = [*STRICT, "--buildtype=release"]
FEATURES = ["onednn", "hwloc", "openmp", "dlpack", "opencl", "blas", "protobuf"]


def features(value, but=()):
    return [f"-D{name}={value}" for name in FEATURES if name not in but]


# Folder, compiler and options: with everything, and sanitizers; as users get it with nothing, where what knows of no
# feature is not tested again but under qemu; and by another compiler, where the exported symbols and the installation
# are checked.
ALL = ("build-test/all", "gcc", SANITIZED + features("enabled"))
NONE = ("build-test/none", "gcc", RELEASE + features("disabled"))
CLANG = ("build-test/clang", "clang", RELEASE + ["-Dopenmp=disabled"])

# What several threads do to one object.
THREADED_TESTS = ["blob", "blob_copy", "blob_failing", "blob_memory", "blob_parts", "blob_places", "blob_threads",
                  "blob_view", "device", "neoml", "opencl", "plan_cache", "plan_resources", "storage"]
THREADS = ("build-test/threads", "gcc", [*STRICT, "--buildtype=debugoptimized", "-Db_sanitize=thread",
                                         "-Db_lundef=false", "-Dexamples=false", "-Dopencl=enabled"]
           + features("disabled", but=["opencl"]))

# What runs every kernel, and is quick enough for qemu.
KERNEL_TESTS = ["kernels", "ladder", "row_kernels", "streaming", "choices", "run_choices", "relay_choices",
                "reorder_random", "vectors_reorder"]
AARCH64 = ("build-test/aarch64", "aarch64-linux-gnu-gcc",
           RELEASE + features("disabled") + ["--cross-file=build-test/aarch64-root.ini",
                                             "--cross-file=scripts/aarch64.ini"])
# For each rung a CPU that stops where a higher one begins; kernels of lower ones run on theirs. qemu knows no AVX-512.
X86_64_CPUS = {"c": "qemu64", "sse41": "Nehalem", "avx2": "Nehalem,+xsave,+avx,+avx2,+f16c,+fma"}

# For each fuzz target; scripts/fuzz runs longer.
FUZZ_SECONDS = 5


def counted(what, is_right):
    """One check, as passed and failed."""
    print(f"== {what}: {'yes' if is_right else 'NO'}", flush=True)
    return (1, 0) if is_right else (0, 1)


def build(folder, compiler, options, programs):
    fresh = [] if not os.path.exists(f"{folder}/build.ninja") else ["--reconfigure"]
    environment = dict(os.environ, CC=compiler)
    return (subprocess.run(["meson", "setup", folder, *fresh, *options], env=environment).returncode == 0
            and subprocess.run(["ninja", "-C", folder, *programs]).returncode == 0)


def run_tests(folder, *arguments, log="testlog", **variables):
    """Runs meson's tests and counts the cases in its report."""
    environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1", **variables)
    times = "20" if os.environ.get("TSR_TEST_LONG") == "1" else "1"
    status = subprocess.run(["meson", "test", "-C", folder, "--print-errorlogs", "--timeout-multiplier", times,
                             *arguments], env=environment).returncode
    suites = xml.etree.ElementTree.parse(f"{folder}/meson-logs/{log}.junit.xml").getroot().iter("testsuite")
    passed = failed = 0
    for suite in suites:
        wrong = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        passed += int(suite.get("tests", 0)) - wrong - int(suite.get("skipped", 0))
        failed += wrong
    return passed, max(failed, 1) if status else failed


def run_natively(folder):
    return [run_tests(folder)]


def run_threaded(folder):
    return [run_tests(folder, *THREADED_TESTS)]


def run_as_aarch64(folder):
    return [run_tests(folder, "convert", *KERNEL_TESTS, TSR_TEST_SHORT="1")]


def run_as_each_x86_64(folder):
    results = []
    for rung, cpu in X86_64_CPUS.items():
        emulator = f"qemu-x86_64 -cpu {cpu}"
        version = subprocess.run([*emulator.split(), f"{folder}/tools/tessera", "--version"], stdout=subprocess.PIPE)
        results += [counted(f"{emulator} is on rung {rung}", version.stdout.endswith(f" {rung}\n".encode())),
                    run_tests(folder, f"--wrapper={emulator}", *KERNEL_TESTS, log="testlog-qemu-x86_64",
                              TSR_TEST_RUNG=rung, TSR_TEST_SHORT="1")]
    return results


def run_without_features(folder):
    results = [run_tests(folder, "--no-suite", "kernels")]
    return results + (run_as_each_x86_64(folder) if IS_X86_64 else [])


def test(configuration, run, programs=()):
    """Builds a configuration, or some programs of it, and runs its tests."""
    folder, compiler, options = configuration
    print(f"== {folder}: {compiler} {' '.join(options)}", flush=True)
    built = counted(f"{folder} builds without a warning", build(folder, compiler, options, programs))
    return [built] + (run(folder) if built == (1, 0) else [])


def main():
    results = []
    results += test(ALL, run_natively)
    results += test(NONE, run_without_features)
    results += test(CLANG, run_natively)
    results += test(THREADS, run_threaded, [f"tests/test_{name}" for name in THREADED_TESTS])
    if IS_X86_64:
        results += test(AARCH64, run_as_aarch64)
    print(f"== each parser: {FUZZ_SECONDS} seconds of fuzzing", flush=True)
    results.append(counted("no finding", subprocess.run(["scripts/fuzz", str(FUZZ_SECONDS)]).returncode == 0))
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main())
