# SPDX-License-Identifier: MIT
"""HAProxy in front of another HAProxy that answers by itself, and wrk."""

from . import server, wrk

COMMON = """\
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
"""

ORIGIN = COMMON + """\
frontend origin
    bind {address}:{port}
    http-request return status 200 content-type text/plain string {answer}
"""

FRONT = COMMON + """\
frontend front
    bind {address}:{port}
    default_backend origin
backend origin
    http-reuse always
    server origin {address}:{origin}
"""


def started(folder, name, text, **places):
    """A process with that configuration, and the port that it listens on."""
    port, path = server.free_port(), folder / f"{name}.cfg"
    path.write_text(text.format(address=server.LOOPBACK, port=port, **places), "utf-8")
    argv = [server.find("haproxy"), "-db", "-q", "-f", path]
    return port, server.running(argv, folder / f"{name}.log", server.answers(port))


def run(folder, connections, seconds):
    server.give(folder)
    origin, behind = started(folder, "origin", ORIGIN, answer="x" * 1024)
    with behind:
        port, front = started(folder, "front", FRONT, origin=origin)
        with front:
            return wrk.measured(port, "", connections, seconds)
