# SPDX-License-Identifier: MIT
"""Programs that are there already: how they are called, and where their figures are.

What reads the figures is given what the program has printed, how long it ran and its scratch
folder, and answers (operations, seconds); ValueError where it finds none.
"""

import json
import re
import shutil
import subprocess

from . import samples
from .drivers import apache, postgresql, server


def found(name, package=None):
    """Why a program cannot be run, or None."""
    return None if shutil.which(name) else f"not built: {package or name}"


def tool(name, package=None):
    return lambda c: found(name, package)


def number(pattern, text):
    m = re.search(pattern, text)
    if not m:
        raise ValueError("no figure in what it printed")
    return float(m[1])


def succeeds(*argv, package):
    """Does that command? It shows that the package is there."""
    def missing(_c):
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        except OSError:
            return f"not built: {package}"
        return f"not built: {package}" if done.returncode else None
    return missing


def whole(_text, wall_s, _scratch):
    """The run itself is the operation."""
    return 1, wall_s


def sem_test(row):
    def argv(c):
        return [c.build / "examples/sem_test/sem_test", f"{round(50000 * c.seconds)}", "2000",
                "--rows", row, "--repeat", "1", "--no-progress", "--json",
                c.scratch / "sem_test.json"]
    return argv


def sem_test_missing(c):
    program = c.build / "examples/sem_test/sem_test"
    return None if program.is_file() else "not built: sem_test"


def read_sem_test(_text, _wall_s, scratch):
    r = json.loads((scratch / "sem_test.json").read_text("utf-8"))
    return 1, r["rows"][0]["medians"]["ns_per_item"] * 1e-9


def xz(c):
    return ["xz", "-T2", "-3", "--block-size=1MiB", "-c", samples.text(c)]


def zstd(c):
    return ["zstd", "-q", "-T2", "-B1MiB", "-12", "-c", samples.text(c)]


def gcc(c):
    return ["gcc", "-O2", "-S", "-o", "-", samples.source(c)]


def hackbench(kind):
    def argv(c):
        return ["hackbench", kind, "-g", "2", "-l", f"{round(500 * c.seconds) + 10}"]
    return argv


def read_hackbench(text, _wall_s, _scratch):
    return 1, number(r"Time: ([\d.]+)", text)


def sysbench_threads(c):
    return ["sysbench", "threads", "--threads=4", f"--time={max(1, round(c.seconds))}", "run"]


def read_sysbench(text, _wall_s, _scratch):
    return (number(r"total number of events: +(\d+)", text),
            number(r"total time: +([\d.]+)s", text))


def sysbench_mutex(c):
    return ["sysbench", "mutex", "--threads=4", "--mutex-loops=1000", "--mutex-num=16",
            f"--mutex-locks={round(500000 * c.seconds) + 1000}", "run"]


def read_sysbench_total(text, _wall_s, _scratch):
    return 1, number(r"total time: +([\d.]+)s", text)


def stress_ng(c):
    """Of 0.15.06 --sem-ops never ends; and it knows whole seconds only."""
    return ["stress-ng", "--sem", "2", "--timeout", f"{max(1, round(c.seconds))}",
            "--metrics-brief", "--temp-path", c.scratch]


def read_stress_ng(text, _wall_s, _scratch):
    m = re.search(r"metrc: \[\d+\] sem +(\d+) +([\d.]+) ", text)
    if not m:
        raise ValueError("no figure in what it printed")
    return int(m[1]), float(m[2])


def ptsematest(c):
    return ["ptsematest", "-t2", "-i", "200", "-l", f"{round(3000 * c.seconds) + 100}", "-q",
            f"--json={c.scratch / 'ptsematest.json'}"]


def read_ptsematest(_text, _wall_s, scratch):
    """The mean of the pairs' averages, which are in us."""
    r = json.loads((scratch / "ptsematest.json").read_text("utf-8"))
    pairs = [pair["receiver"]["avg"] for pair in r["thread"].values()]
    return 1, sum(pairs) / len(pairs) * 1e-6


def db_bench(c):
    return ["db_bench", "--benchmarks=fillseq,readwhilewriting", f"--db={c.scratch / 'rocksdb'}",
            "--num=100000", "--threads=4", f"--duration={max(1, round(c.seconds))}",
            "--compression_type=none"]


def read_db_bench(text, _wall_s, _scratch):
    return number(r"readwhilewriting *: .* (\d+) ops/sec", text), 1


def video(c):
    """One thread makes pictures, one converts them, and one takes them."""
    return ["gst-launch-1.0", "videotestsrc", f"num-buffers={round(4000 * c.seconds) + 100}", "!",
            "video/x-raw,width=320,height=240", "!", "queue", "!", "videoconvert", "!",
            "video/x-raw,format=RGB", "!", "queue", "!", "fakesink"]


def read_video(text, _wall_s, _scratch):
    """Without the start."""
    m = re.search(r"Execution ended after (\d+):(\d+):([\d.]+)", text)
    if not m:
        raise ValueError("no figure in what it printed")
    return 1, int(m[1]) * 3600 + int(m[2]) * 60 + float(m[3])


def mariadb_missing(_c):
    return (found("mariadbd", "mariadb-server-core") or
            found("mariadb-install-db", "mariadb-server-core") or
            found("mariadb", "mariadb-client-core"))


def daemon(name, package=None):
    return lambda c: None if server.find(name) else f"not built: {package or name}"


def apache_missing(c):
    return daemon("apache2")(c) or (None if apache.MODULES.is_dir() else "not built: apache2-bin")


def postgres_missing(_c):
    if not all(map(postgresql.find, ("initdb", "postgres"))):
        return "not built: postgresql"
    return found("pgbench", "postgresql-client")
