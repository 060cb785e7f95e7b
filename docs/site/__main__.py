# SPDX-License-Identifier: MIT
"""What scripts/site runs: README, docs/ and the manual pages as HTML, without scripts and without a network."""
import argparse
import shutil
import sys
from pathlib import Path

import layout
import links
import manual
import markdown
from pages import Page

ROOT = Path(__file__).resolve().parent.parent.parent
TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
LISTED = {"docs/design": "Designs", "docs/benchmarks": "Benchmarks"}


# In a folder that scripts/site has made, and may empty.
MARK = ".ipcwait-site"


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/site",
        description="Renders README.md, docs/ and the manual pages as HTML, and checks every link between them.",
        epilog="Exit status: 0; 1 a link leads nowhere, each is told; 2 bad arguments, or a program is missing.")
    parser.add_argument("folder", nargs="?", default="build-site", help="where to (build-site)")
    parser.add_argument("--source", metavar="URL", default="",
                        help="where the source is to be read, as https://host/project/blob/main; without it links to "
                             "source files become plain text")
    return parser.parse_args()


def fail(text):
    print(f"scripts/site: {text}", file=sys.stderr)
    sys.exit(2)


def sources():
    """The Markdown files, relative to the root."""
    found = [name for name in TOP if (ROOT / name).exists()]
    for pattern in ("docs/**/*.md", "bindings/*/README.md"):
        found += sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern))
    return found


def listings(pages):
    """A page for each folder that has documents and no README of its own."""
    for folder, title in LISTED.items():
        target = folder + "/index.html"
        inside = [p for p in pages if p.target.startswith(folder + "/")]
        if inside and target not in {p.target for p in pages}:
            yield Page(None, target, title, layout.listing(inside, folder, title))


def copy_files(files, out):
    for name in sorted(files):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, out / name)
    shutil.copyfile(Path(__file__).parent / "style.css", out / "style.css")


def read_all():
    pages = [markdown.read(ROOT, name) for name in sources()]
    pages += listings(pages)
    pages += manual.read_all(ROOT)
    return pages


def clear(out):
    """Pages that no longer exist must not stay; what is no site of ours is left alone."""
    if out.exists() and not out.is_dir():
        fail(f"'{out}' is no folder")
    if out.exists() and any(out.iterdir()) and not (out / MARK).exists():
        fail(f"'{out}' has other files in it")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / MARK).touch()        # also of one that fails before it is complete


def main():
    options = parse_arguments()
    for program in "pandoc", "mandoc":
        if not shutil.which(program):
            fail(f"needs {program}; with Debian: apt-get install {program}")
    out = Path(options.folder)
    clear(out)
    pages = read_all()
    book = links.Book(ROOT, {p.target for p in pages}, options.source.rstrip("/"))
    for page in pages:
        page.body = book.mend(page)
    navigation = layout.Navigation(pages)
    for page in pages:
        path = out / page.target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(navigation.html(page), encoding="utf-8")
    copy_files(book.files, out)
    wrong = book.wrong + links.check(out)
    for line in wrong:
        print(f"scripts/site: {line}", file=sys.stderr)
    print(f"{len(pages)} pages in {out}, {len(wrong)} wrong links")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
