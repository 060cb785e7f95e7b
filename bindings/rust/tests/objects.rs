// SPDX-License-Identifier: MIT
use ipcwait::{
    channel, Condvar, Mutex, RecvError, Semaphore, SendError, Sender, TryRecvError, TrySendError,
};
use std::error::Error;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(20);

#[test]
fn version() {
    assert_eq!(ipcwait::version().split('.').count(), 3);
}

#[test]
fn mutex_counts() {
    let m = Mutex::new(0u64);
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| (0..20_000).for_each(|_| *m.lock() += 1));
        }
    });
    assert_eq!(m.into_inner(), 80_000);
}

#[test]
fn mutex_is_held() {
    let m = Mutex::new(1);
    let guard = m.lock();
    assert!(m.try_lock().is_none());
    let before = Instant::now();
    assert!(m.try_lock_for(SHORT).is_none());
    assert!(before.elapsed() >= SHORT);
    assert_eq!(format!("{m:?}"), "Mutex { <locked> }");
    drop(guard);
    assert_eq!(format!("{m:?}"), "Mutex { data: 1 }");
    assert_eq!(*m.try_lock_for(SHORT).unwrap(), 1);
}

#[test]
fn a_panic_unlocks() {
    let m = Arc::new(Mutex::new(5));
    let other = m.clone();
    let r = thread::spawn(move || {
        let _guard = other.lock();
        panic!("with a guard");
    })
    .join();
    assert!(r.is_err());
    assert_eq!(*m.lock(), 5);
}

#[test]
fn unsized_data() {
    let m: &Mutex<[u8]> = &Mutex::new([1, 2, 3]);
    m.lock()[1] = 7;
    assert_eq!(m.lock()[..], [1, 7, 3]);
}

#[test]
fn condvar_hands_over() {
    let turn = Mutex::new(0u32);
    let changed = Condvar::new();
    thread::scope(|s| {
        for me in 0..2 {
            let (turn, changed) = (&turn, &changed);
            s.spawn(move || {
                for _ in 0..5_000 {
                    let mut t = turn.lock();
                    changed.wait_while(&mut t, |t| *t % 2 != me);
                    *t += 1;
                    changed.notify_all();
                }
            });
        }
    });
    assert_eq!(*turn.lock(), 10_000);
}

#[test]
fn condvar_times_out() {
    let m = Mutex::new(());
    let c = Condvar::new();
    let mut guard = m.lock();
    assert!(c.wait_for(&mut guard, SHORT).timed_out());
    assert!(m.try_lock().is_none());
}

#[test]
fn semaphore() {
    let s = Semaphore::new(2);
    assert!(s.try_acquire());
    s.acquire();
    assert!(!s.try_acquire());
    assert!(!s.try_acquire_for(SHORT));
    s.release_n(3);
    assert_eq!(s.available(), 3);
    let (asked, answered) = (Semaphore::new(0), Semaphore::new(0));
    thread::scope(|t| {
        t.spawn(|| {
            for _ in 0..5_000 {
                asked.acquire();
                answered.release();
            }
        });
        for _ in 0..5_000 {
            asked.release();
            answered.acquire();
        }
    });
}

#[test]
#[should_panic(expected = "release")]
fn too_many_tokens() {
    let s = Semaphore::new(Semaphore::MAX);
    s.release();
}

#[test]
fn channel_passes_each_once() {
    for capacity in [0, 1, 16] {
        let (tx, rx) = channel::<Box<usize>>(capacity);
        let sum = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                let rx = rx.clone();
                let sum = &sum;
                s.spawn(move || {
                    rx.iter().for_each(|n| {
                        sum.fetch_add(*n, Ordering::Relaxed);
                    })
                });
            }
            drop(rx);
            for _ in 0..2 {
                let tx = tx.clone();
                s.spawn(move || (1..=1_000).for_each(|n| tx.send(Box::new(n)).unwrap()));
            }
            drop(tx);
        });
        assert_eq!(sum.into_inner(), 2 * 500_500, "capacity {capacity}");
    }
}

#[test]
fn channel_full_empty_and_gone() {
    let (tx, rx) = channel(1);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(rx.recv_timeout(SHORT), Err(TryRecvError::Empty));
    assert_eq!(tx.try_send("a".to_string()), Ok(()));
    assert_eq!(tx.try_send("b".to_string()), Err(TrySendError::Full("b".to_string())));
    drop(tx);
    assert_eq!(rx.recv(), Ok("a".to_string()));
    assert_eq!(rx.recv(), Err(RecvError));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    let (tx, rx) = channel(1);
    drop(rx);
    assert_eq!(tx.send(vec![7]).unwrap_err().0, [7]);
}

struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn what_is_left_is_dropped_once() {
    let dropped = AtomicUsize::new(0);
    let (tx, rx) = channel(8);
    for _ in 0..5 {
        assert!(tx.send(Counted(&dropped)).is_ok());
    }
    drop(rx.recv());
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    drop((tx, rx));
    assert_eq!(dropped.load(Ordering::Relaxed), 5);
}

/// The request holds the last sender of its answer.
#[test]
fn a_request_ends_with_the_last_receiver() {
    let (requests, server) = channel::<Sender<u8>>(4);
    let (answer, answers) = channel(1);
    requests.send(answer).unwrap();
    let other = server.clone();
    drop(server);
    assert_eq!(answers.try_recv(), Err(TryRecvError::Empty));
    drop(other);
    assert_eq!(answers.recv_timeout(LONG), Err(TryRecvError::Disconnected));
}

#[test]
fn nothing_is_left_by_a_race_with_the_last_receiver() {
    let element = Arc::new(());
    for round in 0..600 {
        let (tx, rx) = channel(round % 3);
        thread::scope(|s| {
            for _ in 0..2 {
                let (tx, element) = (tx.clone(), element.clone());
                s.spawn(move || while tx.send(element.clone()).is_ok() {});
            }
            for _ in 0..round % 8 {
                drop(rx.recv());
            }
            drop(rx);
        });
        assert_eq!(Arc::strong_count(&element), 1);
    }
}

struct Bomb<'a>(&'a AtomicUsize, Option<&'static str>);

impl Drop for Bomb<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        if let Some(what) = self.1 {
            std::panic::panic_any(what);
        }
    }
}

#[test]
fn all_elements_are_dropped_though_some_panic() {
    for senders_go_first in [false, true] {
        let dropped = AtomicUsize::new(0);
        let (tx, rx) = channel(8);
        for what in [None, Some("first"), None, Some("second"), None] {
            tx.send(Bomb(&dropped, what)).unwrap();
        }
        let tx = if senders_go_first { None } else { Some(tx) };
        let panicked = catch_unwind(AssertUnwindSafe(|| drop(rx))).unwrap_err();
        assert_eq!(panicked.downcast_ref(), Some(&"first"));
        assert_eq!(dropped.load(Ordering::Relaxed), 5);
        drop(tx);
    }
}

struct Opaque;

fn is_said_as<A: Error + 'static, B: Error>(ours: A, debug: &str, of_std: B) {
    assert_eq!(ours.to_string(), of_std.to_string());
    assert_eq!(format!("{ours:?}"), debug);
    let _: Box<dyn Error> = ours.into();
}

#[test]
fn errors_of_any_element() {
    let (full, gone) = (TrySendError::Full(Opaque), TrySendError::Disconnected(Opaque));
    is_said_as(SendError(Opaque), "SendError { .. }", mpsc::SendError(Opaque));
    is_said_as(full, "Full(..)", mpsc::TrySendError::Full(Opaque));
    is_said_as(gone, "Disconnected(..)", mpsc::TrySendError::Disconnected(Opaque));
    is_said_as(RecvError, "RecvError", mpsc::RecvError);
    is_said_as(TryRecvError::Empty, "Empty", mpsc::TryRecvError::Empty);
    is_said_as(TryRecvError::Disconnected, "Disconnected", mpsc::TryRecvError::Disconnected);
    assert_eq!(TryRecvError::from(RecvError), TryRecvError::Disconnected);
    assert!(matches!(TrySendError::from(SendError(Opaque)), TrySendError::Disconnected(Opaque)));
    let ends = channel::<Opaque>(1);
    assert_eq!(format!("{ends:?}"), format!("{:?}", mpsc::channel::<Opaque>()));
}

#[test]
fn elements_of_no_size() {
    let (tx, rx) = channel::<()>(2);
    tx.send(()).unwrap();
    assert_eq!(rx.recv(), Ok(()));
}

#[test]
fn alignment() {
    #[repr(align(64))]
    #[derive(Clone, Copy)]
    struct Wide(u8);
    let (tx, rx) = channel(3);
    for i in 0..3 {
        tx.send(Wide(i)).unwrap_or_else(|_| panic!());
    }
    for i in 0..3 {
        let w = rx.recv().unwrap();
        assert_eq!((w.0, &w as *const Wide as usize % 64), (i, 0));
    }
}
