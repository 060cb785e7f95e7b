# SPDX-License-Identifier: MIT
"""What is run: the small programs of programs/, and those that are there already."""

from typing import Any, Callable, NamedTuple

from . import existing
from .arms import KERNEL
from .existing import found, tool

PYTHON = "/usr/bin/python3"     # the system's: what people have
HANDOFF = "round trip"


class Program(NamedTuple):
    """argv and missing are asked with the context of the run: folders, and seconds to measure."""

    name: str
    title: str
    units: str
    argv: Callable
    missing: Callable                   # why it cannot be run, or None
    read: Any = None                    # of what it prints; None: it says "begin" (measuring.py)
    same_output: bool = False           # what it prints does not depend on how fast it is
    starts_servers: bool = False        # it preloads them by itself
    native: Any = None                  # argv of a further arm, with nothing preloaded
    long: bool = False                  # fewer rounds
    skips: tuple = KERNEL               # arms; (): none, what waits in the kernel or computes


def built(name, *words, program=None):
    """A program of the build folder."""
    def argv(c):
        return [c.build / "bench/preload" / name, *words, f"{c.seconds:g}"]

    def missing(c):
        return None if argv(c)[0].is_file() else f"not built: {program or name}"
    return argv, missing


def behind(before, name, *words, program=None):
    """A program of the build folder that another starts."""
    argv, missing = built(name, *words, program=program)
    return lambda c: [*before, *argv(c)], lambda c: missing(c) or found(before[0])


def script(interpreter, name, *words):
    def argv(c):
        return [interpreter, c.source / "programs" / name, *words, f"{c.seconds:g}"]
    return argv, tool(interpreter)


def java(workload):
    def argv(c):
        return ["java", "-cp", c.build / "bench/preload", "Handoff", workload, f"{c.seconds:g}"]

    def missing(c):
        if not (c.build / "bench/preload/Handoff.class").is_file():
            return "not built: javac"
        return found("java")
    return argv, missing


def small(name, title, how, units=HANDOFF):
    return Program(name, title, units, *how)


LANGUAGES = [
    small("java/synchronous", "Java: two SynchronousQueues", java("synchronous")),
    small("java/linked", "Java: two LinkedBlockingQueues", java("linked")),
    small("java/forkjoin", "Java: ForkJoinPool, submit and get", java("forkjoin")),
    small("java/batches", "Java: 16 tasks of 5 us on 2 threads", java("batches"), "batch"),
    small("python/queue", "Python: two queue.Queues", script(PYTHON, "handoff.py", "queue")),
    small("python/submit", "Python: ThreadPoolExecutor, submit and result",
          script(PYTHON, "handoff.py", "submit")),
    small("python/map", "Python: ThreadPool.map, 64 items on 2 threads",
          script(PYTHON, "handoff.py", "map"), "batch"),
    small("python/asyncio", "Python: asyncio, run_in_executor",
          script(PYTHON, "handoff.py", "asyncio")),
    small("rust/condvar", "Rust: Mutex and Condvar", built("preload_handoff_rust", "condvar")),
    small("rust/channel", "Rust: two sync_channel(0)", built("preload_handoff_rust", "channel")),
    small("rust/park", "Rust: park and unpark", built("preload_handoff_rust", "park")),
    small("cpp/semaphore", "C++20: counting_semaphore", built("preload_handoff_cpp", "semaphore")),
    small("cpp/atomic", "C++20: atomic wait and notify", built("preload_handoff_cpp", "atomic")),
    small("cpp/latch", "C++20: latches", built("preload_handoff_cpp", "latch")),
    small("cpp/condition", "C++: mutex and condition_variable",
          built("preload_handoff_cpp", "condition")),
    small("c/sem", "C: sem_t", built("preload_handoff", "sem")),
    small("c/cond", "C: mutex and condition variable", built("preload_handoff", "cond")),
    small("c/barrier", "C: pthread_barrier_t", built("preload_handoff", "barrier")),
    Program("c/sem_test", "examples/sem_test: glibc's row, natively ipcwait's", "item",
            existing.sem_test("glibc"), existing.sem_test_missing, existing.read_sem_test,
            native=existing.sem_test("ipcwait")),
    small("contend/mutex2", "C: one mutex, 2 threads", built("preload_contend", "mutex2"),
          "section"),
    small("contend/mutex4", "C: one mutex, 4 threads", built("preload_contend", "mutex4"),
          "section"),
    small("contend/rwlock2", "C: one lock, a writer and a reader",
          built("preload_contend", "rwlock2"), "section"),
    small("contend/rwlock4", "C: one lock, a writer and 3 readers",
          built("preload_contend", "rwlock4"), "section"),
    small("alone/mutex", "C: a free mutex, lock and unlock", built("preload_alone", "mutex"),
          "pair"),
    small("alone/sem", "C: a semaphore, post and wait", built("preload_alone", "sem"), "pair"),
    small("alone/rdlock", "C: a free lock to read", built("preload_alone", "rdlock"), "pair"),
    small("alone/wrlock", "C: a free lock to write", built("preload_alone", "wrlock"), "pair"),
    small("sqlite/wal", "SQLite: write-ahead log, 4 writers",
          script(PYTHON, "sqlite_writers.py", "4"), "transaction"),
    small("node/stat", "Node: a chain of stat", script("node", "chains.js", "stat"), "call"),
    small("node/readFile", "Node: a chain of readFile", script("node", "chains.js", "readFile"),
          "file"),
]

