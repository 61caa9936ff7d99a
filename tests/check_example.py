# SPDX-License-Identifier: Apache-2.0
"""An example succeeds and prints what is written beside it, where * stands for what differs from machine to machine.

usage: check_example.py EXPECTED PROGRAM [ARGUMENT...]
"""
import itertools
import re
import subprocess
import sys


def agrees(line, wanted):
    return re.fullmatch('.*'.join(map(re.escape, wanted.split('*'))), line.rstrip()) is not None


def main(expected, *command):
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    lines = itertools.zip_longest(run.stdout.splitlines(), open(expected, encoding='utf-8').read().splitlines())
    wrong = [pair for pair in lines if None in pair or not agrees(*pair)]
    for line, wanted in wrong:
        print(f'expected: {wanted}\nprinted:  {line}')
    return run.returncode or int(wrong != [])


sys.exit(main(*sys.argv[1:]))
