# SPDX-License-Identifier: MIT
"""memcached, and programs/gets.c with so many connections, which is preloaded where all is."""

from . import server

WARM = 0.25


def run(folder, program, connections, seconds):
    server.give(folder)
    port = server.free_port()
    argv = ["memcached", "-U", "0", "-l", server.LOOPBACK, "-p", port]

    def timed(length):
        return server.own_figures(server.call([program, port, connections, length],
                                              env=server.preloaded(server.CLIENT)))

    with server.running(argv, folder / "log", server.answers(port)):
        timed(seconds * WARM)
        server.begin()
        return timed(seconds)
