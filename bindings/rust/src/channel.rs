// SPDX-License-Identifier: MIT
use crate::{fail, ffi};
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{size_of, ManuallyDrop, MaybeUninit};
use std::os::raw::c_void;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// All receivers are gone; here is what was not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// Nothing was sent, and why; here it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room.
    Full(T),
    /// All receivers are gone.
    Disconnected(T),
}

/// All senders are gone, and nothing is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

/// Nothing was received, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is nothing, or not in time.
    Empty,
    /// All senders are gone, and nothing is left.
    Disconnected,
}

const CLOSED_TO_SEND: &str = "sending on a closed channel";
const CLOSED_TO_RECEIVE: &str = "receiving on a closed channel";

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendError { .. }")
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CLOSED_TO_SEND)
    }
}

impl<T> Error for SendError<T> {}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "Full(..)",
            TrySendError::Disconnected(_) => "Disconnected(..)",
        })
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "sending on a full channel",
            TrySendError::Disconnected(_) => CLOSED_TO_SEND,
        })
    }
}

impl<T> Error for TrySendError<T> {}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(SendError(value): SendError<T>) -> Self {
        TrySendError::Disconnected(value)
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CLOSED_TO_RECEIVE)
    }
}

impl Error for RecvError {}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryRecvError::Empty => "receiving on an empty channel",
            TryRecvError::Disconnected => CLOSED_TO_RECEIVE,
        })
    }
}

impl Error for TryRecvError {}

impl From<RecvError> for TryRecvError {
    fn from(RecvError: RecvError) -> Self {
        TryRecvError::Disconnected
    }
}

struct Inner<T> {
    raw: *mut ffi::RawChannel,
    senders: AtomicUsize,
    receivers: AtomicUsize,
    _elements: PhantomData<T>,
}

// SAFETY: elements are moved from thread to thread, and nothing else is shared.
unsafe impl<T: Send> Send for Inner<T> {}
// SAFETY: as above; the channel orders its own accesses.
unsafe impl<T: Send> Sync for Inner<T> {}

/// For as many threads as there are clones.
pub struct Sender<T>(Arc<Inner<T>>);

/// For as many threads as there are clones; each element goes to one of them. The last one drops
/// the elements that nobody has received.
pub struct Receiver<T>(Arc<Inner<T>>);

/// A channel with room for `capacity` elements; with 0 each send waits for its receiver. Panics if
/// there is no memory, or an element is larger than a MiB.
pub fn channel<T: Send>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let params = ffi::ChannelParams {
        elem_size: size_of::<T>().max(1),
        capacity: capacity as u64,
        // The last receiver leaves none, and a panic must not pass through C.
        elem_fini: None,
        elem_fini_arg: ptr::null_mut(),
        flags: 0,
        reserved: [0; 3],
    };
    // SAFETY: the parameters are complete.
    let raw = unsafe { ffi::ipcwait_channel_create(&params) };
    assert!(!raw.is_null(), "ipcwait: no channel of {} bytes x {capacity}", params.elem_size);
    let inner = Arc::new(Inner {
        raw,
        senders: AtomicUsize::new(1),
        receivers: AtomicUsize::new(1),
        _elements: PhantomData,
    });
    (Sender(inner.clone()), Receiver(inner))
}

/// An element of no size is a byte in the channel.
union Slot<T> {
    value: ManuallyDrop<MaybeUninit<T>>,
    _byte: u8,
}

impl<T> Slot<T> {
    fn empty() -> Self {
        let mut slot = Slot { _byte: 0 };
        slot.value = ManuallyDrop::new(MaybeUninit::uninit());
        slot
    }

    fn of(value: T) -> Self {
        let mut slot = Self::empty();
        slot.value = ManuallyDrop::new(MaybeUninit::new(value));
        slot
    }

    fn at(&mut self) -> *mut c_void {
        self as *mut Self as *mut c_void
    }

    /// SAFETY: it must hold one, and not be used again.
    unsafe fn take(&self) -> T {
        ptr::read(&self.value).assume_init_read()
    }
}

