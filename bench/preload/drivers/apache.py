# SPDX-License-Identifier: MIT
"""Apache with the event module in a folder of its own, and wrk."""

from pathlib import Path

from . import server, wrk

MODULES = Path("/usr/lib/apache2/modules")      # where Debian has them
BYTES = 1024

# One process with a thread for each connection: a process that is no longer needed closes its
# connections, and wrk counts that as a failure.
CONFIGURATION = """\
ServerRoot {folder}
ServerName localhost
DefaultRuntimeDir {folder}
PidFile {folder}/pid
ErrorLog {folder}/errors
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
StartServers 1
ServerLimit 1
ThreadsPerChild 64
MaxRequestWorkers 64
MinSpareThreads 1
MaxSpareThreads 65
MaxKeepAliveRequests 0
KeepAliveTimeout 60
Listen {address}:{port}
DocumentRoot {folder}/files
"""


def prepare(folder, port):
    server.give(folder)
    files = folder / "files"
    files.mkdir(mode=0o755)
    (files / "file").write_text("x" * BYTES, "ascii")
    (folder / "apache.conf").write_text(CONFIGURATION.format(
        folder=folder, modules=MODULES, address=server.LOOPBACK, port=port), "utf-8")


def run(folder, connections, seconds):
    port = server.free_port()
    prepare(folder, port)
    argv = [server.find("apache2"), "-D", "FOREGROUND", "-f", folder / "apache.conf"]
    with server.running(argv, folder / "log", server.answers(port)):
        return wrk.measured(port, "file", connections, seconds)
