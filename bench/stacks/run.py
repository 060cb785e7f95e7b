# SPDX-License-Identifier: MIT
"""Running the command that is recorded, and saying how it ended."""
import os
import shutil
import signal
import subprocess

from .errors import FAILED, Refused, reason

# Long enough for perf to finish its file.
GRACE_SECONDS = 3


def find(program):
    """The path of a program, before a recorder is started that would only say "failed"."""
    path = shutil.which(program)
    if not path:
        why = "is not executable" if os.path.isfile(program) else "no such program"
        raise Refused(f"{program}: {why}")
    return path


def end(process):
    """After Ctrl-C, which the command got as well; but SIGTERM came to us alone."""
    try:
        return process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()
    try:
        return process.wait(GRACE_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        return process.wait()


def run(argv, env=None, stdout=None, stderr=None):
    """(exit status, negative for a signal; whether the user interrupted it)"""
    try:
        process = subprocess.Popen(argv, env=env, stdout=stdout, stderr=stderr)
    except OSError as e:
        raise Refused(f"{argv[0]}: {reason(e)}", FAILED) from e
    try:
        return process.wait(), False
    except KeyboardInterrupt:
        return end(process), True


def ending(status, interrupted):
    """A note, or None for a program that ended well."""
    if interrupted:
        return "interrupted: the samples up to then"
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return f"the program was ended by {name}: the samples up to then"
    return f"the program ended with status {status}" if status else None