EXISTING = [
    Program("xz", "xz -T2, 16 MiB", "run", existing.xz, tool("xz"), existing.whole,
            same_output=True, skips=()),
    Program("zstd", "zstd -T2, 16 MiB", "run", existing.zstd, tool("zstd"), existing.whole,
            same_output=True, skips=()),
    Program("gcc", "gcc -O2 of a file", "run", existing.gcc, tool("gcc"), existing.whole,
            same_output=True, skips=()),
    Program("hackbench/processes", "hackbench, processes", "run", existing.hackbench("-P"),
            tool("hackbench", "rt-tests"), existing.read_hackbench),
    Program("hackbench/threads", "hackbench, threads", "run", existing.hackbench("-T"),
            tool("hackbench", "rt-tests"), existing.read_hackbench),
    Program("sysbench/threads", "sysbench threads, 4 threads", "event",
            existing.sysbench_threads, tool("sysbench"), existing.read_sysbench),
    Program("sysbench/mutex", "sysbench mutex, 4 threads", "run", existing.sysbench_mutex,
            tool("sysbench"), existing.read_sysbench_total),
    Program("stress-ng/sem", "stress-ng --sem 2", "operation", existing.stress_ng,
            tool("stress-ng"), existing.read_stress_ng),
    Program("rt-tests/ptsematest", "ptsematest -t2: average latency", "hand-off",
            existing.ptsematest, tool("ptsematest", "rt-tests"), existing.read_ptsematest),
    Program("rocksdb/readwhilewriting", "RocksDB db_bench readwhilewriting, 4 threads",
            "operation", existing.db_bench, tool("db_bench", "rocksdb-tools"),
            existing.read_db_bench, long=True),
]


def in_kernel(name, title, how, units=HANDOFF, skips=()):
    """A small program whose waits are in the kernel."""
    return small(name, title, how, units)._replace(skips=skips)


# Go's waits are futexes, but not by the C library: nothing can be preloaded.
IN_KERNEL = [
    in_kernel("node/workers", "Node: a message to a worker_thread and back",
              script("node", "workers.js", "message")),
    in_kernel("go/channels", "Go: two channels, goroutines locked to threads",
              built("preload_channels_go", "locked", program="go"), skips=("null", "ours", "fd")),
    *(in_kernel(f"pool/{form}{count}", f"C: jobs for 4 threads by {title}, {count} at once",
                built("preload_pool", f"{form}{count}"), "job")
      for form, title in (("pipe", "a pipe"), ("epoll", "a pipe and epoll"))
      for count in (1, 16)),
]


