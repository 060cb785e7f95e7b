#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print the version script as a C table: map_table.py ROOT > exports.inc"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'lint'))
sys.dont_write_bytecode = True

from source import Tree             # noqa: E402
from symbols import MAP, read_map   # noqa: E402

exported = read_map(Tree(sys.argv[1]).source(MAP)).symbols
for name, (node, _) in sorted(exported.items()):
    print(f'{{ "{name}", "{node}" }},')
