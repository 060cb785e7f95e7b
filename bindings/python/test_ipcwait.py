# SPDX-License-Identifier: MIT
"""Between threads and between processes; run with IPCWAIT_LIBRARY=.../libipcwait.so.0."""

import multiprocessing
import multiprocessing.shared_memory
import os
import signal
import threading
import time
import unittest

import ipcwait

FORK = multiprocessing.get_context("fork")


def count_up(lock, numbers, n):
    for _ in range(n):
        with lock:
            numbers[0] += 1


def answer(asked, answered, n):
    for _ in range(n):
        asked.acquire()
        answered.release()


def attached(name, n):
    memory = multiprocessing.shared_memory.SharedMemory(name)
    tokens = ipcwait.Semaphore(buffer=memory.buf, offset=64, attach=True)
    for _ in range(n):
        tokens.acquire()
    del tokens
    memory.close()


def die_with(lock):
    lock.acquire()
    os.kill(os.getpid(), signal.SIGKILL)


def double(jobs, results):
    jobs, results = jobs.attach(), results.attach()
    for job in jobs:
        results.send((2 * int.from_bytes(job, "little")).to_bytes(8, "little"))


class Test(unittest.TestCase):
    def run_process(self, f, *args):
        p = FORK.Process(target=f, args=args)
        p.start()
        self.addCleanup(p.join)
        return p

    def join(self, p, exitcode=0):
        p.join(100)
        self.assertEqual(p.exitcode, exitcode)

    def test_version(self):
        self.assertRegex(ipcwait.version(), r"^\d+\.\d+\.\d+$")

    def test_semaphore(self):
        s = ipcwait.Semaphore(2)
        self.assertEqual(s.value, 2)
        self.assertTrue(s.acquire() and s.acquire(blocking=False))
        self.assertFalse(s.acquire(blocking=False))
        before = time.monotonic()
        self.assertFalse(s.acquire(timeout=0.12))
        self.assertGreaterEqual(time.monotonic() - before, 0.12)
        s.release(3)
        with s:
            self.assertEqual(s.value, 2)
        with self.assertRaises(OSError):
            s.release(2 ** 31)

    def test_hand_over_between_processes(self):
        asked, answered = ipcwait.Semaphore(0), ipcwait.Semaphore(0)
        p = self.run_process(answer, asked, answered, 500)
        for _ in range(500):
            asked.release()
            answered.acquire()
        self.join(p)

    def test_in_shared_memory_by_name(self):
        memory = multiprocessing.shared_memory.SharedMemory(create=True, size=128)
        tokens = ipcwait.Semaphore(0, buffer=memory.buf, offset=64)
        p = self.run_process(attached, memory.name, 100)
        for _ in range(100):
            tokens.release()
        self.join(p)
        self.assertEqual(tokens.value, 0)
        del tokens
        memory.close()
        memory.unlink()

    def test_mutex_between_processes(self):
        lock, numbers = ipcwait.Mutex(), FORK.RawArray("Q", 1)
        processes = [self.run_process(count_up, lock, numbers, 1000) for _ in range(3)]
        for p in processes:
            self.join(p)
        self.assertEqual(numbers[0], 3000)

    def test_mutex_between_threads(self):
        lock, numbers = ipcwait.Mutex(), [0]
        threads = [threading.Thread(target=count_up, args=(lock, numbers, 1000)) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(numbers[0], 4000)

    def test_the_owner_dies(self):
        lock = ipcwait.Mutex(robust=True)
        self.join(self.run_process(die_with, lock), -signal.SIGKILL)
        with self.assertRaises(ipcwait.OwnerDied):
            lock.acquire()
        lock.consistent()
        lock.release()
        self.assertTrue(lock.acquire(blocking=False))
        lock.release()

    def test_ctrl_c(self):
        """A handler runs while a wait goes on."""
        s, ran = ipcwait.Semaphore(0), []
        old = signal.signal(signal.SIGALRM, lambda *unused: (ran.append(1), s.release()))
        self.addCleanup(signal.signal, signal.SIGALRM, old)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        self.assertTrue(s.acquire(timeout=100))
        self.assertEqual(ran, [1])

    def test_channel_between_processes(self):
        jobs, results = ipcwait.Channel(8, 16), ipcwait.Channel(8, 16)
        p = self.run_process(double, jobs, results)
        for i in range(300):
            self.assertTrue(jobs.send(i.to_bytes(8, "little")))
            self.assertEqual(int.from_bytes(results.recv(), "little"), 2 * i)
        jobs.close()
        self.join(p)
        self.assertEqual(list(jobs), [])
        with self.assertRaises(ipcwait.Closed):
            jobs.send(b"")

    def test_channel_full_and_empty(self):
        c = ipcwait.Channel(4, 2)
        self.assertIsNone(c.recv(timeout=0))
        self.assertTrue(c.send(b"ab") and c.send(b"cd"))
        self.assertFalse(c.send(b"ef", timeout=0.01))
        self.assertEqual(c.recv(), b"ab\0\0")
        with self.assertRaises(ValueError):
            c.send(b"too long")

    def test_bad_arguments(self):
        with self.assertRaises(ValueError):
            ipcwait.Semaphore(buffer=bytearray(8))
        with self.assertRaises(ValueError):
            ipcwait.Semaphore(buffer=bytearray(64), offset=4)
        with self.assertRaises(OSError):
            ipcwait.Channel(0)
        with self.assertRaises(OSError):
            ipcwait.Channel.join(0)


if __name__ == "__main__":
    unittest.main()
