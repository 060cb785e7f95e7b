// SPDX-License-Identifier: MIT
//! Tests of std::sync and std::thread: a line for each, "name ok" or "name FAIL why".
//! Nothing newer than Rust 1.63.
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(60);

/// Runs `body` in `n` threads and waits for all of them.
fn together<F: Fn(usize) + Sync>(n: usize, body: F) {
    thread::scope(|s| {
        let body = &body;
        for k in 0..n {
            s.spawn(move || body(k));
        }
    });
}

fn lasts<R>(body: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = body();
    assert!(start.elapsed() >= SHORT, "early: {:?}", start.elapsed());
    result
}

fn mutex_counts() {
    let n = Mutex::new(0);
    together(4, |_| {
        for _ in 0..20_000 {
            *n.lock().unwrap() += 1;
        }
    });
    assert_eq!(n.into_inner().unwrap(), 80_000);
}

fn mutex_try() {
    let m = Mutex::new(1);
    let held = m.lock().unwrap();
    together(2, |_| assert!(matches!(m.try_lock(), Err(TryLockError::WouldBlock))));
    drop(held);
    assert_eq!(*m.try_lock().unwrap(), 1);
}

fn mutex_poison() {
    let m = Arc::new(Mutex::new(3));
    for _ in 0..20 {
        let other = m.clone();
        let end = thread::spawn(move || {
            let _held = other.lock().unwrap_or_else(|e| e.into_inner());
            panic!("on purpose");
        });
        assert!(end.join().is_err());
        assert!(m.is_poisoned());
        assert!(m.lock().is_err());
        assert!(matches!(m.try_lock(), Err(TryLockError::Poisoned(_))));
    }
    assert_eq!(*m.lock().unwrap_or_else(|e| e.into_inner()), 3);
}

/// A waiter is woken by the unwinding of the one who holds the mutex.
fn mutex_poison_waiter() {
    let m = Mutex::new(());
    let gate = Barrier::new(2);
    thread::scope(|s| {
        let holder = s.spawn(|| {
            let _held = m.lock().unwrap();
            gate.wait();
            thread::sleep(SHORT);
            panic!("on purpose");
        });
        gate.wait();
        assert!(m.lock().is_err());
        assert!(holder.join().is_err());
    });
}

fn condvar_buffer() {
    let (slot, full, empty) = (Mutex::new(None), Condvar::new(), Condvar::new());
    thread::scope(|s| {
        s.spawn(|| {
            for k in 0..3000 {
                let mut held = empty.wait_while(slot.lock().unwrap(), |s| s.is_some()).unwrap();
                *held = Some(k);
                full.notify_one();
            }
        });
        for k in 0..3000 {
            let mut held = full.wait_while(slot.lock().unwrap(), |s| s.is_none()).unwrap();
            assert_eq!(held.take(), Some(k));
            empty.notify_one();
        }
    });
}

