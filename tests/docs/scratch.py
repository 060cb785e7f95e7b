# SPDX-License-Identifier: MIT
"""Where the blocks run: an installed library, and what they take for granted.

A shell block finds in its folder: `program`, which hands over and ends, example.c, which is the
README's sample. PID in its text becomes the id of a `program` that runs for long.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests" / "packaging"))

import prefix  # noqa: E402

SECONDS_A_BLOCK = 120
FRAMES = Path(__file__).resolve().parent / "frames"


# What these two say of the machine is no fault of the document.
MACHINES = """ipcwait() {
    command ipcwait "$@" || case "${1-} $?" in
    "doctor 3" | "calibrate 1") ;;
    *) return 1 ;;
    esac
}
"""


class Scratch:
    def __init__(self, sample):
        self.work = Path(tempfile.mkdtemp(prefix="ipcwait."))
        try:
            self.set_up(sample)
        except BaseException:
            self.close()
            raise

    def set_up(self, sample):
        self.sample = sample
        self.number = 0
        self.supplies = self.folder()
        prefix.install(SOURCE, self.work / "build", self.work / "prefix")
        home = self.work / "home"
        home.mkdir()
        found = prefix.environment(self.work / "prefix")
        self.env = {**found, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1",
                    "PYTHONPATH": str(SOURCE / "bindings" / "python"),
                    "XDG_RUNTIME_DIR": str(home), "XDG_CACHE_HOME": str(home / ".cache"),
                    "CARGO_NET_OFFLINE": "true",
                    "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
                    "CARGO_TARGET_DIR": str(self.work / "target"),
                    "PATH": f"{self.work}/prefix/bin:" + os.environ["PATH"]}
        (self.supplies / "example.c").write_text(sample, encoding="utf-8")
        self.call(*prefix.COMPILER, "-O2", FRAMES / "program.c", "-pthread", "-o", self.supplies / "program")

    def close(self):
        shutil.rmtree(self.work, ignore_errors=True)

    def folder(self):
        self.number += 1
        folder = self.work / f"block{self.number}"
        folder.mkdir()
        return folder

    def supplied(self):
        folder = self.folder()
        for file in self.supplies.iterdir():
            shutil.copy2(file, folder)
        return folder

    def source(self):
        """A copy of the source: what git has and what is new, nothing that was built."""
        folder = self.folder()
        names = self.call("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
                          cwd=SOURCE).split("\0")
        for name in names:
            if name and (SOURCE / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(SOURCE / name, folder / name, follow_symlinks=False)
        return folder

    def call(self, *args, **options):
        options.setdefault("env", self.env if hasattr(self, "env") else None)
        return prefix.call(*args, seconds=SECONDS_A_BLOCK, stdin=subprocess.DEVNULL, **options)

    def flags(self):
        return shlex.split(self.call("pkg-config", "--cflags", "--libs", "libipcwait"))

    def shell(self, text):
        if text.startswith("meson setup build"):
            return self.call("sh", "-eu", "-c", text, cwd=self.source())
        text = MACHINES + text
        folder = self.supplied()
        env = {**self.env, "PATH": f"{folder}:{self.env['PATH']}"}
        if not re.search(r"\bPID\b", text):
            return self.call("sh", "-eu", "-c", text, cwd=folder, env=env)
        watched = {**env, "IPCWAIT_PAGE": "1", "LD_PRELOAD": "libipcwait-preload.so"}
        with subprocess.Popen([folder / "program", "--long"], stdout=subprocess.PIPE,
                              env=watched) as running:
            try:
                running.stdout.readline()
                # It has one as soon as it has had to wait.
                page = Path(f"/dev/shm/ipcwait-{os.geteuid()}/{running.pid}")
                while not page.exists() and running.poll() is None:
                    time.sleep(0.01)
                text = re.sub(r"\bPID\b", str(running.pid), text)
                return self.call("sh", "-eu", "-c", text, cwd=folder, env=env)
            finally:
                running.kill()
