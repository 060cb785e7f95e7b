#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""handoff.py WORKLOAD SECONDS: work handed over by means of Python's library. An operation is a
round trip, or a batch. The lines that are printed are those of meter.h."""

import asyncio
import json
import multiprocessing
import queue
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

WARM = 0.25
STRIDE = 16


class Meter:
    """True until the time is over; asked after each STRIDE operations."""

    def __init__(self, seconds):
        self.seconds, self.operations = seconds, 0
        self.begun, self.at = False, time.monotonic()

    def on(self):
        past = time.monotonic() - self.at
        self.operations += STRIDE
        if not self.begun and past >= self.seconds * WARM:
            print("begin", flush=True)
            self.begun, self.operations, self.at = True, 0, time.monotonic()
        elif self.begun and past >= self.seconds:
            print(json.dumps({"ops": self.operations, "seconds": past}), flush=True)
            return False
        return True


def measure(seconds, turn):
    meter = Meter(seconds)
    while True:
        for _ in range(STRIDE):
            turn()
        if not meter.on():
            return


def queues(seconds):
    there, back = queue.Queue(), queue.Queue()

    def answer():
        while (item := there.get()) is not None:
            back.put(item + 1)

    def turn():
        there.put(1)
        assert back.get() == 2

    other = threading.Thread(target=answer)
    other.start()
    measure(seconds, turn)
    there.put(None)
    other.join()


def submit(seconds):
    with ThreadPoolExecutor(1) as pool:
        measure(seconds, lambda: pool.submit(int, 1).result())


def mapped(seconds):
    items = list(range(64))
    with ThreadPool(2) as pool:
        measure(seconds, lambda: pool.map(abs, items))


def processes(seconds):
    items = list(range(64))
    with multiprocessing.Pool(2) as pool:
        measure(seconds, lambda: pool.map(abs, items))


def executor(seconds):
    async def turns():
        loop, meter = asyncio.get_running_loop(), Meter(seconds)
        while True:
            for _ in range(STRIDE):
                await loop.run_in_executor(None, int, 1)
            if not meter.on():
                return
    asyncio.run(turns())


WORKLOADS = {"queue": queues, "submit": submit, "map": mapped, "processes": processes,
             "asyncio": executor}


def main(words):
    try:
        workload, seconds = WORKLOADS[words[0]], float(words[1])
    except (LookupError, ValueError):
        seconds = 0
    if len(words) != 2 or not 0 < seconds <= 3600:
        print(f"want one of {', '.join(WORKLOADS)}; and SECONDS, up to 3600", file=sys.stderr)
        return 2
    workload(seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
