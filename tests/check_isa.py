#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the kernels of each rung have no instruction that a CPU of that rung may lack: the
assembler takes them all again, and refuses what the rung does not ask for.

usage: check_isa.py OBJDUMP AS {RUNG LIBRARY}...
"""
import re
import subprocess
import sys

SSE41 = '+sse4.1'
AVX2 = '+avx2+f16c+fma'
AVX512 = AVX2 + '+avx512f+avx512bw+avx512dq+avx512vl'
ALLOWED = {'c': '', 'sse41': SSE41, 'avx2': AVX2, 'avx512': AVX512, 'avx512vbmi': AVX512 + '+avx512vbmi'}

FUNCTION = re.compile(r'^[0-9a-f]+ <(.+)>:$')
INSTRUCTION = re.compile(r'^ *[0-9a-f]+:\t(.+)$')
REFUSED = re.compile(r'^.*?:(\d+): Error: (.*)$', re.MULTILINE)

# What every CPU has, but the assembler does not read as it was printed; an older CPU takes tzcnt for bsf, which does here.
EVERYWHERE = re.compile(r'(call|j\w+) +[0-9a-f]+$|.*\bnop[lw]?\b|endbr64|notrack |tzcnt ')


def instructions(objdump, library):
    """All of a library, each with the function that it is in."""
    function = ''
    listing = subprocess.run([objdump, '-d', '--no-show-raw-insn', library], check=True, capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        if found := FUNCTION.match(line):
            function = found.group(1)
        elif found := INSTRUCTION.match(line):
            text = re.sub(r' +#.*| <.*>', '', found.group(1)).strip()
            if not EVERYWHERE.match(text):
                yield function, text


def complaints(assembler, rung, found):
    source = ''.join(f'{text}\n' for _, text in found)
    command = [assembler, '--64', f'-march=generic64{ALLOWED[rung]}', '-o', '/dev/null', '-']
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    refused = REFUSED.findall(done.stderr)
    for line, message in refused:
        function, text = found[int(line) - 1]
        yield f'{rung}: {function}: {text}: {message}'
    if done.returncode != 0 and not refused:
        yield f'{rung}: {done.stderr}'


def main():
    objdump, assembler, *units = sys.argv[1:]
    units = list(zip(units[::2], units[1::2]))
    if not objdump or not assembler or any(rung not in ALLOWED for rung, _ in units):
        print('skipped: this needs objdump and as, and knows the rungs of x86-64 alone')
        return 77
    failed = False
    for rung, library in units:
        found = list(instructions(objdump, library))
        bad = list(complaints(assembler, rung, found))
        print('\n'.join(bad + [f'{rung}: {len(found)} instructions, {len(bad)} complaints']))
        failed |= bool(bad) or not found
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
