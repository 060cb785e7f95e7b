# SPDX-License-Identifier: MIT
"""The library, the command and the module, installed into a folder of their own."""
import os
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))

import failure  # noqa: E402

SECONDS_MOST = 600
COMPILER = shlex.split(os.environ.get("CC") or "cc")


def call(*args, seconds=SECONDS_MOST, **options):
    """What a command prints; AssertionError with a part of it where the command fails."""
    r = subprocess.run([str(a) for a in args], encoding="utf-8", errors="replace", timeout=seconds, check=False,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if r.returncode:
        raise AssertionError(f"{failure.shown(args)}: exit status {r.returncode}\n{failure.cut(r.stdout)}")
    return r.stdout


def install(source, build, prefix, *options):
    call("meson", "setup", build, source, "--buildtype=release", "-Dparts=tools",
         f"--prefix={prefix}", "--libdir=lib", *options)
    call("meson", "install", "-C", build, env={k: v for k, v in os.environ.items() if k != "DESTDIR"})


def environment(prefix):
    """What finds it there, and none of the caller's own settings of the library."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("IPCWAIT_")}
    return {**inherited, "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig",
            "LD_LIBRARY_PATH": f"{prefix}/lib", "CMAKE_PREFIX_PATH": str(prefix)}
