# SPDX-License-Identifier: MIT
"""What a failed test prints: little enough to be read, and the command that repeats the test."""
import shlex

LINES_MOST = 50
WIDTH_MOST = 300
HEAD = 30   # The first lines name the fault, the last ones how it ended.


def narrow(line, most=WIDTH_MOST):
    """The line, or its beginning and how long it is."""
    return line if len(line) <= most else f'{line[:most]}... ({len(line)} characters)'


def one_line(text):
    """The text as the one line that says why a test is skipped."""
    return narrow(' '.join(text.split()))


def cut(text, most=LINES_MOST):
    """At most @most lines of the text, none of them long."""
    lines = text.rstrip('\n').splitlines()
    if len(lines) > most:
        head = min(HEAD, most // 2)
        tail = most - head - 1
        lines = [*lines[:head], f'... {len(lines) - head - tail} lines are left out ...',
                 *lines[len(lines) - tail:]]
    return '\n'.join(map(narrow, lines))


def shown(command):
    """The command as a shell takes it, or the beginning of a long one."""
    return narrow(shlex.join(map(str, command)))


def again(*command):
    """The line that says how to repeat a test."""
    return f'to repeat it: {shlex.join(map(str, command))}'