fn condvar_all() {
    for _ in 0..100 {
        let (state, c) = (Mutex::new((0, false)), Condvar::new());
        let passed = AtomicUsize::new(0);
        together(5, |k| {
            let mut held = state.lock().unwrap();
            held.0 += 1;
            if k == 0 {
                while held.0 < 5 {
                    drop(held);
                    thread::yield_now();
                    held = state.lock().unwrap();
                }
                held.1 = true;
                c.notify_all();
            }
            drop(c.wait_while(held, |s| !s.1).unwrap());
            passed.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(passed.load(Ordering::Relaxed), 5);
    }
}

fn condvar_timed() {
    let (m, c) = (Mutex::new(false), Condvar::new());
    let (held, result) =
        lasts(|| c.wait_timeout_while(m.lock().unwrap(), SHORT, |go| !*go).unwrap());
    assert!(result.timed_out() && !*held);
    drop(held);
    let (held, result) =
        c.wait_timeout_while(m.lock().unwrap(), Duration::ZERO, |go| !*go).unwrap();
    assert!(result.timed_out());
    drop(held);
    thread::scope(|s| {
        s.spawn(|| {
            *m.lock().unwrap() = true;
            c.notify_one();
        });
        let (held, result) = c.wait_timeout_while(m.lock().unwrap(), LONG, |go| !*go).unwrap();
        assert!(!result.timed_out() && *held);
    });
    // Too long for a clock: it must not return at once as timed out.
    let (held, _) = c.wait_timeout_while(m.lock().unwrap(), Duration::MAX, |go| !*go).unwrap();
    assert!(*held);
}

fn condvar_poison() {
    let (m, c) = (Mutex::new(false), Condvar::new());
    thread::scope(|s| {
        let waits = s.spawn(|| c.wait_while(m.lock().unwrap(), |go| !*go).is_err());
        let fails = s.spawn(|| {
            let mut held = m.lock().unwrap_or_else(|e| e.into_inner());
            *held = true;
            c.notify_all();
            panic!("on purpose");
        });
        assert!(fails.join().is_err());
        // The waiter may come later than the panic: then lock() says it, by a panic of its own.
        assert!(waits.join().unwrap_or(true));
    });
}

fn rwlock_pairs() {
    let pair = RwLock::new((0, 0));
    together(4, |k| {
        for _ in 0..5000 {
            if k % 2 == 0 {
                let mut held = pair.write().unwrap();
                held.0 += 1;
                held.1 += 1;
            } else {
                let held = pair.read().unwrap();
                assert_eq!(held.0, held.1);
            }
        }
    });
    assert_eq!(pair.into_inner().unwrap(), (10_000, 10_000));
}

fn rwlock_readers() {
    let (lock, all) = (RwLock::new(()), Barrier::new(4));
    together(4, |_| {
        for _ in 0..200 {
            let held = lock.read().unwrap();
            all.wait();
            drop(held);
            all.wait();
        }
    });
}

fn rwlock_try() {
    let lock = RwLock::new(());
    let read = lock.read().unwrap();
    together(2, |_| assert!(lock.try_write().is_err()));
    together(2, |_| assert!(lock.try_read().is_ok()));
    drop(read);
    let write = lock.write().unwrap();
    together(2, |_| assert!(lock.try_read().is_err() && lock.try_write().is_err()));
    drop(write);
    assert!(lock.try_write().is_ok());
}

fn rwlock_poison() {
    let lock = RwLock::new(());
    thread::scope(|s| {
        let reads = s.spawn(|| {
            let _held = lock.read().unwrap();
            panic!("on purpose");
        });
        assert!(reads.join().is_err());
        assert!(!lock.is_poisoned());
        let writes = s.spawn(|| {
            let _held = lock.write().unwrap();
            panic!("on purpose");
        });
        assert!(writes.join().is_err());
        assert!(lock.is_poisoned() && lock.read().is_err() && lock.write().is_err());
    });
}

fn once() {
    for _ in 0..200 {
        let (flag, runs) = (Once::new(), AtomicUsize::new(0));
        together(4, |_| {
            flag.call_once(|| {
                thread::yield_now();
                runs.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(runs.load(Ordering::Relaxed), 1);
        });
        assert!(flag.is_completed());
    }
}

fn once_poison() {
    let flag = Once::new();
    let fails = || flag.call_once(|| panic!("on purpose"));
    assert!(panic::catch_unwind(AssertUnwindSafe(fails)).is_err());
    assert!(panic::catch_unwind(AssertUnwindSafe(|| flag.call_once(|| ()))).is_err());
    flag.call_once_force(|state| assert!(state.is_poisoned()));
    assert!(flag.is_completed());
}

fn barrier() {
    let (all, leaders) = (Barrier::new(4), AtomicUsize::new(0));
    together(4, |_| {
        for k in 0..500 {
            if all.wait().is_leader() {
                leaders.fetch_add(1, Ordering::Relaxed);
            }
            all.wait();
            assert_eq!(leaders.load(Ordering::Relaxed), k + 1);
            all.wait();
        }
    });
}

fn channel_sums() {
    let (send, receive) = mpsc::channel();
    thread::scope(|s| {
        for _ in 0..3 {
            let send = send.clone();
            s.spawn(move || (1..=3000u64).for_each(|n| send.send(n).unwrap()));
        }
        drop(send);
        assert_eq!(receive.iter().sum::<u64>(), 3 * 3000 * 3001 / 2);
    });
}

fn channel_bounded(bound: usize) {
    let (send, receive) = mpsc::sync_channel(bound);
    thread::scope(|s| {
        s.spawn(move || (0..3000).for_each(|n| send.send(n).unwrap()));
        for n in 0..3000 {
            assert_eq!(receive.recv(), Ok(n));
        }
        assert!(receive.recv().is_err());
    });
}

fn channel_many(bound: usize) {
    let (send, receive) = mpsc::sync_channel(bound);
    let receive = Mutex::new(receive);
    let sum = AtomicUsize::new(0);
    thread::scope(|s| {
        for _ in 0..3 {
            let send = send.clone();
            s.spawn(move || (1..=1000).for_each(|n| send.send(n).unwrap()));
            s.spawn(|| loop {
                let got = receive.lock().unwrap().recv();
                match got {
                    Ok(n) => sum.fetch_add(n, Ordering::Relaxed),
                    Err(_) => break,
                };
            });
        }
        drop(send);
    });
    assert_eq!(sum.load(Ordering::Relaxed), 3 * 1000 * 1001 / 2);
}

fn channel_full() {
    let (send, receive) = mpsc::sync_channel(2);
    assert!(send.try_send(1).is_ok() && send.try_send(2).is_ok());
    assert!(matches!(send.try_send(3), Err(TrySendError::Full(3))));
    drop(receive);
    assert!(matches!(send.try_send(3), Err(TrySendError::Disconnected(3))));
    let (send, _receive) = mpsc::sync_channel(0);
    assert!(matches!(send.try_send(1), Err(TrySendError::Full(1))));
}

fn channel_timed() {
    let (send, receive) = mpsc::channel();
    assert_eq!(receive.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(lasts(|| receive.recv_timeout(SHORT)), Err(RecvTimeoutError::Timeout));
    thread::scope(|s| {
        s.spawn(move || send.send(4).unwrap());
        assert_eq!(receive.recv_timeout(LONG), Ok(4));
    });
    assert_eq!(receive.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
    assert_eq!(receive.try_recv(), Err(TryRecvError::Disconnected));
}

/// Who waits is told when the other side goes away.
fn channel_disconnects() {
    for bound in [0, 1] {
        let (send, receive) = mpsc::sync_channel::<i32>(bound);
        let waits = thread::spawn(move || receive.recv().is_err());
        thread::sleep(SHORT);
        drop(send);
        assert!(waits.join().unwrap());
        let (send, receive) = mpsc::sync_channel(bound);
        let waits = thread::spawn(move || (0..2).any(|n| send.send(n).is_err()));
        thread::sleep(SHORT);
        drop(receive);
        assert!(waits.join().unwrap());
    }
}

fn park_permit() {
    thread::spawn(|| {
        thread::current().unpark();
        thread::current().unpark();
        thread::park();
        let end = Instant::now() + SHORT;
        while Instant::now() < end {
            thread::park_timeout(SHORT);
        }
    })
    .join()
    .unwrap();
}

fn park_hand_over() {
    let turn = Arc::new(AtomicUsize::new(0));
    let here = thread::current();
    let theirs = turn.clone();
    let other = thread::spawn(move || {
        for _ in 0..3000 {
            while theirs.load(Ordering::Acquire) % 2 == 0 {
                thread::park();
            }
            theirs.fetch_add(1, Ordering::AcqRel);
            here.unpark();
        }
    });
    for _ in 0..3000 {
        turn.fetch_add(1, Ordering::AcqRel);
        other.thread().unpark();
        while turn.load(Ordering::Acquire) % 2 == 1 {
            thread::park_timeout(LONG);
        }
    }
    other.join().unwrap();
    assert_eq!(turn.load(Ordering::Relaxed), 6000);
}

fn join_many() {
    for _ in 0..20 {
        let all: Vec<_> = (0..20).map(|k| thread::spawn(move || k)).collect();
        assert_eq!(all.into_iter().map(|t| t.join().unwrap()).sum::<i32>(), 190);
    }
}

fn join_panic() {
    let end = thread::spawn(|| panic::panic_any(17)).join();
    assert_eq!(*end.unwrap_err().downcast_ref::<i32>().unwrap(), 17);
    let named = thread::Builder::new().name("named".into()).stack_size(64 << 10);
    let name = named.spawn(|| thread::current().name().map(String::from)).unwrap().join();
    assert_eq!(name.unwrap().as_deref(), Some("named"));
}

fn scope_panic() {
    let done = AtomicUsize::new(0);
    let scope = AssertUnwindSafe(|| {
        thread::scope(|s| {
            s.spawn(|| panic!("on purpose"));
            s.spawn(|| {
                thread::sleep(SHORT);
                done.fetch_add(1, Ordering::Relaxed);
            });
        })
    });
    assert!(panic::catch_unwind(scope).is_err());
    assert_eq!(done.load(Ordering::Relaxed), 1);
}

struct Last(Arc<Mutex<usize>>);

impl Drop for Last {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

thread_local!(static LAST: RefCell<Option<Last>> = RefCell::new(None));

/// Destructors of thread-locals take locks.
fn locals() {
    let ends = Arc::new(Mutex::new(0));
    for _ in 0..50 {
        let all: Vec<_> = (0..4)
            .map(|_| Last(ends.clone()))
            .map(|last| thread::spawn(move || LAST.with(|l| *l.borrow_mut() = Some(last))))
            .collect();
        all.into_iter().for_each(|t| t.join().unwrap());
    }
    assert_eq!(*ends.lock().unwrap(), 200);
}

fn stop_flag() {
    let stop = AtomicBool::new(false);
    thread::scope(|s| {
        let busy = s.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                thread::yield_now();
            }
        });
        thread::sleep(SHORT);
        assert!(!busy.is_finished());
        stop.store(true, Ordering::Release);
    });
}

fn tests() -> Vec<(&'static str, fn())> {
    vec![
        ("mutex.counts", mutex_counts),
        ("mutex.try", mutex_try),
        ("mutex.poison", mutex_poison),
        ("mutex.poison.waiter", mutex_poison_waiter),
        ("condvar.buffer", condvar_buffer),
        ("condvar.all", condvar_all),
        ("condvar.timed", condvar_timed),
        ("condvar.poison", condvar_poison),
        ("rwlock.pairs", rwlock_pairs),
        ("rwlock.readers", rwlock_readers),
        ("rwlock.try", rwlock_try),
        ("rwlock.poison", rwlock_poison),
        ("once", once),
        ("once.poison", once_poison),
        ("barrier", barrier),
        ("channel.sums", channel_sums),
        ("channel.bounded.0", || channel_bounded(0)),
        ("channel.bounded.1", || channel_bounded(1)),
        ("channel.bounded.16", || channel_bounded(16)),
        ("channel.many.0", || channel_many(0)),
        ("channel.many.4", || channel_many(4)),
        ("channel.full", channel_full),
        ("channel.timed", channel_timed),
        ("channel.disconnects", channel_disconnects),
        ("park.permit", park_permit),
        ("park.hand-over", park_hand_over),
        ("join.many", join_many),
        ("join.panic", join_panic),
        ("scope.panic", scope_panic),
        ("locals", locals),
        ("scope.stop", stop_flag),
    ]
}

fn said(e: Box<dyn std::any::Any + Send>) -> String {
    let text = e.downcast_ref::<String>().cloned();
    text.or_else(|| e.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default()
}

fn main() {
    panic::set_hook(Box::new(|_| ()));
    let mut failed = 0;
    for (name, test) in tests() {
        match thread::spawn(test).join() {
            Ok(()) => println!("{} ok", name),
            Err(e) => {
                failed += 1;
                println!("{} FAIL {}", name, said(e).replace('\n', " "));
            }
        }
    }
    std::process::exit((failed > 0) as i32);
}
