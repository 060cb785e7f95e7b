#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""As Debian packages it: debian.py SOURCE

Built of what git tracks in a clean root, which debootstrap makes of the mirrors that this machine's
apt has, judged by lintian, installed there, tested by debian/tests, and removed. Exit status 77:
there is no debootstrap, no right to make a root, or no mirror that answers; the only line has the reason.
"""
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from clean_root import Root, why_not
from prefix import call

SOURCE = Path(sys.argv.pop(1)).resolve()
PACKAGES = ["ipcwait-tools", "libipcwait-dev", "libipcwait-preload", "libipcwait0"]
# It is not meant for Debian's archive, so there is no bug that asks for it.
NOT_OURS = "initial-upload-closes-no-bugs"


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
        cls.root.copy_of(SOURCE, source)
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
    WHY = why_not("dpkg-buildpackage", "lintian")
    if WHY:
        print(WHY)
        sys.exit(77)
    unittest.main(verbosity=2, failfast=True)
