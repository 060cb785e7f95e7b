// SPDX-License-Identifier: MIT
//! The C side. Zero bytes are a valid object of each kind.

use std::cell::UnsafeCell;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::time::Duration;

pub const ETIMEDOUT: c_int = 110;
pub const EPIPE: c_int = 32;
pub const EBUSY: c_int = 16;
pub const EAGAIN: c_int = 11;

const FOREVER: i64 = i64::MAX;

/// Memory that C code changes; of so many words of 64 bits.
#[repr(C, align(8))]
pub struct Object<const WORDS: usize>(UnsafeCell<[u64; WORDS]>);

impl<const WORDS: usize> Object<WORDS> {
    pub const fn new() -> Self {
        Object(UnsafeCell::new([0; WORDS]))
    }

    pub fn at(&self) -> *mut Self {
        self as *const Self as *mut Self
    }
}

// SAFETY: the library orders all accesses itself.
unsafe impl<const WORDS: usize> Sync for Object<WORDS> {}

pub type RawSem = Object<4>;
pub type RawMutex = Object<4>;
pub type RawCond = Object<6>;

#[repr(C)]
pub struct RawChannel {
    _private: [u8; 0],
}

#[repr(C)]
pub struct ChannelParams {
    pub elem_size: usize,
    pub capacity: u64,
    pub elem_fini: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    pub elem_fini_arg: *mut c_void,
    pub flags: c_uint,
    pub reserved: [u32; 3],
}

extern "C" {
    pub fn ipcwait_version() -> *const c_char;
    pub fn ipcwait_now_ns() -> i64;

    pub fn ipcwait_sem_init(s: *mut RawSem, value: c_uint, flags: c_uint) -> c_int;
    pub fn ipcwait_sem_wait(s: *mut RawSem) -> c_int;
    pub fn ipcwait_sem_wait_until(s: *mut RawSem, deadline_ns: i64) -> c_int;
    pub fn ipcwait_sem_trywait(s: *mut RawSem) -> c_int;
    pub fn ipcwait_sem_post_n(s: *mut RawSem, n: u32) -> c_int;
    pub fn ipcwait_sem_value(s: *const RawSem) -> c_int;

    pub fn ipcwait_mutex_lock(m: *mut RawMutex) -> c_int;
    pub fn ipcwait_mutex_lock_until(m: *mut RawMutex, deadline_ns: i64) -> c_int;
    pub fn ipcwait_mutex_trylock(m: *mut RawMutex) -> c_int;
    pub fn ipcwait_mutex_unlock(m: *mut RawMutex) -> c_int;

    pub fn ipcwait_cond_wait(c: *mut RawCond, m: *mut RawMutex) -> c_int;
    pub fn ipcwait_cond_wait_until(c: *mut RawCond, m: *mut RawMutex, deadline_ns: i64) -> c_int;
    pub fn ipcwait_cond_signal(c: *mut RawCond) -> c_int;
    pub fn ipcwait_cond_broadcast(c: *mut RawCond) -> c_int;

    pub fn ipcwait_channel_create(params: *const ChannelParams) -> *mut RawChannel;
    pub fn ipcwait_channel_destroy(ch: *mut RawChannel);
    pub fn ipcwait_channel_send(ch: *mut RawChannel, elem: *const c_void) -> c_int;
    pub fn ipcwait_channel_trysend(ch: *mut RawChannel, elem: *const c_void) -> c_int;
    pub fn ipcwait_channel_recv(ch: *mut RawChannel, elem: *mut c_void) -> c_int;
    pub fn ipcwait_channel_tryrecv(ch: *mut RawChannel, elem: *mut c_void) -> c_int;
    pub fn ipcwait_channel_recv_until(
        ch: *mut RawChannel,
        elem: *mut c_void,
        deadline_ns: i64,
    ) -> c_int;
    pub fn ipcwait_channel_close(ch: *mut RawChannel) -> c_int;
}

/// A deadline: that far from now.
pub fn deadline(timeout: Duration) -> i64 {
    // SAFETY: it reads a clock.
    let now = unsafe { ipcwait_now_ns() };
    i64::try_from(timeout.as_nanos()).ok().and_then(|ns| now.checked_add(ns)).unwrap_or(FOREVER)
}
