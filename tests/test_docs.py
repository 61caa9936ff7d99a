# SPDX-License-Identifier: Apache-2.0
"""What the documents say is so: `describe` prints what is shown below it, functions that are named exist, and no function
that somebody comes from Caffe or NeoML with is left out.

usage: test_docs.py TESSERA ROOT
"""
import glob
import os
import re
import shlex
import subprocess
import sys
from collections import Counter

PROMPT = '    $ tessera describe '
NAME = re.compile(r'\b(?:tsr|TSR)_[A-Za-z0-9_]+')
COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)
ENVIRONMENT = {'TSR_CPU', 'TSR_WISDOM'}
NOTHING = 'nothing to call: '
ROW = re.compile(r'\| `([^`|]+)` \| (?=.*`tsr_|' + NOTHING + r').+ \|')


def commands(path):
    """(line number, command, what is shown below it) for each `tessera describe` of a document."""
    lines = open(path, encoding='utf-8').read().splitlines()
    for number, line in enumerate(lines):
        if not line.startswith(PROMPT):
            continue
        end = number + 1
        while end < len(lines) and lines[end].startswith('    ') and not lines[end].startswith('    $ '):
            end += 1
        yield number + 1, line[len(PROMPT):], [shown[4:] for shown in lines[number + 1:end]]


def missing_names(path, known):
    """Names of ours that no public header declares; NAME_* stands for all that begin so."""
    text = open(path, encoding='utf-8').read()
    for name in sorted(set(NAME.findall(text))):
        if name not in known and not (name.endswith('_') and any(other.startswith(name) for other in known)):
            yield name


def listed(root, document):
    """The functions that a document's tables have to have."""
    lines = open(os.path.join(root, 'tests', 'seed_functions.txt'), encoding='utf-8').read().splitlines()
    return [line.split(maxsplit=2)[2] for line in lines if line.startswith(document + ' ')]


def table_flaws(path, wanted):
    """Rows that do not say where a function went, and what sets the rows apart from the functions wanted."""
    found = []
    for line in open(path, encoding='utf-8').read().splitlines():
        if not line.startswith('| ') or line == '| there | here |':
            continue
        row = ROW.fullmatch(line)
        if not row:
            yield f'expected "| `function there` | `tsr_function` or {NOTHING} |", found {line}'
        else:
            found.append(row[1])
    yield from (f'{name} has no row' for name in Counter(wanted) - Counter(found))
    yield from (f'{name} has two rows, or is not in the list' for name in Counter(found) - Counter(wanted))


def main(tool, root):
    shown_in = sorted(glob.glob(os.path.join(root, 'docs', '*.md')))
    known = set(ENVIRONMENT)
    for header in glob.glob(os.path.join(root, 'include', 'tessera', '*.h')):
        known |= set(NAME.findall(COMMENT.sub('', open(header, encoding='utf-8').read())))
    results = []
    for path in [*shown_in, os.path.join(root, 'README.md')]:
        name = os.path.basename(path)
        missing = list(missing_names(path, known))
        results.append((not missing, f'{name} names what exists', [f'{word} is in no header' for word in missing]))
        for number, command, shown in commands(path) if path in shown_in else []:
            run = subprocess.run([tool, 'describe', *shlex.split(command)], capture_output=True, text=True, check=False)
            printed = (run.stdout + run.stderr).splitlines()
            results.append((printed == shown, f'{name}:{number} {command}'.replace('#', ''), ['printed: ' + line for line in printed]))
    for document in ['caffe', 'neoml']:
        path = os.path.join(root, 'docs', f'coming-from-{document}.md')
        flaws = list(table_flaws(path, listed(root, document)))
        results.append((not flaws, f'{os.path.basename(path)} has a row for each function', flaws))
    print(f'1..{len(results)}')
    for number, (passed, title, remarks) in enumerate(results, 1):
        print(f'{"ok" if passed else "not ok"} {number} - {title}')
        for remark in [] if passed else remarks:
            print('# ' + remark)
    return 0 if all(passed for passed, _, _ in results) else 1


sys.exit(main(*sys.argv[1:]))
