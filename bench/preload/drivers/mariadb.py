# SPDX-License-Identifier: MIT
"""MariaDB in a data directory of its own, and sysbench, which is preloaded where all is."""

from . import server

ROWS = 10_000
TESTS = {"select": "oltp_point_select", "mixed": "oltp_read_write"}


def prepare(folder):
    """An empty database whose root user may come by the socket."""
    data = folder / "data"
    data.mkdir(mode=0o755)
    server.give(folder)
    server.give(data)
    server.call(["mariadb-install-db", "--no-defaults", f"--datadir={data}",
                 "--auth-root-authentication-method=normal", "--skip-test-db"],
                server.as_user(), cwd=folder)
    return data


def run(folder, form, threads, seconds):
    data, socket = prepare(folder), folder / "socket"
    argv = ["mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={socket}",
            "--skip-networking", f"--pid-file={folder / 'pid'}", "--innodb-buffer-pool-size=256M",
            f"--tmpdir={folder}"]
    test = ["sysbench", TESTS[form], "--db-driver=mysql", f"--mysql-socket={socket}",
            "--mysql-user=root", "--mysql-db=bench", "--tables=4", f"--table-size={ROWS}",
            f"--threads={threads}"]

    def timed(length):
        said = server.call([*test, f"--time={max(1, round(length))}", "run"],
                           env=server.preloaded(server.CLIENT))
        return (server.number(r"transactions: +(\d+)", said),
                server.number(r"total time: +([\d.]+)s", said))

    with server.running(argv, folder / "log", socket.exists):
        server.call(["mariadb", "--no-defaults", f"--socket={socket}", "--user=root",
                     "--execute=CREATE DATABASE bench"])
        server.call([*test, "prepare"])
        timed(1)
        server.begin()
        return timed(seconds)
