# SPDX-License-Identifier: MIT
"""How a block of each language is run: LANGUAGES[name](scratch, where, text)."""
import re
import sys

from scratch import FRAMES, SOURCE

C = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror"]
CPP = ["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror"]

MARK = re.compile(r"^\s*/\* @BLOCK@ \*/\n", re.MULTILINE)

CMAKE = "cmake_minimum_required(VERSION 3.16)\nproject(user C)\n"
MESON = "project('user', 'c')\n"
CARGO = """[package]
name = "user"
version = "0.1.0"
edition = "2021"

[dependencies]
ipcwait = { path = "%s" }
"""


class NoFrame(Exception):
    pass


def framed(path, text, where):
    """The frame with the block in place of its @BLOCK@; compilers blame the document."""
    if not path.exists():
        raise NoFrame(f"there is no {path.relative_to(SOURCE)}")
    frame = path.read_text(encoding="utf-8")
    mark = MARK.search(frame)
    if not mark:
        raise NoFrame(f"{path.relative_to(SOURCE)} has no line /* @BLOCK@ */")
    before, after = frame[:mark.start()], frame[mark.end():]
    file, line = where
    return (f'{before}#line {line + 1} "{file}"\n{text}'
            f'#line {before.count(chr(10)) + 2} "{path.name}"\n{after}')


def compiled(command, suffix, main):
    def run(scratch, where, text, frame=None):
        if frame:
            text = framed(FRAMES / (frame + suffix), text, where)
        elif not re.search(main, text):
            raise NoFrame("a fragment: <!-- frame: NAME --> is missing on the line before it")
        folder = scratch.folder()
        (folder / ("block" + suffix)).write_text(text, encoding="utf-8")
        scratch.call(*command, f"-I{FRAMES}", "block" + suffix, *scratch.flags(), "-pthread",
                     "-o", "block", cwd=folder)
        return scratch.call(folder / "block", cwd=folder)
    return run


def shell(scratch, _where, text):
    return scratch.shell(text)


def python(scratch, _where, text):
    return scratch.call(sys.executable, "-W", "error", "-c", text, cwd=scratch.supplied())


def cmake(scratch, _where, text):
    folder = scratch.supplied()
    (folder / "CMakeLists.txt").write_text(text if "project(" in text else CMAKE + text, encoding="utf-8")
    scratch.call("cmake", "-S", folder, "-B", folder / "build")
    return scratch.call("cmake", "--build", folder / "build")


def meson(scratch, _where, text):
    folder = scratch.supplied()
    (folder / "meson.build").write_text(text if "project(" in text else MESON + text, encoding="utf-8")
    scratch.call("meson", "setup", folder / "build", folder)
    return scratch.call("ninja", "-C", folder / "build")


def rust(scratch, _where, text):
    folder = scratch.folder()
    (folder / "src").mkdir()
    (folder / "Cargo.toml").write_text(CARGO % (SOURCE / "bindings" / "rust"), encoding="utf-8")
    main = text if "fn main" in text else "fn main() {\n" + text + "}\n"
    (folder / "src" / "main.rs").write_text(main, encoding="utf-8")
    return scratch.call("cargo", "run", "--offline", "--quiet", cwd=folder)


LANGUAGES = {
    "c": compiled(C, ".c", r"\bint main\("),
    "c++": compiled(CPP, ".cpp", r"\bint main\("),
    "cmake": cmake,
    "cpp": compiled(CPP, ".cpp", r"\bint main\("),
    "meson": meson,
    "python": python,
    "rust": rust,
    "sh": shell,
}
FRAMED = ("c", "c++", "cpp")
