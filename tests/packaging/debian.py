#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""As Debian packages it: debian.py SOURCE

Built of what git tracks in a clean root, which debootstrap makes of the mirrors that this machine's
apt has, judged by lintian, installed there, tested by debian/tests, and removed. Exit status 77:
there is no debootstrap, no right to make a root, or no mirror; the reason is the last line.
"""
import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from prefix import call

SOURCE = Path(sys.argv.pop(1)).resolve()
PACKAGES = ["ipcwait-tools", "libipcwait-dev", "libipcwait-preload", "libipcwait0"]
# It is not meant for Debian's archive, so there is no bug that asks for it.
NOT_OURS = "initial-upload-closes-no-bugs"


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
        except AssertionError:
            return False
        return True


def why_not():
    if os.geteuid() != 0:
        return "not root: no clean root can be made"
    for tool in "dpkg-buildpackage", "lintian", "debootstrap":
        if not shutil.which(tool):
            return f"no {tool}"
    if not may_mount():
        return "no right to mount"
    return None if mirror() else "apt has no mirror"


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
        call("mount", "-t", "proc", "proc", path / "proc")

    def end(self):
        call("umount", "-l", self.path / "proc")

    def run(self, *argv, **options):
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive",
               **{k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")}}
        return call("chroot", self.path, *argv, env=env, **options)

    def files(self):
        """All but what installing anything at all leaves behind."""
        others = [word for folder in ("proc", "tmp", "var/cache", "var/log", "var/lib/apt",
                                      "var/lib/dpkg") for word in ("-not", "-path", f"/{folder}/*")]
        said = self.run("find", "/", "-xdev", *others)
        return set(said.splitlines())


class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="ipcwait."))
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        cls.root = Root(cls.work / "root")
        cls.addClassCleanup(cls.root.end)
        cls.built = cls.work / "root/tmp/built"
        cls.build(cls.built / "source")
        cls.packages = {p.name.split("_")[0]: p for p in cls.built.glob("*.deb")
                        if "-dbgsym_" not in p.name}

    @classmethod
    def build(cls, source):
        """In the clean root, with what debian/control says that it takes, and nothing else."""
        for name in call("git", "-C", SOURCE, "ls-files", "-z").split("\0"):
            if name and (SOURCE / name).exists():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(SOURCE / name, source / name, follow_symlinks=False)
        version = re.search(r"\((.*)-", (source / "debian/changelog").read_text("utf-8"))[1]
        call("tar", "--exclude=./debian", "-czf",
             source.parent / f"libipcwait_{version}.orig.tar.gz", "-C", source, ".")
        cls.root.run("apt-get", "update", "-q")
        cls.root.run("sh", "-c", "cd /tmp/built/source && "
                     "apt-get install -q -y --no-install-recommends dpkg-dev fakeroot && "
                     "apt-get build-dep -q -y --no-install-recommends ./ && "
                     "dpkg-buildpackage -us -uc")

    def test_1_what_was_built(self):
        self.assertEqual(sorted(self.packages), PACKAGES)
        self.assertEqual(len(list(self.built.glob("*.dsc"))), 1)

    def test_2_lintian(self):
        call("lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags", NOT_OURS,
             next(self.built.glob("*.changes")))

    def test_3_install_try_remove(self):
        root = self.root
        needed = re.search(r"^Depends: (.*)$", (SOURCE / "debian/tests/control").read_text("utf-8"),
                           re.M)[1].split(", ")
        root.run("apt-get", "install", "-q", "-y", "--no-install-recommends",
                 *(name for name in needed if name not in PACKAGES))
        before = root.files()
        for path in self.packages.values():
            shutil.copy(path, root.path / "tmp")
        # Not what it took to build them: each package has to name what it needs itself.
        root.run("sh", "-c", "apt-get purge -q -y liburcu-dev libhwloc-dev && "
                 "apt-get autoremove -q -y --purge && "
                 "apt-get install -q -y --no-install-recommends /tmp/*.deb")
        self.assertIn("install ok installed", root.run("dpkg-query", "-W", "-f", "${Status}",
                                                       "libipcwait0"))
        for test in "build", "run":
            shutil.copy(SOURCE / "debian/tests" / test, root.path / "tmp" / test)
            root.run("sh", f"/tmp/{test}")
        root.run("dpkg", "--purge", *PACKAGES)
        left = root.files() - before
        self.assertEqual({p for p in left if "ipcwait" in p}, set())


if __name__ == "__main__":
    WHY = why_not()
    if WHY:
        print(WHY)
        sys.exit(77)
    unittest.main(verbosity=2, failfast=True)
