# SPDX-License-Identifier: MIT
"""A server process of our own: under another user where we are root, and always ended."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

START_LIMIT_S = 60
USER = "nobody"
NOT_LOADED = "cannot be preloaded"       # ld.so says so, and goes on without it
LOOPBACK = "127.0.0.1"
SERVERS = ("/usr/sbin", "/usr/local/sbin")

# What is to be preloaded into which, if anything: the harness says so.
SERVER, CLIENT = "BENCH_PRELOAD", "BENCH_PRELOAD_CLIENT"


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


def find(name):
    """A program, or None; the PATH of an ordinary user lacks the folders of servers."""
    return shutil.which(name) or next((f"{folder}/{name}" for folder in SERVERS
                                       if Path(folder, name).is_file()), None)


def preloaded(into):
    """The environment. @into: SERVER or CLIENT."""
    preload = os.environ.get(into)
    return {**os.environ, **({"LD_PRELOAD": preload} if preload else {})}


def call(argv, before=(), **more):
    """What a program prints; Failed if it fails, or is not preloaded as it should be. @before:
    as_user()."""
    r = subprocess.run([str(word) for word in (*before, *argv)], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       errors="replace", check=False, **more)
    if r.returncode:
        lines = r.stdout.strip().split("\n")
        raise Failed(f"{argv[0]}: exit status {r.returncode}: {lines[-1]}")
    if NOT_LOADED in r.stdout:
        raise Failed(f"{argv[0]}: what is preloaded {NOT_LOADED}")
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


def free_port():
    """A port of the loopback that nobody has at present."""
    with socket.socket() as s:
        s.bind((LOOPBACK, 0))
        return s.getsockname()[1]


def answers(port):
    """Does somebody listen there?"""
    def ready():
        with socket.socket() as s:
            return s.connect_ex((LOOPBACK, port)) == 0
    return ready


def check_loaded(process, log):
    """What is preloaded is in the server, not only in its environment."""
    if NOT_LOADED in log_of(log):
        raise Failed(f"the server's user cannot read what is preloaded: {NOT_LOADED}")
    preload = os.environ.get(SERVER)
    maps = Path(f"/proc/{process.pid}/maps")
    if preload and os.path.realpath(preload) not in log_of(maps):
        raise Failed("the server is not preloaded")


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
def running(argv, log, ready, how=signal.SIGTERM, before=None):
    """The server, preloaded. How it ends is looked at as well. @before: as_user(), unless given."""
    before = as_user() if before is None else before
    with open(log, "wb") as out:
        process = subprocess.Popen([*before, *map(str, argv)], stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=out, env=preloaded(SERVER),
                                   cwd=log.parent)
    try:
        wait_for(process, ready, log)
        check_loaded(process, log)
        yield process
    finally:
        stop(process, how)
    if process.returncode not in (0, -how):
        raise Failed(f"the server ended with status {process.returncode}")


def own_figures(said):
    """(operations, seconds) of the last line that a program of programs/ prints."""
    try:
        result = json.loads(said.strip().split("\n")[-1])
        return result["ops"], result["seconds"]
    except (ValueError, KeyError, TypeError) as e:
        raise Failed("no figure in what was printed") from e


def measured(argv):
    """(operations, seconds) of a preloaded client in programs/. It says itself when it is warm."""
    said = ""
    with subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, env=preloaded(CLIENT)) as process:
        for line in process.stdout:
            if line == "begin\n":
                begin()
            said += line
    if process.returncode:
        raise Failed(f"{argv[0]}: exit status {process.returncode}")
    return own_figures(said)


def number(pattern, text):
    m = re.search(pattern, text)
    if not m:
        raise Failed("no figure in what was printed")
    return float(m[1])


def begin():
    """From here on CPU time counts."""
    print("begin", flush=True)
