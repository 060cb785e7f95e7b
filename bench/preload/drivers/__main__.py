# SPDX-License-Identifier: MIT
"""python3 drivers SERVER WORD... SECONDS: start a server under what BENCH_PRELOAD names, measure
it, stop it. The lines that are printed are those of programs/meter.h."""

import json
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from drivers import apache, haproxy, mariadb        # noqa: E402  pylint: disable=C0413
from drivers import memcached, nginx, postgresql    # noqa: E402  pylint: disable=C0413
from drivers import redis, ssh                      # noqa: E402  pylint: disable=C0413
from drivers.server import Failed                   # noqa: E402  pylint: disable=C0413

SERVERS = {"apache": apache, "haproxy": haproxy, "mariadb": mariadb, "memcached": memcached,
           "nginx": nginx, "postgresql": postgresql, "redis": redis, "ssh": ssh}


def main(words):
    if len(words) < 2 or words[0] not in SERVERS:
        print(f"want one of {', '.join(SERVERS)}, its words, and SECONDS", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="preload.") as folder:
        os.environ["TMPDIR"] = folder       # the server's user can write there
        try:
            operations, seconds = SERVERS[words[0]].run(Path(folder), *words[1:-1],
                                                        float(words[-1]))
        except Failed as e:
            print(e, file=sys.stderr)
            return 1
    print(json.dumps({"ops": operations, "seconds": seconds}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
