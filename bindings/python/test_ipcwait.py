# SPDX-License-Identifier: MIT
"""Between threads and between processes; run with IPCWAIT_LIBRARY=.../libipcwait.so.0."""

import copy
import ctypes
import multiprocessing
import multiprocessing.shared_memory
import os
import pickle
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


def hold(lock):
    """A thread that has @lock until the event is set, once it has got it."""
    held, free = threading.Event(), threading.Event()

    def run():
        lock.acquire()
        held.set()
        free.wait()
        lock.release()

    t = threading.Thread(target=run)
    t.start()
    held.wait()
    return t, free


class Stop(Exception):
    """What the handlers of these tests raise."""


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
        with self.assertRaises(ValueError):
            s.release(2 ** 31 - 1)
        self.assertEqual(s.value, 3)

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

    def test_a_handler_runs(self):
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
        self.assertTrue(c.send(memoryview(bytearray(b"ghij"))[::2]))
        self.assertEqual((c.recv(), c.recv()), (b"cd\0\0", b"gi\0\0"))


class Interrupted(unittest.TestCase):
    """A handler that raises while the main thread waits: its exception leaves the wait, or the wait
    returns what it has got. Not both, and not neither."""

    TRIES = 20

    def setUp(self):
        def handler(*unused):
            if self.waits:
                raise Stop

        self.waits = False
        old = signal.signal(signal.SIGUSR1, handler)
        self.addCleanup(signal.signal, signal.SIGUSR1, old)
        # No wait looks up: what it waits for comes before the handler runs.
        self.addCleanup(setattr, ipcwait, "_SLICE_NS", ipcwait._SLICE_NS)
        ipcwait._SLICE_NS = 10 ** 11

    def interrupted(self, wait, state, provide):
        """Whether Stop leaves wait(), which is in C code as soon as state() changes. A signal comes
        then, and then what wait() waits for, by provide()."""
        before = state()

        def interrupt():
            while state() == before:
                time.sleep(0.0001)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
            provide()

        t = threading.Thread(target=interrupt)
        t.start()
        try:
            self.waits = True
            wait()
            return False
        except Stop:
            return True
        finally:
            self.waits = False
            t.join()

    @staticmethod
    def word(shared):
        return lambda: ctypes.string_at(shared._at, 8)

    @staticmethod
    def file(channel):
        return lambda: os.pread(channel.fd, os.fstat(channel.fd).st_size, 0)

    def test_a_semaphore_keeps_its_token(self):
        for _ in range(self.TRIES):
            s = ipcwait.Semaphore(0)
            raised = self.interrupted(s.acquire, self.word(s), s.release)
            self.assertEqual(s.value, raised)

    def test_a_semaphore_in_a_with_block_keeps_its_token(self):
        def enter():
            with s:
                pass

        for _ in range(self.TRIES):
            s = ipcwait.Semaphore(0)
            self.interrupted(enter, self.word(s), s.release)
            self.assertEqual(s.value, 1)

    def mutex(self, wait):
        """@wait may leave the mutex locked only if Stop does not leave it."""
        for _ in range(self.TRIES):
            lock = ipcwait.Mutex()
            holder, free = hold(lock)
            raised = self.interrupted(lambda: wait(lock), self.word(lock), free.set)
            holder.join()
            yield lock, raised

    def test_a_mutex_is_free(self):
        for lock, raised in self.mutex(lambda lock: lock.acquire()):
            self.assertEqual(lock.acquire(False), raised)

    def test_a_mutex_in_a_with_block_is_free(self):
        def enter(lock):
            with lock:
                pass

        for lock, _ in self.mutex(enter):
            self.assertTrue(lock.acquire(False))

    def test_a_dead_owner_is_told_of(self):
        """Unlocked it would be lost: the caller holds it, and is told of both."""
        lock, held = ipcwait.Mutex(robust=True), ipcwait.Semaphore(0)

        def live():
            lock.acquire()
            held.release()
            signal.pause()

        p = FORK.Process(target=live)
        p.start()
        self.addCleanup(p.join)
        held.acquire()
        with self.assertRaises(ipcwait.OwnerDied) as died:
            self.interrupted(lock.acquire, self.word(lock), p.kill)
        self.assertIsInstance(died.exception.__cause__, Stop)
        lock.consistent()
        lock.release()

    def test_a_channel_keeps_its_element(self):
        """Where any other receiver can take it."""
        for _ in range(self.TRIES):
            c = ipcwait.Channel(8)
            raised = self.interrupted(c.recv, self.file(c), lambda: c.send(b"x"))
            self.assertEqual(c.attach().recv(0) is not None, raised)

    def test_a_send_says_what_it_has_sent(self):
        """Though Stop comes right after it, in its caller."""
        sent = []

        def send():
            sent[:] = [False]
            sent[0] = c.send(b"b")
            time.sleep(0)

        for _ in range(self.TRIES):
            c = ipcwait.Channel(8, 1)
            c.send(b"a")
            self.interrupted(send, self.file(c), c.recv)
            self.assertEqual(c.recv(0) is not None, sent[0])


