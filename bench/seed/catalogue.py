# SPDX-License-Identifier: MIT
"""What the seeds say: every item with its figures, and the claim that we judge ours by.

Identifiers: I the semaphore test in a virtual machine and on metal, G the Go programs, Q the
queue in three builds, M the method of measuring.
"""


def entry(title, unit="", claim=None, seed=None):
    """@claim: what @seed found, as a sentence that ours can agree with or not."""
    return {"title": title, "unit": unit, "claim": claim, "seed": seed}


ENTRIES = {
    "I-1": entry(
        "Semaphore test: two semaphores, the producer works twice, the consumer once", "us/item",
        seed={"items": "800 000", "loops": "2000", "Linux VM": "27.5 us/item"}),
    "I-2": entry(
        "The four rows of the semaphore test", "us/item",
        "Waiting by spinning beats sleeping in a virtual machine",
        {"Linux VM": "22 s, 27.5 us/item, 33.0 CPU-s",
         "Jiny VM, spins": "9 s, 11.25 us/item, 18.0 CPU-s",
         "Linux on metal": "9.2 s, 11.5 us/item", "Linux VM and hog": "12 s, 15.0 us/item"}),
    "I-3": entry(
        "Semaphore test with two processes in the place of two threads", "us/item",
        "Spinning beats sleeping between processes as well",
        {"threads": "only"}),
    "I-4": entry(
        "Rescheduling and function call interrupts per item", "interrupts/item",
        "Spinning saves most of the interrupts",
        {"Linux VM": "0.35 (280 000)", "Jiny VM, spins": "no additional ones"}),
    "I-5": entry(
        "Spin before sleeping, and only for a bounded time", "share of waits",
        "Most waits end while spinning",
        {"bound": "10 ms or one tick"}),
    "I-6": entry(
        "The seed's rule: give up after three ticks without work", "us/item",
        "Spinning by the seed's rule beats sleeping",
        {"rule": "the window begins again after each success"}),
    "I-7": entry(
        "When spinning pays: several CPUs, idle CPUs, short critical sections",
        "times faster than glibc",
        "Spinning gains nothing on one CPU",
        {"conditions": "3"}),
    "I-8": entry(
        "When sleeping pays: long waits", "CPU us/item",
        "Long waits cost no more CPU time than in glibc",
        {"rule": "long critical section: interrupts are better"}),
    "I-9": entry(
        "A busy low-priority program as a work-around, and its price", "times",
        "A low-priority hog makes the test faster",
        {"gain": "1.83 times"}),
    "I-10": entry(
        "Polling in the guest beside polling in the hypervisor", "",
        seed={"both": "can be used together"}),
    "I-11": entry(
        "Named wait queues with counters", "",
        seed={"counters": "wait ticks, waits, wake-ups, contentions, asynchronous wake-ups"}),
    "G-1": entry(
        "Test 1: 400 000 000 writes of 30 bytes to the null device", "ns/write",
        seed={"Jiny": "22 s, 55 ns/write", "Linux": "208 s, 520 ns/write",
              "total": "12 000 000 000 bytes"}),
    "G-2": entry(
        "Test 2: 50 goroutines over channels, with writes", "ns/message",
        "The writes make test 2 slower than test 3",
        {"Jiny": "96 s, 320 ns/message", "Linux": "180 s, 600 ns/message",
         "total": "3387232619202732032"}),
    "G-3": entry(
        "Test 3: 50 goroutines over channels, without writes", "ns/message",
        seed={"Jiny": "60 s, 200 ns/message", "Linux": "90 s, 300 ns/message",
              "total": "3387232619202732032"}),
    "G-4": entry(
        "The same three programs in C and C++, beside Go", "ns/message",
        seed={"programs": "in Go only"}),
    "G-5": entry(
        "Pipeline of four stages with a write in each", "ns/message",
        seed={"note": "lies beside the seed's programs, not measured there"}),
    "G-6": entry(
        "Calls counted per thread", "calls",
        seed={"threads": "name, CPU, state, calls"}),
    "G-7": entry(
        "Table of calls: time, calls, errors, in the columns of strace -c", "",
        seed={"futex": "31 960 calls, 922 errors, 87 us each", "nanosleep": "5 749 calls, 608 us",
              "write": "1 627 229 calls, 2 us"}),
    "G-8": entry(
        "Futex calls per message", "%",
        "Few messages need a futex call",
        {"test 2": "1.32 %", "test 3": "1.68 %"}),
    "G-9": entry(
        "One CPU for Go against two: futex calls per message", "%",
        "With one CPU the futex calls nearly vanish",
        {"one": "nearly none"}),
    "Q-1": entry(
        "Queue in three builds: malloc per node, tcmalloc, pool", "items/s",
        "tcmalloc saves CPU time beside glibc's malloc",
        {"malloc": "-O2: 13.72 M items/s, 7.92 M items/CPU-s",
         "tcmalloc": "-O2: 13.27 M items/s, 9.31 M items/CPU-s",
         "pool": "-O2: 13.17 M items/s, 7.95 M items/CPU-s"}),
    "Q-2": entry(
        "The compiler's optimization", "times",
        "-O2 is faster than -O0",
        {"malloc": "7.67 to 13.72 M items/s", "pool": "4.60 to 13.17 M items/s"}),
    "Q-3": entry(
        "Wall time and CPU time side by side, never mixed", "items/s, items/CPU-s",
        seed={"note": "the seed divides two variants by CPU time and the third by wall time"}),
    "Q-4": entry(
        "Context switches, migrations, page faults, peak memory, CPUs used", "",
        seed={"malloc": "13 140 switches, 105 801 faults, 425 780 kB, 1.733 CPUs",
              "tcmalloc": "10 593 switches, 208 222 faults, 836 084 kB, 1.426 CPUs",
              "pool": "9 408 switches, 136 207 faults, 547 292 kB, 1.656 CPUs"}),
    "Q-5": entry(
        "Hardware counters", "",
        seed={"cycles": "not supported", "instructions": "not supported"}),
    "Q-6": entry(
        "Yield when the queue is empty", "yields/item",
        seed={"note": "the seed's only way to wait"}),
    "Q-7": entry(
        "Four producers and four consumers, with checks", "items/s",
        seed={"note": "switched off in the seed: not enough cores"}),
    "M-1": entry(
        "Five runs, the first and the last dropped, mean of three", "us/item",
        seed={"runs": "5 of 100 s, 3 kept"}),
    "M-2": entry(
        "Return on CPU time and power: T^2/C and T/P", "glibc = 1",
        "Spinning gives more for the CPU time",
        {"T^2/C": "1.0 VM, 4.5 spins, 2.5 hog"}),
    "M-3": entry(
        "Idle states per CPU", "% of the time",
        seed={"POLL": "10.2 % before, 0.5 % after",
              "C6": "CPU 6 from 13.34 to 99.29 %, CPU 15 from 57.62 to 89.64 %"}),
    "M-4": entry(
        "Time waiting for input and output is not busy time", "% of all CPUs",
        seed={"receive": "35 % on two CPUs, 5 % on one", "transmit": "87 %"}),
    "M-5": entry(
        "CPU time by kind", "% of all CPUs",
        seed={"receiver": "user 28.09, system 54.5, softirq 13.98"}),
    "M-6": entry(
        "What system calls cost", "calls, errors, ms",
        seed={"recvmsg": "615 359 calls, 1 830 errors, avg 0.112 ms, max 0.371",
              "setsockopt": "530 116 calls, 0 errors, avg 0.043 ms",
              "io_uring_enter": "10 519 910 calls, avg 0.007 ms"}),
    "M-7": entry(
        "The lock taken once per batch", "items/s",
        "A batch is faster than single items",
        {"two CPUs": "118.47 to 128.77 Gb/s", "one CPU": "74.39 to 92.42 Gb/s"}),
    "M-8": entry(
        "Distribution of batch sizes", "takes",
        seed={"average": "874.644, from 1 to 1499", "above 1024": "97 418 of 253 592",
              "from 512 to 1024": "102 476", "below 512": "53 698"}),
    "M-9": entry(
        "How large a ring must be: rate times wake latency", "slots",
        seed={"ring": "200 Gb/s x 0.1 ms = 2.5 MB, doubled, then 4096 x 4 kB"}),
    "M-10": entry(
        "Take one at a time, or all that is there", "items/s",
        "Taking all is faster than taking one",
        {"gain": "512 kB to 64 MB reads: 30 %"}),
    "M-11": entry(
        "Profiles side by side with the rate in the title", "",
        seed={"example": "118.47 against 128.77 Gb/s"}),
    "M-12": entry(
        "The environment written down", "",
        seed={"items": "kernel, patches, sysctls, rings"}),
    "M-13": entry(
        "One core or two", "us/item",
        seed={"note": "application and soft interrupt together"}),
}

IDS = list(ENTRIES)
