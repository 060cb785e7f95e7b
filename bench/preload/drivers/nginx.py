# SPDX-License-Identifier: MIT
"""nginx in a folder of its own, and wrk, which is preloaded where all is."""

from . import server, wrk

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


def prepare(folder, port):
    server.give(folder)
    files = folder / "files"
    files.mkdir(mode=0o755)
    (files / "file").write_text("x" * BYTES, "ascii")
    (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port), "utf-8")


def run(folder, connections, seconds):
    port = server.free_port()
    prepare(folder, port)
    argv = [server.find("nginx"), "-e", "stderr", "-p", folder, "-c", folder / "nginx.conf"]
    with server.running(argv, folder / "log", server.answers(port)):
        return wrk.measured(port, "file", connections, seconds)
