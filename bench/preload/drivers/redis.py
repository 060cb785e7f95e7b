# SPDX-License-Identifier: MIT
"""Redis without a file, and redis-benchmark with so many clients; both are preloaded."""

import time

from . import server

REQUESTS_PER_S = 50_000


def run(folder, clients, seconds):
    server.give(folder)
    socket, log = folder / "socket", folder / "log"
    argv = ["redis-server", "--port", "0", "--unixsocket", socket, "--unixsocketperm", "777",
            "--save", "", "--appendonly", "no", "--dir", folder]
    ask = ["redis-benchmark", "-s", socket, "-c", clients, "-t", "get", "--csv", "-n"]
    env = server.preloaded(server.SERVER)
    count = round(REQUESTS_PER_S * seconds)
    with server.running(argv, log, socket.exists):
        server.call([*ask, count // 4 + 1], env=env)
        server.begin()
        at = time.monotonic()
        server.call([*ask, count], env=env)
        return count, time.monotonic() - at
