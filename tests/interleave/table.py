#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn what the programs of this folder print into the tables of docs/verification.md.

Usage: build/tests/interleave/interleave_sem | table.py
"""
import re
import sys

ROW = re.compile(r'^(.*?) +(\d)  (sc|tso|weak) +(all|pct|random) +(\d+) +(\d+)( all)? .*/ms  (.*)$')


def main():
    rows, order = {}, []
    for line in sys.stdin:
        row = ROW.match(line)
        if not row:
            continue
        name, threads, memory, search, bound, executions, complete, verdict = row.groups()
        if name not in rows:
            order.append(name)
            rows[name] = {'threads': threads, 'chance': 0, 'verdict': set()}
        cells = rows[name]
        cells['verdict'].add(verdict)
        if search == 'all':
            text = f'{bound}: {executions}' + ('' if complete or verdict != 'passes' else ' +')
            cells.setdefault(memory, []).append((bool(complete), text))
        else:
            cells['chance'] += int(executions)
    def cell(found):
        """The last that is complete, and what was cut off beyond."""
        whole = [text for complete, text in found if complete]
        cut = [text for complete, text in found if not complete]
        return ', '.join(whole[-1:] + cut[:1])

    print('| scenario | threads | sc | tso | weak | by chance | result |')
    print('|---|---|---|---|---|---|---|')
    for name in order:
        c = rows[name]
        print(f"| {name} | {c['threads']} | {cell(c.get('sc', []))} | {cell(c.get('tso', []))} | "
              f"{cell(c.get('weak', []))} | {c['chance'] or ''} | {', '.join(sorted(c['verdict']))} |")


if __name__ == '__main__':
    main()
