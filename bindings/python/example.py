# SPDX-License-Identifier: MIT
"""Two processes ask and answer, with libipcwait's semaphores and with multiprocessing's."""

import multiprocessing
import time

import ipcwait

ROUNDS = 5000
FORK = multiprocessing.get_context("fork")


def answer(asked, answered):
    for _ in range(ROUNDS):
        asked.acquire()
        answered.release()


def measure(asked, answered):
    """Seconds for all round trips."""
    p = FORK.Process(target=answer, args=(asked, answered))
    p.start()
    began = time.monotonic()
    for _ in range(ROUNDS):
        asked.release()
        answered.acquire()
    seconds = time.monotonic() - began
    p.join()
    return seconds


def main():
    ours = measure(ipcwait.Semaphore(0), ipcwait.Semaphore(0))
    theirs = measure(FORK.Semaphore(0), FORK.Semaphore(0))
    print(f"{ROUNDS} round trips between processes: libipcwait {ours:.3f} s, "
          f"multiprocessing {theirs:.3f} s")


if __name__ == "__main__":
    main()
