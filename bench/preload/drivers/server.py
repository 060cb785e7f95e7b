# SPDX-License-Identifier: MIT
"""A server process of our own: under another user where we are root, and always ended."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time

START_LIMIT_S = 60
USER = "nobody"
NOT_LOADED = "cannot be preloaded"       # ld.so says so, and goes on without it


class Failed(Exception):
    """One line for the person."""


def as_user():
    """Servers refuse to run as root."""
    if os.getuid():
        return []
    if not shutil.which("setpriv"):
        raise Failed("not available: as root a server needs setpriv")
    return ["setpriv", f"--reuid={USER}", "--regid=nogroup", "--clear-groups"]


def give(folder):
    """The server's user may write there."""
    if not os.getuid():
        shutil.chown(folder, USER)


def call(argv, before=(), **more):
    """What a program prints; Failed if it fails. @before: as_user()."""
    r = subprocess.run([str(word) for word in (*before, *argv)], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       errors="replace", check=False, **more)
    if r.returncode:
        lines = r.stdout.strip().split("\n")
        raise Failed(f"{argv[0]}: exit status {r.returncode}: {lines[-1]}")
    return r.stdout


def log_of(path):
    return path.read_text("utf-8", "replace") if path.exists() else ""


def wait_for(process, ready, log):
    until = time.monotonic() + START_LIMIT_S
    while not ready():
        if process.poll() is not None or time.monotonic() > until:
            last = log_of(log).strip().split("\n")[-1]
            raise Failed(f"the server does not start: {last}")
        time.sleep(0.05)


def stop(process, how):
    if process.poll() is None:
        process.send_signal(how)
    try:
        process.wait(START_LIMIT_S)
    except subprocess.TimeoutExpired as e:
        process.kill()
        process.wait()
        raise Failed("the server does not stop") from e


@contextlib.contextmanager
def running(argv, log, ready, how=signal.SIGTERM):
    """The server, preloaded. How it ends is looked at as well."""
    preload = os.environ.get("BENCH_PRELOAD")
    env = {**os.environ, **({"LD_PRELOAD": preload} if preload else {})}
    with open(log, "wb") as out:
        process = subprocess.Popen([*as_user(), *map(str, argv)], stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=out, env=env, cwd=log.parent)
    try:
        wait_for(process, ready, log)
        if NOT_LOADED in log_of(log):
            raise Failed(f"the server's user cannot read what is preloaded: {NOT_LOADED}")
        yield process
    finally:
        stop(process, how)
    if process.returncode not in (0, -how):
        raise Failed(f"the server ended with status {process.returncode}")


def number(pattern, text):
    m = re.search(pattern, text)
    if not m:
        raise Failed("no figure in what was printed")
    return float(m[1])


def begin():
    """From here on CPU time counts."""
    print("begin", flush=True)
