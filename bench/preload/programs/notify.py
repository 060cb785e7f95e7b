#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""notify.py FOLDER SECONDS: a notification of PostgreSQL to another process, and one back. FOLDER
has the server's socket. An operation is a round trip. The lines that are printed are those of
meter.h."""

import os
import select
import sys

import psycopg2
from handoff import measure

THERE, BACK, LAST = "there", "back", "last"


def listen(folder, channel):
    db = psycopg2.connect(host=folder, user="bench", dbname="postgres")
    db.autocommit = True
    cursor = db.cursor()
    cursor.execute(f"LISTEN {channel}")
    return db, cursor


def heard(db):
    """The next notification's text."""
    while not db.notifies:
        select.select([db], [], [])
        db.poll()
    return db.notifies.pop(0).payload


def answer(folder, where):
    db, cursor = listen(folder, THERE)
    os.write(where, b"listens")
    while (word := heard(db)) != LAST:
        cursor.execute(f"NOTIFY {BACK}, '{word}'")


def call(folder, seconds):
    db, cursor = listen(folder, BACK)

    def turn():
        cursor.execute(f"NOTIFY {THERE}, 'word'")
        assert heard(db) == "word"

    measure(seconds, turn)
    cursor.execute(f"NOTIFY {THERE}, '{LAST}'")


def main(words):
    if len(words) != 2:
        print("want FOLDER, and SECONDS", file=sys.stderr)
        return 2
    listening, where = os.pipe()
    other = os.fork()
    if not other:
        os.close(listening)
        answer(words[0], where)
        return 0
    os.close(where)
    if not os.read(listening, 1):       # the other process has failed, and has told why
        return 1
    call(words[0], float(words[1]))
    return os.waitstatus_to_exitcode(os.waitpid(other, 0)[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
