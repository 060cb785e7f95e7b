#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sqlite_writers.py WRITERS SECONDS: threads that write to one SQLite file with a write-ahead log,
a transaction each time. An operation is a transaction of any of them. The lines that are printed
are those of meter.h."""

import json
import os
import sqlite3
import sys
import tempfile
import threading
import time

WARM = 0.25


def connect(path):
    db = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    return db


def write(path, number, counts, over):
    db = connect(path)
    while not over.is_set():
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO t(writer, text) VALUES(?, ?)", (number, "x" * 100))
        db.execute("COMMIT")
        counts[number] += 1
    db.close()


def measure(path, writers, seconds):
    """(transactions, seconds), and how many rows there should be in the end."""
    connect(path).execute("CREATE TABLE t(id INTEGER PRIMARY KEY, writer INT, text TEXT)")
    counts, over = [0] * writers, threading.Event()
    threads = [threading.Thread(target=write, args=(path, i, counts, over))
               for i in range(writers)]
    for thread in threads:
        thread.start()
    time.sleep(seconds * WARM)
    print("begin", flush=True)
    before, at = sum(counts), time.monotonic()
    time.sleep(seconds)
    done, past = sum(counts) - before, time.monotonic() - at
    over.set()
    for thread in threads:
        thread.join()
    return done, past, sum(counts)


def main(words):
    if len(words) != 2:
        print("want WRITERS, and SECONDS", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="preload.") as folder:
        path = os.path.join(folder, "db")
        done, past, wanted = measure(path, int(words[0]), float(words[1]))
        rows = connect(path).execute("SELECT count(*) FROM t").fetchone()[0]
    print(json.dumps({"ops": done, "seconds": past, "right": rows == wanted}), flush=True)
    return 0 if rows == wanted else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
