# SPDX-License-Identifier: MIT
"""Result files: the first contents, saving in one step, loading what others may have written."""

import datetime
import json
import math
import os
import stat
import tempfile
from pathlib import Path

from .errors import reason, refused, shown
from .interrupts import held

FORMAT = 1
SIZE_MOST = 512 << 20

# Of Google Benchmark's context: who owns the machine and where things lie is nobody's business.
PRIVATE = ("host_name",)


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp():
    """For file names."""
    return now().replace(":", "").replace("-", "")


def empty(suite, command, environment, method):
    return {"context": {}, "benchmarks": [],
            "ipcwait": {"format": FORMAT, "suite": suite, "command": command, "started": now(),
                        "finished": None, "complete": False, "environment": environment,
                        "method": method, "runs": [], "summary": [], "seed": [],
                        "idle_states": None, "hosts": [], "guests": [],
                        "verdict": {"noisy": False, "noisy_runs": 0, "total_runs": 0,
                                    "why": None}}}


def public_context(context):
    """Google Benchmark's, without what tells whose machine it was."""
    kept = {k: v for k, v in context.items() if k not in PRIVATE}
    if isinstance(kept.get("executable"), str):
        kept["executable"] = os.path.basename(kept["executable"])
    return kept


def finite(value):
    """JSON has no infinity, and a counter may be 0 / 0."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    return [finite(v) for v in value] if isinstance(value, (list, tuple)) else value


def check_writable(path, option):
    """Before anything is measured. Makes the folder."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            raise refused(f"{option}: {shown(path)} is no regular file")
        handle, name = tempfile.mkstemp(prefix=".", suffix=path.name[-40:], dir=path.parent)
        os.close(handle)
        os.unlink(name)
    except (OSError, ValueError) as e:
        why = reason(e) if isinstance(e, OSError) else shown(e)
        raise refused(f"{option}: cannot write {shown(path)}: {why}") from e


def write_text(path, text, option="--out"):
    """The whole new text, or the old one: never a half."""
    path = Path(path)
    name = None
    try:
        with held():
            handle, name = tempfile.mkstemp(prefix=".", suffix=path.name[-40:], dir=path.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as f:
                f.write(text)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, path)
            name = None
    except OSError as e:
        raise refused(f"{option}: cannot write {shown(path)}: {reason(e)}") from e
    finally:
        if name is not None and os.path.exists(name):
            os.unlink(name)


def lines_of(value, depth):
    """JSON with one line for each run, row or entry: to be looked at, and compared by diff."""
    blanks = " " * depth
    if depth and isinstance(value, list) and value:
        inner = [f"{blanks} {json.dumps(v, allow_nan=False)}" for v in value]
        return "[\n" + ",\n".join(inner) + f"\n{blanks}]"
    if depth < 2 and isinstance(value, dict) and value:
        inner = [f"{blanks} {json.dumps(k)}: {lines_of(v, depth + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(inner) + f"\n{blanks}}}"
    return json.dumps(value, allow_nan=False)


def save(result, path):
    write_text(path, lines_of(finite(result), 0) + "\n")


def no_constant(text):
    raise ValueError(f"{text} is no number")


def load_json(path):
    """Any JSON object from a file of a sane size."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise refused(f"{shown(path)} is no regular file")
        if status.st_size > SIZE_MOST:
            raise refused(f"{shown(path)} is too large to be a result")
        found = json.loads(Path(path).read_text("utf-8"), parse_constant=no_constant)
    except OSError as e:
        raise refused(f"cannot read {shown(path)}: {reason(e)}") from e
    except (ValueError, RecursionError) as e:
        raise refused(f"{shown(path)} is corrupt or no JSON: {shown(e, 80)}") from e
    if not isinstance(found, dict):
        raise refused(f"{shown(path)} is no result of scripts/bench")
    return found
