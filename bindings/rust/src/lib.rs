// SPDX-License-Identifier: MIT
//! Synchronization that spins for a learned window before it sleeps, for Rust: libipcwait's objects
//! under the names of `std::sync` and `lock_api`. In a virtual machine a hand-off between threads
//! takes a tenth of the time and less CPU; where waits are long it is as good as the standard's.
//!
//! ```
//! use ipcwait::{Condvar, Mutex};
//!
//! static JOBS: Mutex<Vec<u32>> = Mutex::new(Vec::new());
//! static FILLED: Condvar = Condvar::new();
//!
//! std::thread::spawn(|| {
//!     JOBS.lock().push(7);
//!     FILLED.notify_one();
//! });
//! let mut jobs = JOBS.lock();
//! while jobs.is_empty() {
//!     FILLED.wait(&mut jobs);
//! }
//! assert_eq!(jobs.pop(), Some(7));
//! ```
//!
//! Locks are not poisoned: a thread that panics with a guard unlocks, as in `parking_lot`. Objects
//! are for the threads of one process.

#![warn(missing_docs)]
#![warn(rust_2018_idioms)]

mod channel;
mod condvar;
mod ffi;
mod mutex;
mod semaphore;

pub use channel::{channel, Receiver, RecvError, SendError, Sender, TryRecvError, TrySendError};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use semaphore::Semaphore;

/// The version of the library that is linked.
pub fn version() -> &'static str {
    // SAFETY: it returns a string that lives as long as the program.
    unsafe { std::ffi::CStr::from_ptr(ffi::ipcwait_version()) }.to_str().unwrap_or("")
}

/// What the library says that can only be a mistake in this crate, or a filter that forbids
/// futex(2): nothing can go on then.
#[cold]
fn fail(what: &str, result: i32) -> ! {
    panic!("ipcwait: {what}: {}", std::io::Error::from_raw_os_error(-result));
}
