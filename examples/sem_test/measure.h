/* SPDX-License-Identifier: MIT */
/*
 * What a run costs: time, CPU time, context switches, futex calls, interrupts.
 *
 * Each is read before and after and subtracted.
 */
#ifndef SEM_TEST_MEASURE_H
#define SEM_TEST_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

int64_t measure_now_ns(void);

/* Of the calling thread, by the kernel. */
struct thread_cost {
	int64_t cpu_ns; /* user and system */
	int64_t switches_voluntary;
	int64_t switches_involuntary;
};

void measure_thread(struct thread_cost *cost);
void measure_thread_since(struct thread_cost *cost, const struct thread_cost *before);

/* Of the calling process, by libipcwait. */
struct library_cost {
	uint64_t futex_waits;
	uint64_t futex_wakes;
	uint64_t spun;          /* waits that ended while spinning */
	uint64_t slept;         /* waits that slept */
	uint64_t same_cpu;      /* of them, because the waker was on the same CPU */
	uint64_t block_cost_ns; /* B as it is now, not a difference */
	uint64_t block_samples; /* wakes that B was learned from */
};

/* With fewer samples B is still a table value, at least in part: <ipcwait/stats.h>. */
#define MEASURE_SAMPLES_ENOUGH 32

void measure_library(struct library_cost *cost);
void measure_library_since(struct library_cost *cost, const struct library_cost *before);
void measure_library_add(struct library_cost *sum, const struct library_cost *more);

/* Of the whole machine: interrupts between CPUs. */
struct interrupts {
	bool available; /* the machine reports both */
	int64_t rescheduling;
	int64_t function_calls;
};

void measure_interrupts(struct interrupts *count);
void measure_interrupts_since(struct interrupts *count, const struct interrupts *before);

#endif
