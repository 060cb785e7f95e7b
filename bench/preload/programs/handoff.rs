// SPDX-License-Identifier: MIT
//! handoff WORKLOAD SECONDS: two threads in turn, by means of Rust's std. An operation is a round
//! trip. The lines that are printed are those of meter.h.

use std::env;
use std::io::{self, Write};
use std::process::exit;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Instant;

const STRIDE: u64 = 16;
const WARM: f64 = 0.25;

/// Calls `turn` until the time is over, and says how often that was.
fn measure(seconds: f64, mut turn: impl FnMut()) {
    let mut at = Instant::now();
    while at.elapsed().as_secs_f64() < seconds * WARM {
        turn();
    }
    println!("begin");
    io::stdout().flush().unwrap();
    at = Instant::now();
    let mut operations = 0u64;
    loop {
        for _ in 0..STRIDE {
            turn();
        }
        operations += STRIDE;
        let past = at.elapsed().as_secs_f64();
        if past >= seconds {
            println!("{{\"ops\": {operations}, \"seconds\": {past:.9}}}");
            return;
        }
    }
}

type Turn = (Mutex<u32>, Condvar);

fn wait_for(turn: &Turn, own: u32, next: u32) {
    let mut whose = turn.0.lock().unwrap();
    while *whose != own {
        whose = turn.1.wait(whose).unwrap();
    }
    *whose = next;
}

/// Of a word whose turn it is: 0 the one, 1 the other, 2 nobody's, it is over.
fn condvar(seconds: f64) {
    let turn: Arc<Turn> = Arc::new((Mutex::new(0), Condvar::new()));
    let theirs = turn.clone();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let other = thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            wait_for(&theirs, 1, 0);
            theirs.1.notify_one();
        }
    });
    let go = || {
        wait_for(&turn, 0, 1);
        turn.1.notify_one();
    };
    measure(seconds, go);
    wait_for(&turn, 0, 0);
    stop.store(true, Ordering::Relaxed);
    wait_for(&turn, 0, 1);
    turn.1.notify_one();
    other.join().unwrap();
}

fn channel(seconds: f64) {
    let (ask, asked) = sync_channel::<u64>(0);
    let (answer, answered) = sync_channel::<u64>(0);
    let other = thread::spawn(move || {
        for question in asked {
            answer.send(question + 1).unwrap();
        }
    });
    measure(seconds, || {
        ask.send(1).unwrap();
        assert_eq!(answered.recv().unwrap(), 2);
    });
    drop(ask);
    other.join().unwrap();
}

fn park(seconds: f64) {
    let turn = Arc::new(AtomicU32::new(0));
    let theirs = turn.clone();
    let main = thread::current();
    let other = thread::spawn(move || loop {
        match theirs.load(Ordering::Acquire) {
            0 => thread::park(),
            1 => {
                theirs.store(0, Ordering::Release);
                main.unpark();
            }
            _ => return,
        }
    });
    measure(seconds, || {
        turn.store(1, Ordering::Release);
        other.thread().unpark();
        while turn.load(Ordering::Acquire) != 0 {
            thread::park();
        }
    });
    turn.store(2, Ordering::Release);
    other.thread().unpark();
    other.join().unwrap();
}

fn main() {
    let words: Vec<String> = env::args().collect();
    let seconds = match words.get(2).map(|text| text.parse::<f64>()) {
        Some(Ok(s)) if s > 0.0 && s <= 3600.0 && words.len() == 3 => s,
        _ => 0.0,
    };
    match (seconds > 0.0, words.get(1).map(String::as_str)) {
        (true, Some("condvar")) => condvar(seconds),
        (true, Some("channel")) => channel(seconds),
        (true, Some("park")) => park(seconds),
        _ => {
            eprintln!("want one of condvar, channel, park; and SECONDS, up to 3600");
            exit(2);
        }
    }
}
