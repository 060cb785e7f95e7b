# SPDX-License-Identifier: MIT
"""sshd with keys and a port of its own, and ssh, which is preloaded where all is: a line to a
program behind it and back, over one connection."""

import contextlib
import os
import pwd
import subprocess
import time
from pathlib import Path

from . import server

WARM, STRIDE = 0.25, 16
LINE = b"a line\n"
PRIVILEGES = Path("/run/sshd")     # sshd of root wants this folder; the system's service makes it

SERVER = """\
ListenAddress {address}
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
"""

CLIENT = """\
HostName {address}
Port {port}
User {user}
IdentityFile {folder}/user
IdentitiesOnly yes
IdentityAgent none
UserKnownHostsFile {folder}/known
GlobalKnownHostsFile none
StrictHostKeyChecking accept-new
BatchMode yes
LogLevel ERROR
"""


def prepare(folder, port):
    for name in ("host", "user"):
        server.call(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name])
    places = {"folder": folder, "address": server.LOOPBACK, "port": port,
              "user": pwd.getpwuid(os.getuid()).pw_name}
    (folder / "sshd.conf").write_text(SERVER.format(**places), "utf-8")
    (folder / "ssh.conf").write_text(CLIENT.format(**places), "utf-8")
    if not os.getuid():
        PRIVILEGES.mkdir(mode=0o755, exist_ok=True)


@contextlib.contextmanager
def connected(folder):
    """The client with cat(1) behind it. As its input ends, both end."""
    argv = ["ssh", "-F", folder / "ssh.conf", "server", "cat"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                          env=server.preloaded(server.CLIENT)) as client:
        yield client
        client.stdin.close()
    if client.returncode:
        raise server.Failed(f"ssh: exit status {client.returncode}")


def turns(client, seconds):
    """(round trips, seconds)"""
    operations, at = 0, time.monotonic()
    while (past := time.monotonic() - at) < seconds:
        for _ in range(STRIDE):
            client.stdin.write(LINE)
            if client.stdout.read(len(LINE)) != LINE:
                raise server.Failed("ssh: another line came back")
        operations += STRIDE
    return operations, past


def run(folder, seconds):
    port = server.free_port()
    prepare(folder, port)
    argv = [server.find("sshd"), "-D", "-e", "-f", folder / "sshd.conf"]
    # It lets in nobody but the user that it runs as, unless that is root.
    with server.running(argv, folder / "log", server.answers(port), before=()):
        with connected(folder) as client:
            turns(client, seconds * WARM)
            server.begin()
            return turns(client, seconds)
