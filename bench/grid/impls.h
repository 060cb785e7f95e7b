/* SPDX-License-Identifier: MIT */
/* Who is compared in several questions, and how dimensions are written. */
#ifndef BENCH_IMPLS_H
#define BENCH_IMPLS_H

#include "../peers/peers.h"
#include "meter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The semaphores of all peers, then libipcwait's other presets. NULL after the last. */
const struct sem_peer *sem_impl(unsigned i);

/* Who counts the futex calls of that semaphore? */
enum futexes futexes_of(const char *impl);

/* Skip @run if there is a reason to: who asks returns at once then. */
bool is_missing(struct bench_run *run, const char *why);

/* A benchmark that is only skipped: @why is the reason. */
void not_there(struct bench_run *run, const void *why);

#define DURATION_SIZE 24

/* "0", "500ns", "2us", "10ms". Returns @text. */
const char *duration(char text[DURATION_SIZE], int64_t ns);

/* Zeroes for @n of @size, on cache lines of their own if @size is a multiple of 128. */
void *zeroes(size_t n, size_t size);

/* The same for one of @size, which lives as long as the program: what a benchmark is about. */
void *zeroes_for_good(size_t size);

/* Two numbers, and whether that is one core: cpu_waker, cpu_waiter, same_core. -1: not known. */
void report_cpus(struct bench_run *run, int waker, int waiter);

/* A reason, or NULL if the calling thread may use two. */
const char *needs_two_cpus(void);

#endif
