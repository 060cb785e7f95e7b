# SPDX-License-Identifier: MIT
"""libipcwait for Python: a semaphore, a mutex and a channel that processes share.

    lock = ipcwait.Mutex()                    # children of fork share it
    with lock:
        ...

    jobs = ipcwait.Channel(64, capacity=100)  # of 64 bytes each
    jobs.send(b"work")                        # here
    jobs.attach().recv()                      # in a child: b"work", filled up with zeros

Waits let other threads of Python run, end with Ctrl-C, and spin for as long as pays before they
sleep. Needs the shared library, libipcwait.so.0; IPCWAIT_LIBRARY may name another file.
"""

import ctypes
import errno
import mmap
import os

__all__ = ["Semaphore", "Mutex", "Channel", "Closed", "OwnerDied", "SIZE", "version"]

SIZE = 32
"""Bytes of a Semaphore or a Mutex in a buffer, whose address is to be a multiple of 8."""

_FOREVER = 2 ** 63 - 1
_ROBUST = 0x40

# Python runs handlers of signals between two of these.
_SLICE_NS = 50_000_000


class Closed(Exception):
    """The channel is closed, and for a receiver empty."""


class OwnerDied(Exception):
    """The mutex is held: its last owner died with it. Repair, then Mutex.consistent()."""


class _Params(ctypes.Structure):
    _fields_ = [("elem_size", ctypes.c_size_t), ("capacity", ctypes.c_uint64),
                ("elem_fini", ctypes.c_void_p), ("elem_fini_arg", ctypes.c_void_p),
                ("flags", ctypes.c_uint), ("reserved", ctypes.c_uint32 * 3)]


def _load():
    lib = ctypes.CDLL(os.environ.get("IPCWAIT_LIBRARY") or "libipcwait.so.0")
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    for name, arguments in {
            "ipcwait_sem_init": [pointer, ctypes.c_uint, ctypes.c_uint],
            "ipcwait_sem_wait_until": [pointer, number],
            "ipcwait_sem_trywait": [pointer],
            "ipcwait_sem_post_n": [pointer, ctypes.c_uint32],
            "ipcwait_sem_value": [pointer],
            "ipcwait_mutex_init": [pointer, ctypes.c_uint],
            "ipcwait_mutex_lock_until": [pointer, number],
            "ipcwait_mutex_trylock": [pointer],
            "ipcwait_mutex_unlock": [pointer],
            "ipcwait_mutex_consistent": [pointer],
            "ipcwait_channel_create_shared": [ctypes.c_int, pointer, pointer],
            "ipcwait_channel_attach": [ctypes.c_int, pointer],
            "ipcwait_channel_send_until": [pointer, pointer, number],
            "ipcwait_channel_trysend": [pointer, pointer],
            "ipcwait_channel_recv_until": [pointer, pointer, number],
            "ipcwait_channel_tryrecv": [pointer, pointer],
            "ipcwait_channel_close": [pointer]}.items():
        getattr(lib, name).argtypes = arguments
        getattr(lib, name).restype = ctypes.c_int
    lib.ipcwait_now_ns.restype = number
    lib.ipcwait_version.restype = ctypes.c_char_p
    lib.ipcwait_channel_destroy.argtypes = [pointer]
    lib.ipcwait_channel_destroy.restype = None
    lib.ipcwait_channel_elem_size.argtypes = [pointer]
    lib.ipcwait_channel_elem_size.restype = ctypes.c_size_t
    return lib


_lib = _load()


def version():
    """Of the library that was found."""
    return _lib.ipcwait_version().decode("ascii")


def _check(result):
    """A result that is an error, as Python's exception for it."""
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return result


def _wait(call, timeout):
    """call(deadline) until it says something else than that the deadline is past."""
    end = _FOREVER if timeout is None else _lib.ipcwait_now_ns() + int(timeout * 1e9)
    while True:
        until = min(end, _lib.ipcwait_now_ns() + _SLICE_NS)
        result = call(until)
        if result != -errno.ETIMEDOUT or until == end:
            return result


class _Object:
    """Zero bytes in memory that processes share are a valid object."""

    def __init__(self, buffer, offset):
        if buffer is None:
            self._memory = mmap.mmap(-1, SIZE)
        else:
            self._memory = memoryview(buffer)[offset:offset + SIZE]
            if self._memory.nbytes < SIZE:
                raise ValueError(f"the buffer has no {SIZE} bytes from {offset} on")
        self._bytes = (ctypes.c_char * SIZE).from_buffer(self._memory)
        self._at = ctypes.addressof(self._bytes)
        if self._at % 8:
            raise ValueError("the address is not a multiple of 8")