# Programs like those of strangers that lost speed under the module, or took more CPU time.
STRANGERS = [
    in_kernel("mono/monitor", "Mono: Monitor, Wait and Pulse",
              behind(["mono"], "preload_handoff_mono.exe", "monitor", program="mcs")),
    in_kernel("mono/semaphore", "Mono: two SemaphoreSlims",
              behind(["mono"], "preload_handoff_mono.exe", "semaphore", program="mcs")),
    in_kernel("ocaml/event", "OCaml: two channels of Event",
              built("preload_handoff_ocaml", "event", program="ocamlopt")),
    in_kernel("python/processes", "Python: Pool.map, 64 items on 2 processes",
              script(PYTHON, "handoff.py", "processes"), "batch"),
    in_kernel("node/http", "Node: HTTP, a client that keeps its connection",
              script("node", "http.js", "keepalive")),
    *(in_kernel(f"nng/{form}", f"nng: request and reply, {title}",
                built("preload_nng", form, program="libnng-dev"))
      for form, title in (("tcp", "TCP"), ("ipc", "a Unix socket"))),
    in_kernel("gdbus", "GDBus: a call, by a bus of its own",
              behind(["dbus-run-session", "--"], "preload_gdbus", "call",
                     program="libglib2.0-dev")),
    *(in_kernel(f"uv/work{count}", f"libuv: its queue of work, {count} at once",
                built("preload_work", form, program="libuv1-dev"), "job")
      for form, count in (("one", 1), ("four", 4))),
    Program("gstreamer/video", "GStreamer: pictures through two queues", "run", existing.video,
            existing.succeeds("gst-inspect-1.0", "--exists", "videotestsrc",
                              package="gstreamer1.0-plugins-base"),
            existing.read_video, skips=()),
]


def server(name, title, units, words, tools, program=None):
    """A driver starts the server, and measures it with the program that comes with it. @program:
    that is one of the build folder, and comes first."""
    def argv(c):
        mine = [c.build / "bench/preload" / program] if program else []
        return [PYTHON, c.source / "drivers", words[0], *mine, *words[1:], f"{max(c.seconds, 1):g}"]

    def missing(c):
        if program and not (c.build / "bench/preload" / program).is_file():
            return f"not built: {program}"
        return next((why for t in tools if (why := t(c))), None)
    return Program(name, title, units, argv, missing, starts_servers=True, long=True, skips=())


def clients(count, what="client"):
    return f"{count} {what}" + ("" if count == 1 else "s")


REDIS = [tool("redis-server"), tool("redis-benchmark", "redis-tools")]
MARIADB = [existing.mariadb_missing, tool("sysbench")]
POSTGRES = [existing.postgres_missing]
NGINX = [existing.daemon("nginx", "nginx-light"), tool("wrk")]
APACHE = [existing.apache_missing, tool("wrk")]
HAPROXY = [existing.daemon("haproxy"), tool("wrk")]
SSH = [existing.daemon("sshd", "openssh-server"), tool("ssh", "openssh-client")]
PSYCOPG = existing.succeeds(PYTHON, "-c", "import psycopg2", package="python3-psycopg2")

SERVERS = [
    *(server(name, f"Redis: GET, {clients(count)}", "request", ["redis", str(count)], REDIS)
      for name, count in (("redis", 16), ("redis/1", 1), ("redis/50", 50))),
    *(server(f"mariadb/{form}{count}", f"MariaDB: sysbench {title}, {clients(count, 'thread')}",
             "transaction", ["mariadb", form, str(count)], MARIADB)
      for form, title, counts in (("select", "point select", (1, 4, 16)),
                                  ("mixed", "read-write", (4, 16)))
      for count in counts),
    *(server(f"postgresql/{form}{count}{sync}",
             f"PostgreSQL: pgbench {title}, {clients(count)}, fsync {sync[1:]}",
             "transaction", ["postgresql", form, str(count), sync[1:]], POSTGRES)
      for form, title in (("select", "-S"), ("tpcb", "tpcb-like"))
      for count in (1, 4, 16, 50) for sync in ("-on", "-off")),
    *(server(f"nginx/{count}", f"nginx: a file of 1 KiB, {clients(count, 'connection')}",
             "request", ["nginx", str(count)], NGINX) for count in (1, 16)),
    *(server(f"memcached/{count}", f"memcached: GET, {clients(count, 'connection')}", "request",
             ["memcached", str(count)], [tool("memcached")], "preload_gets")
      for count in (1, 16)),
    *(server(f"apache/{count}", f"Apache, event: a file of 1 KiB, {clients(count, 'connection')}",
             "request", ["apache", str(count)], APACHE) for count in (1, 32)),
    server("haproxy/1", "HAProxy in front of another: 1 KiB, 1 connection", "request",
           ["haproxy", "1"], HAPROXY),
    server("ssh/echo", "OpenSSH: a line there and back", HANDOFF, ["ssh"], SSH),
    server("postgresql/notify", "PostgreSQL: NOTIFY there and back, fsync off",
           HANDOFF, ["postgresql", "notify", "2", "off"], [*POSTGRES, PSYCOPG]),
]

PROGRAMS = LANGUAGES + IN_KERNEL + STRANGERS + EXISTING + SERVERS
