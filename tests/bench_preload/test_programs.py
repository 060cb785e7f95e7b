# SPDX-License-Identifier: MIT
"""The small programs of bench/preload: what they print, and that they take no bad input."""

import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import brief                                                        # noqa: E402
from built import BENCH, BUILD, SHIM, run, run_until_done           # noqa: E402

from preload import arms                                            # noqa: E402
from preload.drivers import server                                  # noqa: E402

MODULE = BUILD / arms.MODULE
PROGRAMS = {"alone": ("mutex", "sem", "rdlock", "wrlock"),
            "contend": ("mutex2", "mutex4", "rwlock2", "rwlock4"),
            "handoff": ("sem", "cond", "barrier"),
            "pool": ("pipe1", "pipe16", "epoll1", "epoll16")}


def complaints(r):
    """Without what the bus says that it may not do here."""
    return [line for line in r.stderr.splitlines() if not line.startswith("dbus-daemon[")]


class Programs(unittest.TestCase):
    def test_every_workload_plain_and_under_the_shim(self):
        for program, workloads in PROGRAMS.items():
            for workload in workloads:
                for env in ({}, {"LD_PRELOAD": str(SHIM)}):
                    r = run_until_done(BUILD / f"bench/preload/preload_{program}", workload, env=env)
                    self.assertEqual((r.returncode, r.stderr), (0, ""), workload)
                    begin, result = r.stdout.splitlines()
                    self.assertEqual(begin, "begin")
                    self.assertGreater(json.loads(result)["ops"], 0)
                    self.assertGreaterEqual(json.loads(result)["seconds"], 0.01)

    def test_bad_input(self):
        for words in ((), ("none", "1"), ("sem", "0"), ("sem", "x"), ("sem", "1", "1")):
            for program in PROGRAMS:
                r = run(BUILD / f"bench/preload/preload_{program}", *words)
                self.assertEqual((r.returncode, r.stdout), (2, ""), words)
                self.assertEqual(r.stderr.count("\n"), 1)

    def check_runs(self, *words, **more):
        r = run_until_done(*words, **more)
        self.assertEqual((r.returncode, complaints(r)), (0, []))
        begin, result = r.stdout.splitlines()
        self.assertEqual(begin, "begin")
        self.assertGreater(json.loads(result)["ops"], 0)
        self.assertGreaterEqual(json.loads(result)["seconds"], 0.01)

    def check_bad_input(self, *words):
        for bad in ((), ("0",), ("x",), ("1", "1")):
            r = run(*words, *bad)
            self.assertEqual((r.returncode, r.stdout, r.stderr.count("\n")), (2, "", 1), bad)

    def check_other(self, *words, **more):
        """A program in another language or with a library."""
        self.check_runs(*words, **more)
        self.check_bad_input(*words)

    def test_node(self):
        if not shutil.which("node"):
            self.skipTest("no node")
        self.check_other("node", BENCH / "programs/workers.js", "message")
        self.check_other("node", BENCH / "programs/http.js", "keepalive")

    def built(self, name, starter=None):
        """A program that is built where its compiler or library is."""
        program = BUILD / f"bench/preload/preload_{name}"
        if not program.is_file() or starter and not shutil.which(starter):
            self.skipTest(f"no {name}")
        return program.absolute()

    def check_built(self, name, *workloads):
        program = self.built(name)
        for workload in workloads:
            with tempfile.TemporaryDirectory() as folder:
                self.check_other(program, workload, cwd=folder)

    def test_channels(self):
        self.check_built("channels_go", "locked")

    def test_mono(self):
        program = self.built("handoff_mono.exe", "mono")
        for workload in ("monitor", "semaphore"):
            self.check_other("mono", program, workload)

    def test_ocaml(self):
        self.check_built("handoff_ocaml", "event")

    def test_libuv(self):
        self.check_built("work", "one", "four")

    def test_nng(self):
        self.check_built("nng", "tcp", "ipc")

    def test_gdbus(self):
        """Bad input ends it before it needs a bus, whose complaints would be among its own."""
        program = self.built("gdbus", "dbus-run-session")
        self.check_runs("dbus-run-session", "--", program, "call")
        self.check_bad_input(program, "call")

    def test_the_pool_through_looks(self):
        """Its waits are what the module looks for: no job is lost."""
        if not MODULE.is_file():
            self.skipTest("no module")
        for workload in PROGRAMS["pool"]:
            r = run(BUILD / "bench/preload/preload_pool", workload, "0.01",
                    env={"LD_PRELOAD": str(MODULE), "IPCWAIT_FD": "1"})
            self.assertEqual((r.returncode, r.stderr), (0, ""), workload)

    def test_python(self):
        for workload in ("queue", "submit", "map", "processes", "asyncio"):
            r = run_until_done(sys.executable, BENCH / "programs/handoff.py", workload)
            self.assertEqual((r.returncode, r.stderr), (0, ""), workload)
            self.assertGreater(json.loads(r.stdout.splitlines()[-1])["ops"], 0)

    def test_the_shim_has_no_other_names(self):
        symbols = run("nm", "-D", "--defined-only", SHIM).stdout.split("\n")
        names = {line.split()[-1] for line in symbols if line}
        self.assertLessEqual({"pthread_cond_wait", "sem_wait", "syscall", "cnd_wait"}, names)
        self.assertFalse({n for n in names if not n.startswith(("pthread_", "sem_", "cnd_"))}
                         - {"syscall"})


VALUE = b"VALUE k 0 32\r\n0123456789abcdef0123456789abcdef\r\nEND\r\n"


class Gets(unittest.TestCase):
    """programs/gets.c and a server that answers as memcached does, or does not."""

    def serve(self, listener, value):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection, value), daemon=True).start()

    def answer(self, connection, value):
        with connection:
            try:
                while asked := connection.recv(256):
                    connection.sendall(b"STORED\r\n" if asked.startswith(b"set") else value)
            except OSError:
                pass

    def ask(self, connections, value):
        with socket.create_server((server.LOOPBACK, 0)) as listener:
            port = listener.getsockname()[1]
            self.assertTrue(server.answers(port)())
            threading.Thread(target=self.serve, args=(listener, value), daemon=True).start()
            done = run(BUILD / "bench/preload/preload_gets", port, connections, "0.01")
            listener.shutdown(socket.SHUT_RDWR)
        return done

    def test_it_counts_all_connections(self):
        for connections in (1, 3):
            r = self.ask(connections, VALUE)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertEqual(json.loads(r.stdout)["ops"] % 16, 0)
            self.assertGreaterEqual(json.loads(r.stdout)["ops"], 16 * connections)

    def test_another_answer_is_none(self):
        for value in (b"END\r\n", VALUE.replace(b"a", b"b"), VALUE + b"END\r\n"):
            r = self.ask(1, value)
            self.assertEqual((r.returncode, r.stdout), (1, ""))
            self.assertIn("something else", r.stderr)

    def test_bad_input(self):
        port = server.free_port()
        self.assertFalse(server.answers(port)())
        for words, status in (((), 2), ((0, 1, 1), 2), ((65536, 1, 1), 2), ((port, 0, 1), 2),
                              ((port, 257, 1), 2), ((port, 1, 0), 2), ((port, 1, 1), 1)):
            r = run(BUILD / "bench/preload/preload_gets", *words)
            self.assertEqual((r.returncode, r.stdout, r.stderr.count("\n")), (status, "", 1), words)


if __name__ == "__main__":
    brief.main()
