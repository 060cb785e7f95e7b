# SPDX-License-Identifier: MIT
"""A clean Debian system in a folder, made by debootstrap of the mirrors that this machine's apt has."""
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from prefix import call

ANSWER_SECONDS = 20


def mirror():
    """(address, release) of what apt takes base packages from here, or None."""
    if not shutil.which("apt-get"):
        return None
    said = call("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(ORIGIN)",
                "Created-By: Packages")
    found = [line.split() for line in said.splitlines() if line.count(" ") == 2]
    return next(((uri, name) for uri, name, origin in found
                 if re.fullmatch(r"[a-z]+", name) and origin in ("Debian", "Ubuntu")), None)


def may_mount():
    with tempfile.TemporaryDirectory(prefix="ipcwait.") as folder:
        try:
            call("mount", "-t", "proc", "proc", folder)
            call("umount", folder)
        except (AssertionError, FileNotFoundError):
            return False
        return True


def answers(uri, release):
    """Whether the mirror has the release, by the program that debootstrap fetches packages with."""
    if not uri.startswith("http"):
        return True
    try:
        call("wget", "--quiet", "--spider", "--tries=1", f"--timeout={ANSWER_SECONDS}",
             f"{uri.rstrip('/')}/dists/{release}/Release", seconds=3 * ANSWER_SECONDS)
    except (AssertionError, FileNotFoundError, subprocess.TimeoutExpired):
        return False
    return True


def why_not(*tools):
    """Why none can be made here with these programs beside it; None if it can."""
    if os.geteuid() != 0:
        return "skipped: not root, so no clean root can be made"
    for tool in "debootstrap", *tools:
        if not shutil.which(tool):
            return f"skipped: no {tool}"
    if not may_mount():
        return "skipped: no right to mount, so no clean root can be made"
    found = mirror()
    if not found:
        return "skipped: apt has no mirror of Debian or Ubuntu"
    if not answers(*found):
        return f"skipped: no network: the mirror {found[0]} does not answer"
    return None


class Root:
    """A clean system in a folder."""

    def __init__(self, path):
        self.path = path
        uri, release = mirror()
        call("debootstrap", "--variant=minbase", release, path, uri)
        # As this machine's apt: mirrors, keys, proxies.
        shutil.rmtree(path / "etc/apt")
        shutil.copytree("/etc/apt", path / "etc/apt", symlinks=True)
        keys = Path("/usr/share/keyrings")
        if keys.is_dir():
            shutil.copytree(keys, path / "usr/share/keyrings", dirs_exist_ok=True)
        for name in "resolv.conf", "hosts":
            if Path("/etc", name).exists():
                shutil.copy(Path("/etc", name), path / "etc" / name)
        # No service starts in it.
        (path / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n", encoding="ascii")
        (path / "usr/sbin/policy-rc.d").chmod(0o755)
        self.mounted = []
        try:
            self.mount("proc", "proc", "rw")
            self.mount("sysfs", "sys", "ro")
            self.mount("tmpfs", "dev/shm", "rw")
            self.mount("devpts", "dev/pts", "newinstance,ptmxmode=0666")
            (path / "dev/ptmx").unlink(missing_ok=True)
            (path / "dev/ptmx").symlink_to("pts/ptmx")
        except AssertionError:
            self.end()
            raise

    def mount(self, kind, at, how):
        (self.path / at).mkdir(exist_ok=True)
        call("mount", "-t", kind, "-o", how, kind, self.path / at)
        self.mounted.append(self.path / at)

    def end(self):
        for at in self.mounted:
            call("umount", "-l", at)

    def run(self, *argv, **options):
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive",
               **{k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")}}
        return call("chroot", self.path, *argv, env=env, **options)

    def copy_of(self, source, at):
        """What git tracks of @source, as it is in the work tree."""
        for name in call("git", "-C", source, "ls-files", "-z").split("\0"):
            if name and (source / name).exists():
                (at / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, at / name, follow_symlinks=False)

    def files(self):
        """All but what installing anything at all leaves behind."""
        others = [word for folder in ("proc", "sys", "dev/shm", "tmp", "var/cache", "var/log", "var/lib/apt",
                                      "var/lib/dpkg") for word in ("-not", "-path", f"/{folder}/*")]
        said = self.run("find", "/", "-xdev", *others)
        return set(said.splitlines())
