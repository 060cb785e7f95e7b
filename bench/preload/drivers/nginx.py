# SPDX-License-Identifier: MIT
"""nginx in a folder of its own, and wrk, which is preloaded where all is."""

import re
import shutil
from pathlib import Path

from . import server

PLACES = ("/usr/sbin/nginx", "/usr/local/sbin/nginx")
BYTES = 1024

# As Debian has it, but for the folders, the lack of a log of requests, and connections that last.
CONFIGURATION = """\
daemon off;
worker_processes auto;
pid {folder}/pid;
error_log stderr;
events {{ }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        root {folder}/files;
    }}
}}
"""


def find():
    """The program, or None; an ordinary user has its folder not in the PATH."""
    return shutil.which("nginx") or next((p for p in PLACES if Path(p).is_file()), None)


def prepare(folder, port):
    server.give(folder)
    files = folder / "files"
    files.mkdir(mode=0o755)
    (files / "file").write_text("x" * BYTES, "ascii")
    (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port), "utf-8")


def figures(said):
    """(requests, seconds) of what wrk prints; a request that fails is no request."""
    if "Socket errors" in said or "Non-2xx" in said:
        raise server.Failed("wrk: requests have failed")
    m = re.search(r"(\d+) requests in ([\d.]+)(ms|s|m),", said)
    if not m:
        raise server.Failed("no figure in what was printed")
    return int(m[1]), float(m[2]) * {"ms": 1e-3, "s": 1, "m": 60}[m[3]]


def run(folder, connections, seconds):
    port = server.free_port()
    prepare(folder, port)
    argv = [find(), "-e", "stderr", "-p", folder, "-c", folder / "nginx.conf"]

    def timed(length):
        return figures(server.call(
            ["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(length))}s",
             f"http://{server.LOOPBACK}:{port}/file"], env=server.preloaded(server.CLIENT)))

    with server.running(argv, folder / "log", server.answers(port)):
        timed(1)
        server.begin()
        return timed(seconds)