class Semaphore(_Object):
    """A semaphore; threading's names.

    In memory of its own, which children of fork share, or in @buffer from @offset on: of
    multiprocessing.shared_memory, of mmap, of anything writable. With @attach what is there is a
    semaphore already.
    """

    def __init__(self, value=1, *, buffer=None, offset=0, attach=False):
        super().__init__(buffer, offset)
        if not attach:
            _check(_lib.ipcwait_sem_init(self._at, value, 0))

    def acquire(self, blocking=True, timeout=None):
        """True with a token; False if there was none, or not within @timeout seconds."""
        if blocking:
            result = _wait(lambda until: _lib.ipcwait_sem_wait_until(self._at, until), timeout)
        else:
            result = _lib.ipcwait_sem_trywait(self._at)
        if result in (-errno.ETIMEDOUT, -errno.EAGAIN):
            return False
        _check(result)
        return True

    def release(self, n=1):
        """Put @n tokens in."""
        _check(_lib.ipcwait_sem_post_n(self._at, n))

    @property
    def value(self):
        """Tokens that are free right now."""
        return _check(_lib.ipcwait_sem_value(self._at))

    def __enter__(self):
        self.acquire()
        return self

    def __exit__(self, *unused):
        self.release()


class Mutex(_Object):
    """A mutex; where it lies is as for Semaphore. With @robust acquire() raises OwnerDied, holding
    it, after its owner has died."""

    def __init__(self, *, robust=False, buffer=None, offset=0, attach=False):
        super().__init__(buffer, offset)
        if not attach:
            _check(_lib.ipcwait_mutex_init(self._at, _ROBUST if robust else 0))

    def acquire(self, blocking=True, timeout=None):
        """True if it is held now; False if another has it, all of @timeout seconds long."""
        if blocking:
            result = _wait(lambda until: _lib.ipcwait_mutex_lock_until(self._at, until), timeout)
        else:
            result = _lib.ipcwait_mutex_trylock(self._at)
        if result in (-errno.ETIMEDOUT, -errno.EBUSY):
            return False
        if result == -errno.EOWNERDEAD:
            raise OwnerDied
        _check(result)
        return True

    def release(self):
        """Give it back, in the thread that has it."""
        _check(_lib.ipcwait_mutex_unlock(self._at))

    def consistent(self):
        """What it protects has been repaired."""
        _check(_lib.ipcwait_mutex_consistent(self._at))

    def __enter__(self):
        self.acquire()
        return self

    def __exit__(self, *unused):
        self.release()


class Channel:
    """A channel of up to @capacity elements of @elem_size bytes, in a memfd.

    Another process gets the file, .fd, by fork or over a socket, and takes part with
    Channel.join(fd). A child of fork calls .attach(): it has no part in its parent's.
    """

    def __init__(self, elem_size, capacity=64, *, fd=None):
        self._channel = ctypes.c_void_p()
        if fd is not None:
            self.fd = os.dup(fd)
            result = _lib.ipcwait_channel_attach(self.fd, ctypes.byref(self._channel))
        else:
            self.fd = os.memfd_create("ipcwait", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            params = _Params(elem_size=elem_size, capacity=capacity)
            result = _lib.ipcwait_channel_create_shared(self.fd, ctypes.byref(params),
                                                        ctypes.byref(self._channel))
        if result:
            os.close(self.fd)
            _check(result)
        self.elem_size = _lib.ipcwait_channel_elem_size(self._channel)

    @classmethod
    def join(cls, fd):
        """Take part in the channel that is in this file."""
        return cls(0, fd=fd)

    def attach(self):
        """A part of the calling process's own."""
        return Channel.join(self.fd)

    def _result(self, result):
        if result in (-errno.ETIMEDOUT, -errno.EAGAIN):
            return False
        if result == -errno.EPIPE:
            raise Closed
        _check(result)
        return True

    def send(self, element, timeout=None):
        """True if it was put in, False if there was no room within @timeout seconds."""
        data = bytes(element)
        if len(data) > self.elem_size:
            raise ValueError(f"an element has {self.elem_size} bytes, not {len(data)}")
        room = ctypes.create_string_buffer(data, self.elem_size + 1)
        return self._result(_wait(
            lambda until: _lib.ipcwait_channel_send_until(self._channel, room, until), timeout))

    def recv(self, timeout=None):
        """The oldest element; None if there was none within @timeout seconds."""
        room = ctypes.create_string_buffer(self.elem_size)
        there = self._result(_wait(
            lambda until: _lib.ipcwait_channel_recv_until(self._channel, room, until), timeout))
        return room.raw if there else None

    def __iter__(self):
        """Elements until it is closed and empty."""
        try:
            while True:
                yield self.recv()
        except Closed:
            return

    def close(self):
        """Let nobody send any more."""
        result = _lib.ipcwait_channel_close(self._channel)
        if result != -errno.EALREADY:
            _check(result)

    def __del__(self):
        if getattr(self, "_channel", None):
            _lib.ipcwait_channel_destroy(self._channel)
            self._channel = None
            os.close(self.fd)
