#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the command `tessera`, in TAP.

usage: test_tool.py TESSERA PROBLEMS
"""
import itertools
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

TESSERA = str(Path(sys.argv[1]).resolve())
PROBLEMS = str(Path(sys.argv[2]).resolve())
COMMANDS = ['describe', 'explain', 'check', 'bench', 'convert', 'list']
ROWS = ['alias', 'copy', 'transpose', 'convert', 'gather', 'onednn']


# ---- running the command ----

def run(*words, status=0, env=None, **options):
    """Runs the command, checks its exit status, and that failures and only they write to stderr."""
    options.setdefault('stdout', subprocess.PIPE)
    done = subprocess.run([TESSERA, *words], stderr=subprocess.PIPE, timeout=300,
                          env={**os.environ, **(env or {})}, **options)
    said = done.stderr.decode(errors='replace')
    assert done.returncode == status, f'{words}: expected exit status {status}, found {done.returncode}: {said}'
    assert (status != 0) == bool(said), f'{words}: exit status {status}, on stderr: {said}'
    done.text = (done.stdout or b'').decode(errors='replace')
    done.said = said
    return done


def objects(done):
    """The JSON objects of an output, one a line."""
    return [json.loads(line) for line in done.text.splitlines()]


def one_object(*words):
    found = objects(run(*words, '--json'))
    assert len(found) == 1, found
    return found[0]


def equal(found, expected):
    assert found == expected, f'expected {expected!r}, found {found!r}'


def has(record, **types):
    """Does an object have these fields, of these types?"""
    for name, kind in types.items():
        assert isinstance(record.get(name), kind), f'{name} in {record}'


# ---- .npy files, by hand ----

FORMATS = {'f4': 'f', 'f8': 'd', 'f2': 'e', 'i1': 'b', 'u1': 'B', 'i4': 'i', 'i2': 'h'}


def write_npy(path, descr, shape, values, fortran=False):
    header = repr({'descr': descr, 'fortran_order': fortran, 'shape': tuple(shape)}).encode()
    header += b' ' * (-(len(header) + 11) % 64) + b'\n'
    order = '>' if descr[0] == '>' else '<'
    data = struct.pack(f'{order}{len(values)}{FORMATS[descr[1:]]}', *values)
    Path(path).write_bytes(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header + data)


def read_npy(path):
    """The type, the shape and the elements in the order of the file."""
    data = Path(path).read_bytes()
    equal(data[:8], b'\x93NUMPY\x01\x00')
    length = struct.unpack('<H', data[8:10])[0]
    equal((10 + length) % 64, 0)
    header = eval(data[10:10 + length], {'__builtins__': {}})
    assert header['descr'][0] in '<|' and header['fortran_order'] is False, header
    code = FORMATS[header['descr'][1:]]
    count = (len(data) - 10 - length) // struct.calcsize(code)
    return header['descr'], header['shape'], list(struct.unpack(f'<{count}{code}', data[10 + length:]))


def indices(dims):
    return itertools.product(*(range(dim) for dim in dims))


def files(folder):
    return sorted(path.name for path in Path(folder).iterdir())


# ---- help and usage ----

def test_help():
    for words in ['--help'], ['-h']:
        text = run(*words).text
        assert text.startswith('usage: tessera COMMAND')
        assert all(f'\n  {command} ' in text for command in COMMANDS)
    assert run('--version').text.startswith('tessera ')
    for command in COMMANDS:
        for option in '--help', '-h':
            text = run(command, option).text
            assert text.startswith(f'usage: tessera {command} '), text
            assert '--json' in text


def test_usage():
    for words in [[], ['frob'], ['--frob'], ['describe'], ['describe', 'nchw'], ['describe', 'nchw', '1x2x3x4', 'x'],
                  ['describe', 'nchw', '1x2x3x4', '--frob'], ['list', 'x'], ['list', '--frob'], ['check'], ['explain'],
                  ['bench'], ['check', '--frob', 'f32:a>f32:a 1'], ['check', '--threads', '0', 'f32:a>f32:a 1'],
                  ['check', '--threads', '2x', 'f32:a>f32:a 1'], ['check', '--threads'], ['check', '--file'],
                  ['bench', '--threads', '-1', 'f32:a>f32:a 1'], ['convert'], ['convert', 'in.npy'],
                  ['convert', 'in.npy', 'out.npy'], ['convert', 'in.npy', 'out.npy', '--from', 'nchw'],
                  ['convert', 'in.npy', 'out.npy', '--from', 'nchw', '--to', 'nhwc', '--axis', 'c'],
                  ['convert', 'in.npy', 'out.npy', '--from', 'nchw', '--to', 'nhwc', '--threads', '0'],
                  ['convert', 'in.npy', 'out.npy', 'third.npy', '--from', 'nchw', '--to', 'nhwc']]:
        equal(run(*words, status=2).text, '')


def test_text_that_does_not_parse():
    for words in [['describe', 'n9', '1x2'], ['describe', 'nchw', '1x2xq'], ['describe', 'nchw', ''],
                  ['describe', 'nchw', '1x2x3x4', '--index', '1,2'], ['describe', 'nchw', '1x2x3x4', '--dtype', 'f33'],
                  ['describe', 'nchw', '1x2x3x4', '--index', 'a,b,c,d'], ['explain', 'f32:nchw>f32:nhwc'],
                  ['bench', 'f32:nchw 1x2x3x4'], ['bench', 'f33:nchw>f32:nhwc 1x2x3x4'],
                  ['convert', 'a', 'b', '--from', 'nchw', '--to', 'nhwc', '--dims', '1y2'],
                  ['convert', 'a', 'b', '--from', 'nchw', '--to', 'nhwc', '--dtype', 'f33'],
                  ['convert', 'a', 'b', '--from', 'nchw', '--to', 'nhwc', '--mean', '1,,2'],
                  ['convert', 'a', 'b', '--from', 'nchw', '--to', 'nhwc', '--scale', 'x']]:
        equal(run(*words, status=2).text, '')
    for words in ['nonsense'], ['f32:nchw>f32:nhwc'], ['f32:nchw>f32:nhwc 1x2x3x4 bias'], ['f32>f32 1']:
        assert run('check', *words, status=2).text.startswith('FAILED')


def test_failures():
    for words in [['describe', 'nchw', '1x2'], ['describe', 'nchw', '1x2x3x4', '--index', '0,2,0,0'],
                  ['describe', 'nchw', '1x2x3x4', '--index', '0,0,0,-1'],
                  ['describe', 'ab', '9223372036854775807x2'], ['explain', 'f32:ab>f64:ab 2x3'],
                  ['explain', '--row', 'frob', 'f32:ab>f32:ba 2x3'], ['bench', '--row', 'gather', 'f32:ab>f32:ba 2x3'],
                  ['check', '--file', '/nonexistent/problems.txt'], ['check', '--file', '/']]:
        equal(run(*words, status=1).text, '')
    for words in [['f32:ab>f64:ab 2x3'], ['--row', 'gather', 'f32:ab>f32:ba 2x3'], ['--row', 'frob', 'f32:a>f32:a 1']]:
        assert run('check', *words, status=1).text.startswith('FAILED')


# ---- describe and list ----

def offset_of(record, index):
    """The formula of desc.h, for levels without padding before them."""
    rest, offset = list(index), record['offset']
    outermost = {axis: i for i, axis in reversed(list(enumerate(record['order'])))}
    for i in reversed(range(len(record['order']))):
        axis, extent = record['order'][i], record['block_dims'][i]
        step = rest[axis] if outermost[axis] == i else rest[axis] % extent
        rest[axis] //= extent
        offset += step * record['strides'][i]
    return offset


def test_describe():
    found = one_object('describe', 'nChw8c', '1x25x20x20', '--index', '0,9,1,2', '--index', '0,0,0,0')
    equal({name: found[name] for name in ('layout', 'dtype', 'dims', 'block_dims', 'order', 'strides', 'offset')},
          {'layout': 'nChw8c', 'dtype': 'f32', 'dims': [1, 25, 20, 20], 'block_dims': [1, 4, 20, 20, 8],
           'order': [0, 1, 2, 3, 1], 'strides': [12800, 3200, 160, 8, 1], 'offset': 0})
    equal((found['elements'], found['padded_elements'], found['size_bytes']), (10000, 12800, 51200))
    equal(found['offsets'], [3200 + 160 + 16 + 1, 0])
    equal(found['padding_share'], 1 - 10000 / 12800)
    text = run('describe', 'nChw8c', '1x25x20x20', '--index', '0,9,1,2').text
    assert '12800 elements, 21.9% of them padding' in text and 'offset of      0,9,1,2: 3377' in text, text


def test_describe_offsets():
    for layout, dims, dtype in [('nhwc', [2, 3, 4, 5], 's8'), ('OIhw4i16o4i', [17, 5, 1, 2], 'bf16'), ('c', [7], 'f64'),
                                ('[a2:100,b3:9,b2:4,c2:2]+7', [2, 5, 2], 'u16')]:
        wanted = [','.join(map(str, index)) for index in indices(dims)]
        options = [word for index in wanted for word in ('--index', index)]
        found = one_object('describe', layout, 'x'.join(map(str, dims)), '--dtype', dtype, *options)
        equal(found['offsets'], [offset_of(found, index) for index in indices(dims)])
        equal(len(set(found['offsets'])), len(wanted))


def test_describe_corners():
    equal(one_object('describe', 'scalar', 'scalar')['size_bytes'], 4)
    equal(one_object('describe', 'nchw', '2x0x3x4')['elements'], 0)
    equal(one_object('describe', 'scalar', 'scalar', '--index', '')['offsets'], [0])


def test_list():
    found = objects(run('list', '--json'))
    for record in found:
        has(record, kind=str, name=str, detail=str)
    names = {kind: [record['name'] for record in found if record['kind'] == kind] for kind in
             {record['kind'] for record in found}}
    equal(names['type'], 'f32 f64 f16 bf16 s8 u8 s16 u16 s32 u32 s64 u64 bool'.split())
    equal(names['row'], ROWS)
    assert {'nchw', 'nhwc', 'oihw'} <= set(names['layout'])
    equal([len(names['machine']), len(names['library'])], [1, 1])
    equal(len(run('list').text.splitlines()), len(found))


# ---- check, explain and bench ----

def test_problems():
    for options, env in ([], {}), (['--threads', '3'], {'TSR_CPU': 'c'}):
        found = objects(run('check', '--json', '--file', PROBLEMS, *options, env=env))
        assert len(found) >= 300, len(found)
        for record in found:
            has(record, problem=str, ok=bool, row=str, boxes=int)
            assert record['ok'], record
        equal(len({record['problem'] for record in found}), len(found))
        assert set(ROWS) - {'onednn'} <= {record['row'] for record in found}


def test_check():
    found = objects(run('check', '--json', 'f32:ab>f32:ba 2x3', 'u8:a>f32:a', '9', 'scale', 'u8:ab>u8:ba', '2x2'))
    equal([record['problem'] for record in found], ['f32:ab>f32:ba 2x3', 'u8:a>f32:a 9 scale', 'u8:ab>u8:ba 2x2'])
    text = b'# a comment\n\n  f32:ab>f32:ba 2x3  # another\r\n\tu8:a>u8:a 7\n'
    found = objects(run('check', '--json', '--file', '-', input=text))
    equal([record['problem'] for record in found], ['f32:ab>f32:ba 2x3', 'u8:a>u8:a 7'])
    equal(objects(run('check', '--json', '--file', '-', 'u8:a>u8:a 8', input=b''))[0]['problem'], 'u8:a>u8:a 8')
    equal(run('check', '--row', 'copy', 'u8:a>u8:a 8').text, 'ok     copy        1  u8:a>u8:a 8\n')


def test_check_reports_the_worst():
    good, refused, wrong = 'f32:a>f32:a 1', 'f32:a>f64:a 1', 'f32:a 1>'
    for problems, status in ([good, refused, good], 1), ([refused, wrong, good], 2), ([good, good], 0):
        found = objects(run('check', '--json', *problems, status=status))
        equal([record['ok'] for record in found], [problem == good for problem in problems])
        for record in found:
            equal('error' in record, not record['ok'])
    # what is not UTF-8 must not spoil the JSON
    found = objects(run('check', '--json', b'\xff\xc3:a>f32:a 1', status=2))
    equal(found[0]['problem'], '??:a>f32:a 1')


def test_explain():
    found = one_object('explain', '--threads', '1', '--row', 'copy', 'f32:nChw16c>f32:nChw8c 2x25x4x5')
    has(found, problem=str, row=str, kernel=str, boxes=int, zero_boxes=int, threads=int, cost=float, rows=list, box=list)
    equal((found['row'], found['boxes'], found['zero_boxes'], found['threads']), ('copy', 3, 1, 1))
    equal([row['row'] for row in found['rows']], ROWS)
    for row in found['rows']:
        has(row, applicable=bool, **({'cost': (int, float)} if row['applicable'] else {'reason': str}))
    equal(len(found['box']), 4)
    equal(found['box'][3], '0:481 2(0:640) | 20(0:8) 7(0:1), zero')
    text = run('explain', '--row', 'copy', 'f32:nChw16c>f32:nChw8c 2x25x4x5').text
    assert ', taken\n' in text and '    0:481 2(0:640) | 20(0:8) 7(0:1), zero\n' in text, text


def test_bench():
    for problem in 'f32:nchw>f32:nhwc 1x8x9x10', 'u8:a>u8:a 1000':
        found = one_object('bench', problem)
        has(found, problem=str, threads=int, bytes=int, median_us=float, memcpy_us=float, ratio=float, row=str, kernel=str)
        equal((found['problem'], found['threads']), (problem, 1))
        assert found['median_us'] > 0 and found['memcpy_us'] > 0
        assert abs(found['ratio'] / (found['median_us'] / found['memcpy_us']) - 1) < 1e-3
        assert found.get('onednn_us', 1.0) > 0
    equal(one_object('bench', '--row', 'transpose', 'f32:ab>f32:ba 20x30')['bytes'], 2 * 4 * 600)
    lines = run('bench', '--threads', '2', 'f32:ab>f32:ba 20x30').text.splitlines()
    assert len(lines) == 2 and 'x memcpy' in lines[0] and lines[1].endswith('f32:ab>f32:ba 20x30'), lines


# ---- convert ----

def test_convert_round_trip(folder):
    dims = (2, 19, 3, 5)
    values = [float(i) for i in range(2 * 19 * 15)]
    write_npy(folder / 'plain.npy', '<f4', dims, values)
    done = one_object('convert', f'{folder}/plain.npy', f'{folder}/blocked.npy', '--from', 'nchw', '--to', 'nChw16c',
                      '--verify')
    has(done, problem=str, size_bytes=int, row=str, kernel=str, boxes=int)
    equal((done['in'], done['out'], done['ok']), (f'{folder}/plain.npy', f'{folder}/blocked.npy', True))
    equal(done['problem'], 'f32:nchw>f32:nChw16c 2x19x3x5')
    descr, shape, blocked = read_npy(folder / 'blocked.npy')
    equal((descr, shape, done['size_bytes']), ('<f4', (2, 2, 3, 5, 16), 4 * len(blocked)))
    expected = [values[((n * 19 + c * 16 + i) * 3 + h) * 5 + w] if c * 16 + i < 19 else 0.0
                for n, c, h, w, i in indices(shape)]
    equal(blocked, expected)
    run('convert', f'{folder}/blocked.npy', f'{folder}/back.npy', '--from', 'nChw16c', '--to', 'nchw', '--dims',
        '2x19x3x5')
    equal(read_npy(folder / 'back.npy'), ('<f4', dims, values))
    # without dims the blocks are full
    run('convert', f'{folder}/blocked.npy', f'{folder}/full.npy', '--from', 'nChw16c', '--to', 'nchw')
    equal(read_npy(folder / 'full.npy')[1], (2, 32, 3, 5))


def test_convert_orders(folder):
    """Row-major, column-major and big-endian files of the same tensor."""
    dims = (2, 3, 4, 5)
    value = {index: i for i, index in enumerate(indices(dims))}
    columns = [value[index[::-1]] for index in indices(dims[::-1])]
    expected = [value[n, c, h, w] for n, h, w, c in indices((2, 4, 5, 3))]
    for descr in '<i4', '>i4', '<i2', '>f8', '<f4':
        for fortran in False, True:
            write_npy(folder / 'in.npy', descr, dims, columns if fortran else list(value.values()), fortran)
            run('convert', f'{folder}/in.npy', f'{folder}/out.npy', '--from', 'nchw', '--to', 'nhwc', '--verify')
            equal(read_npy(folder / 'out.npy'), ('<' + descr[1:], (2, 4, 5, 3), expected))


def test_convert_shapes(folder):
    for shape, values, source, target, result in [((), [7.5], 'scalar', 'scalar', ()), ((0, 3), [], 'ab', 'ba', (3, 0)),
                                                  ((1, 1), [2.0], 'hw', 'wh', (1, 1))]:
        write_npy(folder / 'in.npy', '<f4', shape, values)
        run('convert', f'{folder}/in.npy', f'{folder}/out.npy', '--from', source, '--to', target)
        equal(read_npy(folder / 'out.npy'), ('<f4', result, values))


def test_convert_numbers(folder):
    photo = [(7 * i) % 256 for i in range(3 * 4 * 5)]
    write_npy(folder / 'photo.npy', '|u1', (1, 4, 5, 3), photo)
    words = ['convert', f'{folder}/photo.npy', f'{folder}/out.npy', '--from', 'nhwc', '--to', 'nchw', '--verify']
    run(*words, '--dtype', 'f32', '--mean', '127.5,100,-3', '--scale', '0.5,0.25,2')
    mean, scale = [127.5, 100, -3], [0.5, 0.25, 2]
    expected = [(photo[(h * 5 + w) * 3 + c] - mean[c]) * scale[c] for c, h, w in indices((3, 4, 5))]
    equal(read_npy(folder / 'out.npy'), ('<f4', (1, 3, 4, 5), expected))
    # one value for all; another axis; rounding to even and saturation
    run(*words, '--dtype', 'f16', '--mean', '10')
    equal(read_npy(folder / 'out.npy')[2], [float(photo[(h * 5 + w) * 3 + c] - 10) for c, h, w in indices((3, 4, 5))])
    run(*words, '--dtype', 's8', '--scale', '0.5,1', '--axis', '0', status=1)
    run(*words, '--dtype', 's8', '--scale', '0.5,1,1,1', '--axis', '2')
    expected = [min(127, round(photo[(h * 5 + w) * 3 + c] * (0.5 if h == 0 else 1))) for c, h, w in indices((3, 4, 5))]
    equal(read_npy(folder / 'out.npy'), ('|i1', (1, 3, 4, 5), expected))


def test_convert_bench(folder):
    write_npy(folder / 'in.npy', '<f4', (4, 5), [1.0] * 20)
    done = one_object('convert', f'{folder}/in.npy', f'{folder}/out.npy', '--from', 'ab', '--to', 'ba', '--bench')
    has(done, threads=int, bytes=int, median_us=float, memcpy_us=float, ratio=float)
    equal((done['threads'], done['bytes']), (1, 160))


def test_convert_refusals(folder):
    """What cannot be done leaves no file behind, and a file that was there untouched."""
    write_npy(folder / 'in.npy', '<f4', (2, 3, 4), [0.0] * 24)
    (folder / 'kept.npy').write_text('precious')
    (folder / 'text.npy').write_text('no array')
    (folder / 'cut.npy').write_bytes((folder / 'in.npy').read_bytes()[:-1])
    before = files(folder)
    for words in [['in.npy', '--from', 'nchw', '--to', 'nhwc'], ['in.npy', '--from', 'abc', '--to', 'ab'],
                  ['in.npy', '--from', 'abc', '--to', 'cba', '--dims', '2x3x5'],
                  ['in.npy', '--from', 'abc', '--to', 'cba', '--dims', '2x3'],
                  ['in.npy', '--from', 'abc', '--to', 'cba', '--dtype', 'f64'],
                  ['in.npy', '--from', 'abc', '--to', 'cba', '--dtype', 'bf16'],
                  ['in.npy', '--from', 'abc', '--to', 'cba', '--mean', '1,2'],
                  ['in.npy', '--from', 'abc', '--to', 'cba', '--mean', '1,2', '--axis', '7'],
                  ['in.npy', '--from', 'abc', '--to', '[a2:100,b3:4,c4:1]'],
                  ['in.npy', '--from', '[a2:100,b3:4,c4:1]', '--to', 'abc', '--dims', '2x3x4'],
                  ['missing.npy', '--from', 'abc', '--to', 'cba'], ['.', '--from', 'abc', '--to', 'cba'],
                  ['text.npy', '--from', 'abc', '--to', 'cba'], ['cut.npy', '--from', 'abc', '--to', 'cba']]:
        for out in 'out.npy', 'kept.npy':
            equal(run('convert', words[0], out, *words[1:], status=1, cwd=folder).text, '')
    equal(files(folder), before)
    equal((folder / 'kept.npy').read_text(), 'precious')


def test_convert_outputs(folder):
    values = [float(i) for i in range(20)]
    turned = [values[i * 5 + j] for j, i in indices((5, 4))]
    write_npy(folder / 'in.npy', '<f4', (4, 5), values)
    words = ['--from', 'ab', '--to', 'ba']
    before = files(folder)
    for out in 'missing/out.npy', '.', '/dev/full':
        run('convert', 'in.npy', out, *words, status=1, cwd=folder)
        equal(files(folder), before)
    # an output that is there is replaced, also when it is the input
    (folder / 'out.npy').write_text('old')
    run('convert', 'in.npy', 'out.npy', *words, cwd=folder)
    equal(read_npy(folder / 'out.npy'), ('<f4', (5, 4), turned))
    run('convert', 'in.npy', 'in.npy', *words, cwd=folder)
    equal(read_npy(folder / 'in.npy'), ('<f4', (5, 4), turned))
    equal(files(folder), ['in.npy', 'out.npy'])


# ---- standard output that cannot take it ----

def test_full_device():
    for words in ['list'], ['--help'], ['--version'], ['check', 'f32:a>f32:a 1'], ['describe', 'a', '3', '--json']:
        with open('/dev/full', 'wb') as full:
            assert 'standard output' in run(*words, stdout=full, status=1).said


def test_broken_pipe():
    for words in ['list', '--json'], ['check', '--file', PROBLEMS]:
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, 'wb') as pipe:
            done = subprocess.run([TESSERA, *words], stdout=pipe, stderr=subprocess.DEVNULL, timeout=300)
        assert done.returncode in (1, -signal.SIGPIPE), done.returncode


# ---- TAP ----

def call(test):
    if test.__code__.co_argcount == 0:
        return test()
    with tempfile.TemporaryDirectory() as folder:
        return test(Path(folder))


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith('test_')]
    failures = 0
    print(f'1..{len(tests)}')
    for number, (name, test) in enumerate(tests, 1):
        try:
            call(test)
            print(f'ok {number} - {name}', flush=True)
        except Exception:
            failures += 1
            print(f'not ok {number} - {name}')
            for line in traceback.format_exc().splitlines():
                print(f'# {line}', flush=True)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
