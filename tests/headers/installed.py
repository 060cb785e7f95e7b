#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each header that is there is installed: installed.py INCLUDE_DIRECTORY BUILD_DIRECTORY"""
import json
import os
import sys


def headers(include):
    for place, _, names in os.walk(include):
        for name in names:
            if name.endswith(('.h', '.hpp')):
                yield os.path.relpath(os.path.join(place, name), include)


def main():
    include, build = sys.argv[1:]
    with open(os.path.join(build, 'meson-info', 'intro-installed.json'), encoding='utf-8') as file:
        installed = {os.path.realpath(source): to for source, to in json.load(file).items()}
    there = sorted(headers(include))
    missing = [h for h in there
               if not installed.get(os.path.realpath(os.path.join(include, h)), '').endswith('/include/' + h)]
    print('\n'.join(f'{h} is not installed' for h in missing) or f'{len(there)} headers')
    sys.exit(bool(missing or not there))


main()
