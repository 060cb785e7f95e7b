# SPDX-License-Identifier: MIT
"""libipcwait for Python: a semaphore, a mutex and a channel that processes share.

    lock = ipcwait.Mutex()                    # children of fork share it
    with lock:
        ...

    jobs = ipcwait.Channel(64, capacity=100)  # of 64 bytes each
    jobs.send(b"work")                        # here
    jobs.attach().recv()                      # in a child: b"work", filled up with zeros

Waits let other threads of Python run and spin for as long as pays before they sleep. A signal
handler runs within 50 ms. If it raises, as that of Ctrl-C does, the wait has taken nothing; this
holds for CPython from 3.11 on. Needs the shared library, libipcwait.so.0; IPCWAIT_LIBRARY may name
another file.
"""

import collections
import ctypes
import errno
import math
import mmap
import operator
import os
import threading

__all__ = ["Semaphore", "Mutex", "Channel", "Closed", "OwnerDied", "SIZE", "version"]

SIZE = 32
"""Bytes of a Semaphore or a Mutex in a buffer, whose address is to be a multiple of 8."""

_FOREVER = 2 ** 63 - 1
_ROBUST = 0x40
_WAITABLE_CHANNEL = 5

# The library's limits: IPCWAIT_SEM_VALUE_MAX and those of channels.
_TOKENS_MOST = 2 ** 31 - 1
_ELEM_SIZE_MOST = 2 ** 20
_CAPACITY_MOST = 2 ** 32

# What was waited for is not there, or was not in time.
_NOT_NOW = (-errno.EAGAIN, -errno.EBUSY, -errno.ETIMEDOUT)

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


class _Waitable(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("flags", ctypes.c_uint), ("object", ctypes.c_void_p),
                ("expected", ctypes.c_uint64)]


# struct ipcwait_window: what the waits of an object have taught.
_Window = ctypes.c_uint64 * 2


