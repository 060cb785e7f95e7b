# SPDX-License-Identifier: MIT
"""wrk, the client of HTTP servers, which is preloaded where all is."""

import re

from . import server

LATE = "60s"    # a machine that stops for a while is no failure of a request


def figures(said):
    """(requests, seconds) of what wrk prints; a request that fails is no request."""
    if "Socket errors" in said or "Non-2xx" in said:
        raise server.Failed("wrk: requests have failed")
    m = re.search(r"(\d+) requests in ([\d.]+)(ms|s|m),", said)
    if not m:
        raise server.Failed("no figure in what was printed")
    return int(m[1]), float(m[2]) * {"ms": 1e-3, "s": 1, "m": 60}[m[3]]


def measured(port, path, connections, seconds):
    """(requests, seconds) with this number of connections that last."""
    def timed(length):
        return figures(server.call(
            ["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(length))}s", "--timeout", LATE,
             f"http://{server.LOOPBACK}:{port}/{path}"], env=server.preloaded(server.CLIENT)))
    timed(1)
    server.begin()
    return timed(seconds)
