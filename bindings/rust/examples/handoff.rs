// SPDX-License-Identifier: MIT
//! Two threads hand over to each other through two channels: this crate's and the standard's.

use std::time::Instant;
use std::{sync::mpsc, thread};

const ROUNDS: u32 = 50_000;

fn main() {
    let (there, at) = ipcwait::channel(1);
    let (back, home) = ipcwait::channel(1);
    let began = Instant::now();
    let other = thread::spawn(move || at.iter().for_each(|n: u32| back.send(n + 1).unwrap()));
    for n in 0..ROUNDS {
        there.send(n).unwrap();
        assert_eq!(home.recv(), Ok(n + 1));
    }
    drop(there);
    other.join().unwrap();
    println!("ipcwait::channel   {:8.2} us a round trip", per_round(began));

    let (there, at) = mpsc::sync_channel(1);
    let (back, home) = mpsc::sync_channel(1);
    let began = Instant::now();
    let other = thread::spawn(move || at.iter().for_each(|n: u32| back.send(n + 1).unwrap()));
    for n in 0..ROUNDS {
        there.send(n).unwrap();
        assert_eq!(home.recv(), Ok(n + 1));
    }
    drop(there);
    other.join().unwrap();
    println!("std::sync::mpsc    {:8.2} us a round trip", per_round(began));
}

fn per_round(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS)
}
