// SPDX-License-Identifier: MIT
use crate::{fail, ffi, MutexGuard};
use std::time::Duration;

/// A condition variable, for any `Mutex`. Waits end when they were notified, and now and then
/// without: look at the condition again.
#[derive(Default)]
pub struct Condvar {
    raw: ffi::RawCond,
}

/// How a wait with a timeout ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// It was not notified in time.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Default for ffi::RawCond {
    fn default() -> Self {
        Self::new()
    }
}

impl Condvar {
    /// One that nobody waits for.
    pub const fn new() -> Self {
        Condvar { raw: ffi::RawCond::new() }
    }

    /// Unlock, wait, and lock again.
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        // SAFETY: the guard says that this thread has the mutex.
        let r = unsafe { ffi::ipcwait_cond_wait(self.raw.at(), guard.mutex.raw.at()) };
        if r != 0 {
            fail("wait", r);
        }
    }

    /// The same as long as `condition` holds.
    pub fn wait_while<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) {
        while condition(guard) {
            self.wait(guard);
        }
    }

    /// Wait for no longer than `timeout`.
    pub fn wait_for<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        let until = ffi::deadline(timeout);
        // SAFETY: as in wait().
        match unsafe { ffi::ipcwait_cond_wait_until(self.raw.at(), guard.mutex.raw.at(), until) } {
            0 => WaitTimeoutResult(false),
            r if r == -ffi::ETIMEDOUT => WaitTimeoutResult(true),
            r => fail("wait_for", r),
        }
    }

    /// Wake one of those that wait.
    pub fn notify_one(&self) {
        // SAFETY: the object lives.
        let r = unsafe { ffi::ipcwait_cond_signal(self.raw.at()) };
        debug_assert!(r >= 0);
    }

    /// Wake all of them.
    pub fn notify_all(&self) {
        // SAFETY: the object lives.
        let r = unsafe { ffi::ipcwait_cond_broadcast(self.raw.at()) };
        debug_assert!(r >= 0);
    }
}

impl std::fmt::Debug for Condvar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Condvar { .. }")
    }
}
