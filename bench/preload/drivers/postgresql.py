# SPDX-License-Identifier: MIT
"""PostgreSQL in a data directory of its own, and pgbench or programs/notify.py, which is preloaded
where all is."""

import shutil
import signal
import sys
from pathlib import Path

from . import server

SCALE = 5
CONNECTIONS, SPARE = 50, 10
FORMS = {"select": ["-S"], "tpcb": []}
NOTIFY = Path(__file__).resolve().parents[1] / "programs/notify.py"


def find(name):
    """A program of the server, or None; Debian keeps them out of the PATH."""
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(name) or next((f / name for f in known if (f / name).is_file()), None)


def run(folder, form, clients, sync, seconds):
    server.give(folder)
    data, user = folder / "data", ["-h", folder, "-U", "bench"]
    server.call([find("initdb"), "-D", data, "-U", "bench", "-A", "trust", "--no-sync"],
                server.as_user(), cwd=folder)
    argv = [find("postgres"), "-D", data, "-k", folder, "-c", "listen_addresses=",
            "-c", f"fsync={sync}", "-c",
            f"max_connections={max(CONNECTIONS, int(clients) + SPARE)}"]

    def ready():
        return (folder / ".s.PGSQL.5432").exists() and \
            "ready to accept connections" in server.log_of(folder / "log")

    def timed(length):
        said = server.call(["pgbench", *user, *FORMS[form], "-n", "-c", clients, "-j", "2",
                            "-T", max(1, round(length)), "postgres"],
                           env=server.preloaded(server.CLIENT))
        return server.number(r"tps = ([\d.]+)", said), 1

    with server.running(argv, folder / "log", ready, signal.SIGINT):
        if form == "notify":
            return server.measured([sys.executable, NOTIFY, folder, seconds])
        server.call(["pgbench", *user, "-i", "-q", "-s", SCALE, "postgres"])
        timed(1)
        server.begin()
        return timed(seconds)
