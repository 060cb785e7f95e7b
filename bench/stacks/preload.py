# SPDX-License-Identifier: MIT
"""Stacks of all threads, waiting ones too, by a sampler that is loaded into the program."""
import glob
import os
import shlex
import subprocess
import tempfile
from typing import NamedTuple

from . import raw, run, symbols
from .errors import FAILED, Refused

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ("sample_file.c", "sampler.c", "stack_walk.c")
MODULE = symbols.SAMPLER


class Recorded(NamedTuple):
    profile: object
    status: int
    interrupted: bool


def compile_module(folder):
    """For use without a build directory."""
    module = os.path.join(folder, MODULE)
    compiler = shlex.split(os.environ.get("CC") or "cc")
    try:
        r = subprocess.run([*compiler, "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC",
                            "-pthread", "-Wl,-z,now", "-o", module,
                            *(os.path.join(HERE, name) for name in SOURCES), "-ldl"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           errors="replace", check=False)
    except OSError as e:
        raise Refused(f"no sampler: {MODULE} is not built and there is no C compiler") from e
    if r.returncode:
        why = (r.stderr.strip() or "no reason given").splitlines()[0]
        raise Refused(f"no sampler: the compiler refuses it: {why}", FAILED)
    return module


def module_in(build):
    """The sampler that meson has built there, or None."""
    path = os.path.join(build, "bench", "stacks", MODULE) if build else ""
    return os.path.abspath(path) if os.path.isfile(path) else None


def environment(module, prefix, by, rate, call_graph):
    others = os.environ.get("LD_PRELOAD")
    return {
        **os.environ,
        "LD_PRELOAD": f"{module}:{others}" if others else module,
        "STACKS_FILE": prefix,
        "STACKS_HZ": str(rate),
        "STACKS_CLOCK": by,
        "STACKS_UNWIND": "fp" if call_graph == "fp" else "tables",
    }


def record(argv, by, rate, call_graph, build=None, stdout=None):
    """Run @argv with the sampler in it and in the programs that it starts."""
    with tempfile.TemporaryDirectory(prefix="stacks.") as folder:
        module = module_in(build) or compile_module(folder)
        prefix = os.path.join(folder, "samples")
        status, interrupted = run.run(argv, stdout=stdout,
                                      env=environment(module, prefix, by, rate, call_graph))
        found = [path for path in glob.glob(prefix + ".*") if not path.endswith(".maps")]
        if not found:
            raise Refused(f"{argv[0]}: did not load the sampler; it cannot be preloaded into "
                          "static and set-user-ID programs", FAILED)
        profile = raw.read(found, argv[0])
    return Recorded(profile, status, interrupted)
