// SPDX-License-Identifier: MIT
use crate::{fail, ffi};
use std::time::Duration;

/// A counting semaphore.
pub struct Semaphore {
    raw: ffi::RawSem,
}

impl Semaphore {
    /// The most tokens that there can be.
    pub const MAX: u32 = 0x7fff_ffff;

    /// With `value` tokens, up to `MAX`.
    pub fn new(value: u32) -> Self {
        let s = Semaphore { raw: ffi::RawSem::new() };
        // SAFETY: the object lives; it may be moved, as nobody waits for it.
        match unsafe { ffi::ipcwait_sem_init(s.raw.at(), value, 0) } {
            0 => s,
            r => fail("Semaphore::new", r),
        }
    }

    /// Take a token, and wait for one if need be.
    pub fn acquire(&self) {
        // SAFETY: the object lives, and is a semaphore.
        let r = unsafe { ffi::ipcwait_sem_wait(self.raw.at()) };
        if r != 0 {
            fail("acquire", r);
        }
    }

    /// Take a token if there is one.
    pub fn try_acquire(&self) -> bool {
        // SAFETY: as in acquire().
        match unsafe { ffi::ipcwait_sem_trywait(self.raw.at()) } {
            0 => true,
            r if r == -ffi::EAGAIN => false,
            r => fail("try_acquire", r),
        }
    }

    /// Take a token within `timeout`.
    pub fn try_acquire_for(&self, timeout: Duration) -> bool {
        // SAFETY: as in acquire().
        match unsafe { ffi::ipcwait_sem_wait_until(self.raw.at(), ffi::deadline(timeout)) } {
            0 => true,
            r if r == -ffi::ETIMEDOUT => false,
            r => fail("try_acquire_for", r),
        }
    }

    /// Put a token in. Panics if there would be more than `MAX`.
    pub fn release(&self) {
        self.release_n(1);
    }

    /// Put `n` tokens in, at once.
    pub fn release_n(&self, n: u32) {
        // SAFETY: as in acquire().
        let r = unsafe { ffi::ipcwait_sem_post_n(self.raw.at(), n) };
        if r < 0 {
            fail("release", r);
        }
    }

    /// Tokens that are free right now.
    pub fn available(&self) -> u32 {
        // SAFETY: as in acquire().
        unsafe { ffi::ipcwait_sem_value(self.raw.at()) }.max(0) as u32
    }
}

impl std::fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Semaphore").field("available", &self.available()).finish()
    }
}