class AsThreading(unittest.TestCase):
    """What threading refuses is refused, by the same exceptions, and nothing has changed."""

    def test_numbers(self):
        s, c = ipcwait.Semaphore(5), ipcwait.Channel(8)
        for kind, call in [
                (ValueError, lambda: ipcwait.Semaphore(-1)),
                (ValueError, lambda: ipcwait.Semaphore(2 ** 31)),
                (ValueError, lambda: ipcwait.Semaphore(2 ** 32 + 1)),
                (TypeError, lambda: ipcwait.Semaphore(1.5)),
                (ValueError, lambda: s.release(0)),
                (ValueError, lambda: s.release(-1)),
                (ValueError, lambda: s.release(2 ** 32 + 1)),
                (TypeError, lambda: s.release(1.5)),
                (ValueError, lambda: ipcwait.Semaphore(buffer=bytearray(8))),
                (ValueError, lambda: ipcwait.Semaphore(buffer=bytearray(64), offset=4)),
                (ValueError, lambda: ipcwait.Semaphore(buffer=bytearray(64), offset=-32)),
                (TypeError, lambda: ipcwait.Semaphore(buffer=bytes(64))),
                (ValueError, lambda: ipcwait.Channel(0)),
                (ValueError, lambda: ipcwait.Channel(-8)),
                (ValueError, lambda: ipcwait.Channel(2 ** 20 + 1)),
                (ValueError, lambda: ipcwait.Channel(2 ** 64 + 8)),
                (ValueError, lambda: ipcwait.Channel(8, 0)),
                (ValueError, lambda: ipcwait.Channel(8, -1)),
                (ValueError, lambda: ipcwait.Channel(8, 2 ** 32 + 1)),
                (ValueError, lambda: ipcwait.Channel(8, 2 ** 64 + 5)),
                (OSError, lambda: ipcwait.Channel.join(0)),
                (TypeError, lambda: c.send(5)),
                (TypeError, lambda: c.send("text")),
                (TypeError, lambda: c.send([1, 2]))]:
            self.assertRaises(kind, call)
        self.assertEqual(s.value, 5)
        self.assertIsNone(c.recv(0))

    def test_an_offset_counts_bytes(self):
        """Whatever the buffer's items are."""
        memory = FORK.RawArray("Q", 16)
        ipcwait.Semaphore(3, buffer=memory, offset=64)
        self.assertEqual([i for i, word in enumerate(memory) if word], [8])

    def test_timeouts(self):
        s, lock, c = ipcwait.Semaphore(0), ipcwait.Mutex(), ipcwait.Channel(8, 1)
        nan, most = float("nan"), threading.TIMEOUT_MAX
        for wait in s.acquire, lock.acquire, c.recv, lambda timeout: c.send(b"", timeout):
            self.assertRaises(ValueError, wait, timeout=nan)
            self.assertRaises(OverflowError, wait, timeout=2 * most)
            self.assertRaises(OverflowError, wait, timeout=float("inf"))
            self.assertRaises(TypeError, wait, timeout="1")
        for shared in s, lock, threading.Semaphore(0), threading.Lock():
            self.assertRaises(ValueError, shared.acquire, False, 1)
            self.assertRaises(ValueError, shared.acquire, False, timeout=0)
        self.assertRaises(ValueError, lock.acquire, timeout=-2)
        self.assertTrue(lock.acquire(False, -1))
        self.assertFalse(lock.acquire(False))
        self.assertFalse(lock.acquire(timeout=0))
        # What is left of a time may be negative.
        self.assertFalse(s.acquire(timeout=-1))
        self.assertIsNone(c.recv(-1))

    def test_a_mutex_waits_for_ever(self):
        lock = ipcwait.Mutex()
        for no_limit in {"timeout": -1}, {"timeout": None}, {}:
            holder, free = hold(lock)
            threading.Timer(0.05, free.set).start()
            self.assertTrue(lock.acquire(**no_limit))
            lock.release()
            holder.join()

    def test_a_mutex_that_is_not_held(self):
        for lock in ipcwait.Mutex(), ipcwait.Mutex(robust=True), threading.Lock():
            self.assertRaises(RuntimeError, lock.release)
            self.assertTrue(lock.acquire(False))
            lock.release()
        with self.assertRaises(RuntimeError):
            ipcwait.Mutex(robust=True).consistent()
        with self.assertRaises(RuntimeError):
            with ipcwait.Mutex() as lock:
                lock.release()

    def test_copies(self):
        c = ipcwait.Channel(8)
        for shared in c, ipcwait.Semaphore(), ipcwait.Mutex(), threading.Lock():
            self.assertRaises(TypeError, copy.copy, shared)
            self.assertRaises(TypeError, copy.deepcopy, shared)
            self.assertRaises(TypeError, pickle.dumps, shared)
        self.assertTrue(c.send(b"x"))
        self.assertEqual(c.recv(), b"x".ljust(8, b"\0"))


if __name__ == "__main__":
    unittest.main()
