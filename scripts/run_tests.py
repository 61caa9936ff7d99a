# SPDX-License-Identifier: Apache-2.0
"""Builds and tests each configuration, and ends with the line "N passed, N failed" over all of them."""
import os
import subprocess
import sys
import xml.etree.ElementTree

SANITIZED = ["--buildtype=debugoptimized", "-Db_sanitize=address,undefined", "-Db_lundef=false", "--werror",
             "-Dtools=enabled", "-Dtests=enabled", "-Dc_args=-fno-sanitize-recover=all"]
FEATURES = ["onednn", "hwloc", "openmp", "dlpack"]


def features(value):
    return [f"-D{name}={value}" for name in FEATURES]


# Folder, compiler and options. The last is what users get, and where the exported symbols and the installation are checked.
CONFIGURATIONS = [
    ("build-test/all", "gcc", SANITIZED + features("enabled")),
    ("build-test/none", "gcc", SANITIZED + features("disabled")),
    ("build-test/clang", "clang",
     ["--buildtype=release", "--werror", "-Dtools=enabled", "-Dtests=enabled", "-Dopenmp=disabled"]),
]

# For each fuzz target; scripts/fuzz runs longer.
FUZZ_SECONDS = 5


def build(folder, compiler, options):
    fresh = [] if not os.path.exists(f"{folder}/build.ninja") else ["--reconfigure"]
    environment = dict(os.environ, CC=compiler)
    return (subprocess.run(["meson", "setup", folder, *fresh, *options], env=environment).returncode == 0
            and subprocess.run(["ninja", "-C", folder]).returncode == 0)


def run_tests(folder):
    """Runs meson's tests and counts the cases in its report."""
    environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1")
    status = subprocess.run(["meson", "test", "-C", folder, "--print-errorlogs"], env=environment).returncode
    suites = xml.etree.ElementTree.parse(f"{folder}/meson-logs/testlog.junit.xml").getroot().iter("testsuite")
    passed = failed = 0
    for suite in suites:
        wrong = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        passed += int(suite.get("tests", 0)) - wrong - int(suite.get("skipped", 0))
        failed += wrong
    return passed, max(failed, 1) if status else failed


def main():
    total_passed = total_failed = 0
    for folder, compiler, options in CONFIGURATIONS:
        print(f"== {folder}: {compiler} {' '.join(options)}", flush=True)
        passed, failed = (1, 0) if build(folder, compiler, options) else (0, 1)
        print(f"== {folder}: {'built without a warning' if passed else 'DOES NOT BUILD'}", flush=True)
        if passed:
            more_passed, failed = run_tests(folder)
            passed += more_passed
        total_passed += passed
        total_failed += failed
    print(f"== each parser: {FUZZ_SECONDS} seconds of fuzzing", flush=True)
    found = subprocess.run(["scripts/fuzz", str(FUZZ_SECONDS)]).returncode != 0
    total_passed += not found
    total_failed += found
    print(f"{total_passed} passed, {total_failed} failed")
    return 1 if total_failed or not total_passed else 0


sys.exit(main())
