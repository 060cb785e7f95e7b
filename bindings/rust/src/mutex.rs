// SPDX-License-Identifier: MIT
use crate::{fail, ffi};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// A mutex, 32 bytes beside what it protects.
pub struct Mutex<T: ?Sized> {
    pub(crate) raw: ffi::RawMutex,
    data: UnsafeCell<T>,
}

// SAFETY: one thread at a time has the data.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// The mutex is locked as long as this lives.
#[must_use = "the mutex is unlocked at once if it is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(crate) mutex: &'a Mutex<T>,
    // The thread that locks unlocks.
    _here: PhantomData<*mut ()>,
}

// SAFETY: who shares a guard shares the data.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    pub const fn new(value: T) -> Self {
        Mutex { raw: ffi::RawMutex::new(), data: UnsafeCell::new(value) }
    }

    /// What it protected.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, _here: PhantomData }
    }

    /// Lock it, and wait for that if need be. A thread that has it already waits for ever.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // SAFETY: the object lives, and is a mutex.
        match unsafe { ffi::ipcwait_mutex_lock(self.raw.at()) } {
            0 => self.guard(),
            r => fail("lock", r),
        }
    }

    /// Lock it if nobody has it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        // SAFETY: as in lock().
        match unsafe { ffi::ipcwait_mutex_trylock(self.raw.at()) } {
            0 => Some(self.guard()),
            r if r == -ffi::EBUSY => None,
            r => fail("try_lock", r),
        }
    }

    /// Lock it, and give up after `timeout`.
    pub fn try_lock_for(&self, timeout: Duration) -> Option<MutexGuard<'_, T>> {
        // SAFETY: as in lock().
        match unsafe { ffi::ipcwait_mutex_lock_until(self.raw.at(), ffi::deadline(timeout)) } {
            0 => Some(self.guard()),
            r if r == -ffi::ETIMEDOUT => None,
            r => fail("try_lock_for", r),
        }
    }

    /// What it protects, without a lock: nobody else has the mutex.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this thread has locked it.
        let r = unsafe { ffi::ipcwait_mutex_unlock(self.mutex.raw.at()) };
        debug_assert_eq!(r, 0);
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this thread has the mutex.
        unsafe { &*self.mutex.data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread has the mutex, and this guard for itself.
        unsafe { &mut *self.mutex.data.get() }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_lock() {
            Some(guard) => f.debug_struct("Mutex").field("data", &&*guard).finish(),
            None => f.write_str("Mutex { <locked> }"),
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