def _load():
    lib = ctypes.CDLL(os.environ.get("IPCWAIT_LIBRARY") or "libipcwait.so.0")
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    for name, arguments in {
            "ipcwait_sem_init": [pointer, ctypes.c_uint, ctypes.c_uint],
            "ipcwait_sem_wait_until": [pointer, number],
            "ipcwait_sem_trywait": [pointer],
            "ipcwait_sem_post": [pointer],
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
            "ipcwait_wait_any": [pointer, ctypes.c_uint, number, pointer],
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


def _check_not_now(result):
    """Raises what a call on a channel has returned, unless the call only was too early."""
    if result == -errno.EPIPE:
        raise Closed
    if result not in _NOT_NOW:
        _check(result)


def _number(value, least, most, what):
    """@value, if it is a whole number within these limits."""
    value = operator.index(value)
    if not least <= value <= most:
        raise ValueError(f"{what} is from {least} to {most}, not {value}")
    return value


def _end(timeout):
    """The deadline of a wait of @timeout seconds, in ns; 0 if the wait is a look."""
    if timeout is None:
        return _FOREVER
    if math.isnan(timeout):
        raise ValueError("the timeout is not a number")
    if timeout > threading.TIMEOUT_MAX:
        raise OverflowError(f"the timeout is above {threading.TIMEOUT_MAX} seconds")
    return _lib.ipcwait_now_ns() + math.ceil(timeout * 10 ** 9) if timeout > 0 else 0


def _end_of(blocking, timeout):
    """The same of an acquire()."""
    if blocking:
        return _end(timeout)
    if timeout is not None:
        raise ValueError("a call that does not block takes no timeout")
    return 0


def _slice(end):
    return min(end, _lib.ipcwait_now_ns() + _SLICE_NS)


def _take(said, attempt, wait, at, end):
    """attempt(at), then wait(at, deadline) until @end: @said, of one place, gets what they return.

    A handler of a signal may raise here or later in the caller. @said tells the caller then whether
    it has taken something: C code puts the result there, and no handler runs before it has.
    """
    said.extend(map(attempt, (at,)))
    while end and said[0] in _NOT_NOW:
        until = _slice(end)
        said.extend(map(wait, (at,), (until,)))
        if until == end:
            return


class _Single:
    """Its copy would be the same object in C, which must be ended once."""

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled")


class _Object(_Single):
    """Zero bytes in memory that processes share are a valid object."""

    def __init__(self, buffer, offset):
        if buffer is None:
            buffer, offset = mmap.mmap(-1, SIZE), 0
        self._bytes = (ctypes.c_char * SIZE).from_buffer(buffer, offset)
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
            value = _number(value, 0, _TOKENS_MOST, "the value of a semaphore")
            _check(_lib.ipcwait_sem_init(self._at, value, 0))

    def acquire(self, blocking=True, timeout=None):
        """True with a token; False if there was none, or not within @timeout seconds."""
        end, said = _end_of(blocking, timeout), collections.deque(maxlen=1)
        try:
            _take(said, _lib.ipcwait_sem_trywait, _lib.ipcwait_sem_wait_until, self._at, end)
            return said[0] not in _NOT_NOW and _check(said[0]) == 0
        except BaseException:
            if said and said[0] == 0:
                _lib.ipcwait_sem_post(self._at)
            raise

    def release(self, n=1):
        """Put @n tokens in. ValueError: there would be too many, and none is put in."""
        n = _number(n, 1, _TOKENS_MOST, "the number of tokens")
        result = _lib.ipcwait_sem_post_n(self._at, n)
        if result == -errno.EOVERFLOW:
            raise ValueError(f"a semaphore has {_TOKENS_MOST} tokens at most")
        _check(result)

    @property
    def value(self):
        """Tokens that are free right now."""
        return _check(_lib.ipcwait_sem_value(self._at))

    def __enter__(self):
        self.acquire()
        return self

    # Not by release(): a handler may raise where a function begins, and this is one already.
    def __exit__(self, *unused):
        _check(_lib.ipcwait_sem_post(self._at))


class Mutex(_Object):
    """A mutex; where it lies is as for Semaphore. With @robust acquire() raises OwnerDied, holding
    it, after its owner has died. If a handler raises in that wait, its exception is the cause."""

    def __init__(self, *, robust=False, buffer=None, offset=0, attach=False):
        super().__init__(buffer, offset)
        if not attach:
            _check(_lib.ipcwait_mutex_init(self._at, _ROBUST if robust else 0))

    def acquire(self, blocking=True, timeout=-1):
        """True if it is held now; False if another has it, all of @timeout seconds long. -1 and
        None wait for ever."""
        if timeout == -1:
            timeout = None
        if timeout is not None and timeout < 0:
            raise ValueError("the timeout is negative, and not -1")
        end, said = _end_of(blocking, timeout), collections.deque(maxlen=1)
        try:
            _take(said, _lib.ipcwait_mutex_trylock, _lib.ipcwait_mutex_lock_until, self._at, end)
            if said[0] != -errno.EOWNERDEAD:
                return said[0] not in _NOT_NOW and _check(said[0]) == 0
        except BaseException as raised:
            if said and said[0] == 0:
                _lib.ipcwait_mutex_unlock(self._at)
            # To unlock it would end it for everybody: nobody has repaired its data.
            if said and said[0] == -errno.EOWNERDEAD:
                raise OwnerDied from raised
            raise
        raise OwnerDied

    def _check_owned(self, result):
        if result == -errno.EPERM:
            raise RuntimeError("the mutex is not locked, or by another thread")
        _check(result)

    def release(self):
        """Give it back, in the thread that has it. RuntimeError: it has not."""
        self._check_owned(_lib.ipcwait_mutex_unlock(self._at))

    def consistent(self):
        """What it protects has been repaired. RuntimeError: nobody has died owning it."""
        result = _lib.ipcwait_mutex_consistent(self._at)
        if result == -errno.EINVAL:
            raise RuntimeError("no owner of the mutex has died")
        self._check_owned(result)

    def __enter__(self):
        self.acquire()
        return self

    # As that of Semaphore.
    def __exit__(self, *unused):
        self._check_owned(_lib.ipcwait_mutex_unlock(self._at))


class Channel(_Single):
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
            params = _Params(elem_size=_number(elem_size, 1, _ELEM_SIZE_MOST, "elem_size"),
                             capacity=_number(capacity, 1, _CAPACITY_MOST, "the capacity"))
            self.fd = os.memfd_create("ipcwait", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            result = _lib.ipcwait_channel_create_shared(self.fd, ctypes.byref(params),
                                                        ctypes.byref(self._channel))
        if result:
            os.close(self.fd)
            _check(result)
        self.elem_size = _lib.ipcwait_channel_elem_size(self._channel)
        self._element = (_Waitable * 1)((_WAITABLE_CHANNEL, 0, self._channel.value, 0))
        self._window = _Window()

    @classmethod
    def join(cls, fd):
        """Take part in the channel that is in this file."""
        return cls(0, fd=fd)

    def attach(self):
        """A part of the calling process's own."""
        return Channel.join(self.fd)

    def send(self, element, timeout=None):
        """True if it was put in, False if there was no room within @timeout seconds. If a handler
        raises after the element was put in, it does so after send() has returned True."""
        data = memoryview(element).tobytes()
        if len(data) > self.elem_size:
            raise ValueError(f"an element has {self.elem_size} bytes, not {len(data)}")
        room = ctypes.create_string_buffer(data, self.elem_size + 1)
        end, until = _end(timeout), 0
        # Unpacked: CPython runs no handler between the call in C and the return.
        result, = map(_lib.ipcwait_channel_trysend, (self._channel,), (room,))
        while result != 0:
            _check_not_now(result)
            if until == end:
                return False
            until = _slice(end)
            result, = map(_lib.ipcwait_channel_send_until, (self._channel,), (room,), (until,))
        return True

    def _wait_for_element(self, end):
        """True: there was one, which another receiver may take, or the channel is closed."""
        until = 0
        while until != end:
            until = _slice(end)
            result = _lib.ipcwait_wait_any(self._element, 1, until, self._window)
            if result != -errno.ETIMEDOUT:
                return _check(result) == 0
        return False

    def recv(self, timeout=None):
        """The oldest element; None if there was none within @timeout seconds."""
        room = ctypes.create_string_buffer(self.elem_size)
        end = _end(timeout)
        while True:
            # Taken and returned without a handler in between, as in send().
            result, = map(_lib.ipcwait_channel_tryrecv, (self._channel,), (room,))
            if result == 0:
                return room.raw
            _check_not_now(result)
            if not self._wait_for_element(end):
                return None

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
