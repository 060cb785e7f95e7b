#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual pages and the site: pages.py

mandoc and groff have nothing to say against any page, and neither heads one with another system's
name. scripts/site renders everything, and notices links that lead nowhere.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
PAGES = sorted(p for p in (SOURCE / "docs" / "man").iterdir() if re.fullmatch(r"\.[1-8]", p.suffix))
BUILD = (SOURCE / "docs" / "man" / "meson.build").read_text(encoding="utf-8")

sys.path.insert(0, str(SOURCE / "docs" / "site"))

import links  # noqa: E402


def run(*args, stderr=subprocess.STDOUT):
    return subprocess.run([str(a) for a in args], encoding="utf-8", check=False, stdout=subprocess.PIPE,
                          stderr=stderr, timeout=300)


class ManualPages(unittest.TestCase):
    def test_mandoc(self):
        r = run("mandoc", "-T", "lint", "-W", "warning", *PAGES)
        self.assertEqual((r.returncode, r.stdout), (0, ""))

    def test_groff(self):
        """As man(1) has it on 80 columns, with all of groff's warnings about text and macros."""
        for page in PAGES:
            with self.subTest(page=page.name):
                r = run("groff", "-mandoc", "-Tutf8", "-ww", "-rLL=78n", "-P-cbou", page, stderr=subprocess.PIPE)
                out = r.stdout
                self.assertEqual((r.returncode, r.stderr), (0, ""))
                self.assertNotIn("BSD", out)
                self.assertRegex(out.rstrip().rpartition("\n")[2], r"^libipcwait .* libipcwait$")

    def test_each_is_installed(self):
        for page in PAGES:
            self.assertIn(f"'{page.name}'", BUILD)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="ipcwait."))
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        cls.site = cls.work / "site"
        cls.built = run(SOURCE / "scripts" / "site", cls.site)

    def test_it_is_built(self):
        self.assertEqual(self.built.returncode, 0, self.built.stdout)
        for name in ("index.html", "style.css", "docs/man/index.html", "docs/design/window.html"):
            self.assertTrue((self.site / name).is_file(), name)
        for page in PAGES:
            self.assertTrue((self.site / "docs" / "man" / (page.name + ".html")).is_file(), page.name)

    def test_each_document_is_in_it(self):
        for path in SOURCE.glob("docs/**/*.md"):
            target = links.target_of(str(path.relative_to(SOURCE)))
            self.assertTrue((self.site / target).is_file(), target)

    def test_wrong_links_are_noticed(self):
        copy = self.work / "copy"
        shutil.copytree(self.site, copy)
        page = copy / "docs" / "limits.html"
        text = page.read_text(encoding="utf-8")
        for link, word in (('<a href="nothing.html">', "leads nowhere"),
                           ('<a href="limits.html#nothing">', "leads nowhere"),
                           ('<img src="https://example.org/a.png">', "loads"),
                           ("<script></script>", "loads")):
            page.write_text(text.replace("</main>", link + "</main>"), encoding="utf-8")
            wrong = links.check(copy)
            self.assertEqual([line for line in wrong if line.startswith("docs/limits.html: ") and word in line], wrong)
            self.assertTrue(wrong, link)

    def test_a_folder_with_other_files_is_left_alone(self):
        (self.work / "other").mkdir()
        (self.work / "other" / "style.css").touch()
        r = run(SOURCE / "scripts" / "site", self.work / "other")
        self.assertEqual(r.returncode, 2)
        self.assertEqual(os.listdir(self.work / "other"), ["style.css"])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