impl<T: Send> Sender<T> {
    /// Put it in, and wait for room if need be.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let mut slot = Slot::of(value);
        // SAFETY: an element's bytes are there; they are the channel's if it says 0.
        match unsafe { ffi::ipcwait_channel_send(self.0.raw, slot.at()) } {
            0 => Ok(()),
            // SAFETY: it was not sent.
            r if r == -ffi::EPIPE => Err(SendError(unsafe { slot.take() })),
            r => fail("send", r),
        }
    }

    /// Put it in if there is room.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let mut slot = Slot::of(value);
        // SAFETY: as in send().
        match unsafe { ffi::ipcwait_channel_trysend(self.0.raw, slot.at()) } {
            0 => Ok(()),
            // SAFETY: it was not sent.
            r if r == -ffi::EPIPE => Err(TrySendError::Disconnected(unsafe { slot.take() })),
            // SAFETY: it was not sent.
            r if r == -ffi::EAGAIN => Err(TrySendError::Full(unsafe { slot.take() })),
            r => fail("try_send", r),
        }
    }
}

impl<T: Send> Receiver<T> {
    /// The oldest element; waits for one if need be.
    pub fn recv(&self) -> Result<T, RecvError> {
        let mut slot = Slot::empty();
        // SAFETY: there is room for an element.
        match unsafe { ffi::ipcwait_channel_recv(self.0.raw, slot.at()) } {
            // SAFETY: it was received.
            0 => Ok(unsafe { slot.take() }),
            r if r == -ffi::EPIPE => Err(RecvError),
            r => fail("recv", r),
        }
    }

    /// The oldest element if there is one.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut slot = Slot::empty();
        // SAFETY: as in recv().
        self.received(unsafe { ffi::ipcwait_channel_tryrecv(self.0.raw, slot.at()) }, &slot)
    }

    /// The oldest element; waits for one, but not for longer than `timeout`.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, TryRecvError> {
        let mut slot = Slot::empty();
        let until = ffi::deadline(timeout);
        // SAFETY: as in recv().
        let r = unsafe { ffi::ipcwait_channel_recv_until(self.0.raw, slot.at(), until) };
        self.received(r, &slot)
    }

    fn received(&self, result: i32, slot: &Slot<T>) -> Result<T, TryRecvError> {
        match result {
            // SAFETY: it was received.
            0 => Ok(unsafe { slot.take() }),
            r if r == -ffi::EAGAIN || r == -ffi::ETIMEDOUT => Err(TryRecvError::Empty),
            r if r == -ffi::EPIPE => Err(TryRecvError::Disconnected),
            r => fail("recv", r),
        }
    }

    /// Elements until all senders are gone.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(move || self.recv().ok())
    }
}

impl<T> Inner<T> {
    fn close(&self) {
        // SAFETY: the channel lives as long as this. That it is closed already is no mistake.
        unsafe { ffi::ipcwait_channel_close(self.raw) };
    }

    /// The oldest element of a channel that is closed. Waits for a send that is under way.
    fn left(&self) -> Option<T> {
        let mut slot = Slot::empty();
        // SAFETY: there is room for an element.
        let r = unsafe { ffi::ipcwait_channel_recv(self.raw, slot.at()) };
        debug_assert!(r == 0 || r == -ffi::EPIPE);
        // SAFETY: it was received.
        (r == 0).then(|| unsafe { slot.take() })
    }

    /// Drops all elements of a channel that is closed. If some of them panic, the first panic goes
    /// on when all are dropped.
    fn drop_elements(&self) {
        let mut panicked = None;
        while let Some(element) = self.left() {
            let dropped = panic::catch_unwind(AssertUnwindSafe(|| drop(element)));
            panicked = panicked.or(dropped.err());
        }
        if let Some(payload) = panicked {
            panic::resume_unwind(payload);
        }
    }
}

impl<T> Drop for Inner<T> {
    fn drop(&mut self) {
        // SAFETY: nobody else has it. It is empty.
        unsafe { ffi::ipcwait_channel_destroy(self.raw) };
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender { .. }")
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver { .. }")
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.senders.fetch_add(1, Ordering::Relaxed);
        Sender(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.0.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.close();
        }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.0.receivers.fetch_add(1, Ordering::Relaxed);
        Receiver(self.0.clone())
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if self.0.receivers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.close();
            self.0.drop_elements();
        }
    }
}
