#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom: include <- base <- desc <- reorder <- blocked <- port <- tools.

usage: check_includes.py SOURCE_ROOT
"""
import re
import sys
from pathlib import Path

LAYERS = ['include', 'base', 'desc', 'reorder', 'blocked', 'port', 'tools']

# The layer that a public header speaks for.
PUBLIC = {
    'export.h': 'include',
    'status.h': 'base', 'memory.h': 'base', 'cpu.h': 'base', 'topology.h': 'base', 'parallel.h': 'base',
    'placement.h': 'base',
    'dtype.h': 'desc', 'desc.h': 'desc', 'text.h': 'desc',
    'view.h': 'desc', 'algebra.h': 'desc', 'dialect.h': 'desc', 'openvino.h': 'desc',
    'onednn.h': 'reorder', 'plan_cache.h': 'reorder', 'reorder.h': 'reorder', 'wisdom.h': 'reorder',
    'arithmetic.h': 'blocked', 'blob.h': 'blocked', 'compound.h': 'blocked', 'device.h': 'blocked', 'dlpack.h': 'blocked', 'neoml.h': 'blocked', 'storage.h': 'blocked',
    'caffe.h': 'port', 'caffe_proto.h': 'port', 'npy.h': 'port',
    'tessera.h': 'tools',
}

# Headers of other projects, and the only place that may include each.
OUTSIDE = {
    'CL/': 'src/blocked/opencl/',
    'cblas': 'src/blocked/blas/axpy.c',
    'dlpack/': 'src/blocked/dlpack/',
    'hwloc': 'src/base/topology.c',
    'oneapi/dnnl/': 'src/reorder/onednn/',
    'dnnl': 'src/reorder/onednn/',
    'protobuf-c/': 'src/port/caffe/',
    'caffe.pb-c.h': 'src/port/caffe/',
}

KERNELS = 'src/reorder/kernels/'
KERNELS_MAY = {'export.h', 'cpu.h', 'dtype.h'}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer_of(path):
    """The layer of a file, by its path from the root."""
    parts = path.split('/')
    if parts[0] == 'include':
        return PUBLIC[parts[-1]]
    return parts[1] if parts[0] == 'src' else parts[0]


def layer_of_include(path, quote, name):
    """The layer that an include reaches; None for the system's headers."""
    if name.startswith('tessera/'):
        return PUBLIC[name.removeprefix('tessera/')]
    if quote == '<':
        return None
    return name.split('/')[0] if '/' in name else layer_of(path)


def complaints(path, text):
    for quote, name in INCLUDE.findall(text):
        for prefix, place in OUTSIDE.items():
            if name.startswith(prefix) and not path.startswith(place):
                yield f'{path}: only {place} may include {name}'
        try:
            here, there = layer_of(path), layer_of_include(path, quote, name)
        except KeyError as header:
            yield f'{path}: the public header {header} has no layer in check_includes.py'
            continue
        if there is None:
            continue
        if there not in LAYERS or LAYERS.index(there) > LAYERS.index(here):
            yield f'{path}: {here} may not include {name}'
        if path.startswith(KERNELS) and not name.startswith('reorder/kernels/') \
                and name.removeprefix('tessera/') not in KERNELS_MAY:
            yield f'{path}: a kernel may not include {name}'


def main():
    root = Path(sys.argv[1])
    found, files = [], 0
    for folder in ['include', 'src', 'tools']:
        for file in sorted((root / folder).rglob('*')):
            if file.suffix in ['.c', '.h', '.inc']:
                files += 1
                found += complaints(file.relative_to(root).as_posix(), file.read_text(encoding='utf-8'))
    print('\n'.join(found + [f'{files} files, {len(found)} complaints']))
    return 1 if found or not files else 0


if __name__ == '__main__':
    sys.exit(main())
