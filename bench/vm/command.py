# SPDX-License-Identifier: MIT
"""`python3 bench/vm`: one guest, and the host beside it."""

import argparse
import json
import os
import signal
import sys

from . import guests, qemu
from .errors import VmError
from .stream import shown
from .table import text

DESCRIPTION = "Boot one guest, measure semaphore hand-offs in it and on this machine."
EPILOGUE = """Exit status: 0 done; 1 something was not measured, what was is there all the same;
2 bad arguments, or no QEMU, kernel or static programs. IPCWAIT_BENCH_KERNEL=FILE is --kernel."""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        complain(shown(message) + "; see --help")
        sys.exit(2)


def complain(message):
    print(f"bench/vm: {message}", file=sys.stderr)


def number(most):
    def parse(value):
        if not (value.isascii() and value.isdigit() and 1 <= int(value[:12]) <= most):
            raise argparse.ArgumentTypeError(
                f"'{value[:40]}' is not a whole number from 1 to {most}")
        return int(value[:12])
    return parse


def names(value):
    found = value.split(",")
    known = [*guests.ROWS, "hog"]
    wrong = [name for name in found if name not in known]
    if wrong or len(set(found)) != len(found):
        raise argparse.ArgumentTypeError(
            f"'{value[:40]}' must be different names of: {', '.join(known)}")
    return found


def parse(argv):
    p = Parser(prog="bench/vm", description=DESCRIPTION, epilog=EPILOGUE, allow_abbrev=False)
    p.add_argument("--build", default="build-bench", help="build directory (default: %(default)s)")
    p.add_argument("--idle", choices=list(qemu.IDLE), default="default",
                   help="the guest's idle setting (default: %(default)s)")
    p.add_argument("--vcpus", type=number(64), default=2, help="default: %(default)s")
    p.add_argument("--accel", choices=["auto", "kvm", "tcg"], default="auto",
                   help="auto: KVM if a guest boots under it within 8 s, TCG otherwise")
    p.add_argument("--rows", type=names, default=list(guests.ROWS),
                   help="semaphores with commas between (default: glibc,ipcwait,spin,block)")
    p.add_argument("--items", type=number(10**9), help="of a run (default: as --vm takes them)")
    p.add_argument("--loops", type=number(10**9), help="of the work (default: 2000)")
    p.add_argument("--runs", type=number(100), help="of a row (default: 5)")
    p.add_argument("--kernel", help="a bzImage (default: Debian's cloud kernel, from apt)")
    p.add_argument("--cache", help="where that is kept (default: BUILD/vm)")
    p.add_argument("--no-host", action="store_true", help="the guest only")
    p.add_argument("--json", help="write the entries of both to this file")
    return p.parse_args(argv)


def progress(line):
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def measure(o):
    with qemu.scratch() as folder:
        parts = guests.prepare(folder, o.build, o.cache or os.path.join(o.build, "vm"), o.accel,
                               o.kernel, progress)
        job = guests.job(parts["accel"], False, o.rows, o.items, o.loops, o.runs)
        done = [] if o.no_host else [guests.run_host(o.build, o.vcpus, job, progress)]
        return [*done, guests.run_guest(o.idle, o.vcpus, parts, job, progress)]


def check_json(path):
    """Before minutes of measuring. Opening for append leaves what is there alone."""
    existed = os.path.exists(path)
    try:
        with open(path, "a", encoding="ascii"):
            pass
    except (OSError, ValueError) as e:
        raise VmError(f"--json: cannot write '{shown(path)}': "
                      f"{getattr(e, 'strerror', None) or e}") from None
    if not existed:
        os.unlink(path)


def write_json(path, done):
    """Whole or not at all."""
    unfinished = f"{path}.{os.getpid()}.unfinished"
    with open(unfinished, "w", encoding="ascii") as f:
        json.dump({"guests": done}, f, indent=1)
        f.write("\n")
    os.replace(unfinished, path)


def end_on(signal_number, _):
    """As an exception, so that QEMU is killed and the scratch folder goes on the way out."""
    sys.exit(128 + signal_number)


def main(argv):
    o = parse(argv)
    for number_of_signal in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number_of_signal, end_on)
    try:
        if o.json is not None:
            check_json(o.json)
        done = measure(o)
        progress("")
        print("\n\n".join(text(entry) for entry in done), flush=True)
        if o.json is not None:
            write_json(o.json, done)
    except VmError as e:
        progress("")
        complain(e)
        return 2
    except OSError as e:
        progress("")
        complain(e)
        return 1
    return 1 if any("error" in entry for entry in done) else 0
