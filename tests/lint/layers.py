#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Includes point to the own or a lower layer of lib/layers.txt.

A file in a folder under lib/ has the number of the nearest folder in the table; files
directly in lib/ belong to the highest layer of lib/. Folders of the table outside lib/ are
users of the library and see its public headers only, and of files what is their own or lies in
a user of a lower layer; but for preload/, which has the library in it.
"""
import posixpath
import re

import source

RULES = ('layers.table', 'layers.missing', 'layers.upward', 'layers.seam', 'layers.object',
         'layers.public', 'layers.user')

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)"|(\w+))', re.M)
SEAM_FROM = 2                                   # from this layer on, only through os/seam.h
BEHIND_SEAM = ('lib/os/futex.h', 'lib/os/clock.h')
OBJECTS = 'lib/sync'
INSIDE = ('lib', 'preload')                     # what is the library, or has it in it
# A user of the library that has to see one internal header, or the other way round, and why.
USER_EXCEPTIONS = {
    # The simulator and replay judge the rule itself, not a copy of it.
    ('tools/rules/rule_ipcwait.c', 'policy/sites.h'),
    ('tools/rules/rule_ipcwait.c', 'policy/window.h'),
    # What the module and `ipcwait run` have to agree on.
    ('preload/follow.c', '../tools/common/tally_form.h'),
    ('preload/tally.c', '../tools/common/tally_form.h'),
    ('preload/filter.c', '../tools/common/calls_form.h'),
    # What both look at before they start a program.
    ('preload/exec.c', '../tools/common/program_look.h'),
}
OBJECT_PAIRS = {('cond', 'mutex')}              # these may see each other's headers
OF_ALL_OBJECTS = ('lib/sync/any.h', 'lib/sync/copy.h', 'lib/sync/object.h')
C_STANDARD = set('''assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h
    locale.h math.h setjmp.h signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h
    stdio.h stdlib.h stdnoreturn.h string.h tgmath.h threads.h time.h uchar.h wchar.h
    wctype.h'''.split())


def read_table(tree):
    """{folder: number} from lib/layers.txt."""
    table = {}
    if 'lib/layers.txt' not in tree.paths:
        tree.add('layers.table', 'lib/layers.txt', 1, 'is missing: one `<number> <folder>` a line')
        return table
    for n, line in enumerate(tree.source('lib/layers.txt').text.splitlines(), 1):
        words = line.split('#')[0].split()
        if not words:
            continue
        if len(words) != 2 or not words[0].isdigit() or words[1] in table:
            tree.add('layers.table', 'lib/layers.txt', n, 'want `<number> <folder>`, each once')
            continue
        table[words[1]] = int(words[0])
    return table


def layer_of(table, path):
    """Number of the nearest folder in the table, None if there is none."""
    folder = posixpath.dirname(path)
    if folder == 'lib':
        return max((n for f, n in table.items() if f.startswith('lib/')), default=None)
    while folder and folder != 'lib':
        if folder in table:
            return table[folder]
        folder = posixpath.dirname(folder)
    return None


def resolve(tree, file, name):
    """The files of the tree that an include may mean."""
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), name))
    for path in (beside, 'lib/' + name, 'include/' + name):
        if path in tree.paths:
            return [path]
    return [p for p in tree.paths if p.startswith('lib/') and p.endswith('/' + name)]


def object_of(path):
    """mutex for lib/sync/mutex.c and lib/sync/mutex_robust.c."""
    return posixpath.basename(path).split('.')[0].split('_')[0]


def check_public(tree, file, line, name, quoted):
    """Public headers: public headers and standard C only."""
    if name is None:
        if not file.within('include/ipcwait/impl'):
            tree.add('layers.public', file.path, line, 'name the header, a macro hides it')
    elif quoted or not (name in C_STANDARD or 'include/' + name in tree.paths):
        tree.add('layers.public', file.path, line,
                 f'a public header includes {name}: only <ipcwait/...> and standard C headers')


def check_user(tree, table, file, line, name, quoted):
    """Users: public headers, system headers, own files, those of users below."""
    targets = resolve(tree, file, name) if name else []
    own = file.path.split('/')[0] + '/'
    below = tuple(f + '/' for f, number in table.items()
                  if f.split('/')[0] not in INSIDE and number < layer_of(table, file.path))
    if (file.path, name) in USER_EXCEPTIONS:
        return
    if quoted and not any(t.startswith((own, *below)) for t in targets):
        tree.add('layers.user', file.path, line,
                 f'"{name}" is not a file of {" or ".join((own, *below))}')
    elif name and (name.startswith('ipcwait/impl/') or
                   any(t.startswith('lib/') for t in targets)):
        tree.add('layers.user', file.path, line,
                 f'{own} includes the internal {name}: users see <ipcwait/*.h> only')


def check_objects(tree, file, line, target):
    """Objects of lib/sync do not include each other's headers."""
    if not file.within(OBJECTS) or target in OF_ALL_OBJECTS:
        return
    me, other = object_of(file.path), object_of(target)
    of_object = target.startswith(OBJECTS + '/') or \
        target.startswith('include/ipcwait/') and f'{OBJECTS}/{other}.c' in tree.paths
    if of_object and me != other and (me, other) not in OBJECT_PAIRS:
        tree.add('layers.object', file.path, line,
                 f'{me} includes the header of {other}: move what both need down to lib/engine')


def check_internal(tree, table, file, line, name, quoted):
    """lib/: own layer or lower; the seam."""
    own = layer_of(table, file.path)
    targets = resolve(tree, file, name) if name else []
    if quoted and not targets:
        tree.add('layers.missing', file.path, line, f'"{name}" is no file of this tree')
    for target in targets:
        check_objects(tree, file, line, target)
        if not target.startswith((*(f + '/' for f in INSIDE), 'include/')) and \
                (file.path, name) not in USER_EXCEPTIONS:
            tree.add('layers.user', file.path, line,
                     f'{target} is of programs that use the library')
        if not target.startswith('lib/') or own is None:
            continue
        number = layer_of(table, target)
        if number is None or number > own:
            tree.add('layers.upward', file.path, line,
                     f'layer {own} includes {target} of layer {number}: turn the call around')
        elif own >= SEAM_FROM and (number == 0 or target in BEHIND_SEAM):
            tree.add('layers.seam', file.path, line,
                     f'include "os/seam.h" instead of {target}: from layer {SEAM_FROM} on it is '
                     'the only way down')


def check(tree):
    table = read_table(tree)
    if not table:
        return 0, 'layers'
    users = tuple(f for f in table if f.split('/')[0] not in INSIDE)
    count = 0
    for file in tree.c_sources():
        if file.within('lib') and layer_of(table, file.path) is None:
            tree.add('layers.table', file.path, 1, 'its folder is not in lib/layers.txt: add it')
        for m in INCLUDE.finditer(file.bare):
            count += 1
            line, name, quoted = file.line(m.start()), m[1] or m[2], m[2] is not None
            if file.within('include'):
                check_public(tree, file, line, name, quoted)
            elif file.within(*INSIDE):
                check_internal(tree, table, file, line, name, quoted)
            elif file.within(*users):
                check_user(tree, table, file, line, name, quoted)
    return count, 'includes'


if __name__ == '__main__':
    source.main(check)
