# SPDX-License-Identifier: MIT
"""Stands in for QEMU (the arguments have -append) and for guest_init on the host.

FAKE_MODE says what the guest does: good, hang-late, panic, die, torn, row-fails, ignores; common.py
does hang and kvm-hangs. On the host it is always good.
"""

import json
import os
import subprocess
import sys

BANNER = "\x1b[2J\x1bcSeaBIOS (version 1)\r\nBooting from ROM...\r\n"


def put(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def line(head, document=None):
    put("@@ipcwait " + json.dumps([head, document]) + "\r\n")


def hang():
    """With a child, which has to end as well."""
    child = subprocess.Popen(["sleep", "1000"])
    unfinished = os.environ["FAKE_PIDS"] + ".unfinished"
    with open(unfinished, "w", encoding="ascii") as f:
        f.write(f"{os.getpid()}\n{child.pid}\n")
    os.rename(unfinished, os.environ["FAKE_PIDS"])
    child.wait()


def document(row):
    run = {"seconds": 0.02, "cpu_seconds": 0.03, "consumer_cpu_seconds": 0.01,
           "hog_cpu_seconds": 0, "machine_cpu_seconds": None, "bound_seconds": 0.001,
           "cache_line_round_trip_ns": 90, "voluntary_switches": 900, "involuntary_switches": 100,
           "futex_waits": None if row == "glibc" else 300,
           "futex_wakes": None if row == "glibc" else 200, "waits_spun": None,
           "waits_slept": None if row == "glibc" else 250, "rescheduling_interrupts": 10,
           "function_call_interrupts": 1000}
    return {"rows": [{"row": row, "what": "semaphore " + row, "runs": [run]}]}


def hello(words, guest, ignores):
    poll = "idle=poll" in words and not ignores
    line({"kind": "hello", "cpus": 2, "kernel": "6.1.0-fake",
          "idle_driver": None if guest else "haltpoll", "idle_governor": "menu",
          "guest_halt_poll_ns": None, "clock_source": "tsc",
          "idle_messages": ["process: using polling idle threads"] if poll else []})


def value(words, name, otherwise):
    return words[words.index(name) + 1] if name in words else otherwise


def measure(words, mode):
    rows = [row for row in value(words, "--rows", "").split(",") if row]
    written = 1
    for round_number in range(int(value(words, "--runs", "1"))):
        for row in rows:
            head = {"kind": "run", "row": row, "round": round_number, "wall_s": 0.1,
                    "interrupts": {"RES": 20, "CAL": 1010, "LOC": 50}, "context_switches": 1100,
                    "steal_ticks": 0, "idle_states": None}
            if mode == "row-fails" and row == "spin":
                line({**head, "error": "died: Killed"})
            elif mode == "torn" and row == "spin" and round_number == 0:
                put("@@ipcwait [{\"kind\": \"ru[   12.3] a word of the kernel\r\nn\"}, null]\r\n")
            else:
                line(head, document(row))
            written += 1
            if mode == "hang-late":
                hang()
    line({"kind": "end", "lines": written})


def main(argv):
    guest = "-append" in argv
    mode = os.environ.get("FAKE_MODE", "good") if guest else "good"
    words = argv[argv.index("-append") + 1].split() if guest else argv
    if guest:
        put(BANNER)
    if mode == "die":
        sys.stderr.write("qemu: no such thing\n")
        sys.exit(3)
    if mode == "panic":
        put("[    1.0] Kernel panic - not syncing: No working init found.\r\n")
        hang()
    put("[    0.5] a word of the kernel\r\n")
    hello(words, guest, mode == "ignores")
    measure(words, mode)


if __name__ == "__main__":
    main(sys.argv[1:])
