/* SPDX-License-Identifier: MIT */
/*
 * A kernel that does what the test says, under the real lib/sync, lib/engine and what is below.
 * Linked instead of lib/os. For one thread: what other threads do happens inside the calls
 * below, from the functions that the test hangs in.
 *
 * Time is virtual: it moves by step_ns with every reading of the clock, and by sleep_ns in
 * every sleep. Ticks are read from the same clock unless counter_trusted is set.
 */
#ifndef TESTS_COMMON_FAKE_OS_H
#define TESTS_COMMON_FAKE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/cpu.h"
#include "os/futex_waitv.h"
#include "os/life.h"

/* The calling thread, after fake_reset(). */
#define FAKE_ID         1000
#define FAKE_BIRTH      (IW_BIRTH_BEGAN + 1 + 7)
#define FAKE_GENERATION 3

/* One futex call, as the kernel got it. */
struct fake_call {
	const uint32_t *word;
	uint32_t value; /* expected, or count */
	int64_t deadline_ns;
	bool private_;
	uint32_t bits;
};

/* One futex_waitv call. */
struct fake_vector {
	struct iw_waitv words[IW_WAITV_MAX];
	unsigned n;
	int64_t deadline_ns;
};

/* What one futex wait does. */
struct fake_step {
	int result;
	int64_t sleep_ns;        /* the clock moves by this before meanwhile() ... */
	void (*meanwhile)(void); /* what others do during the sleep */
	int64_t late_ns;         /* ... and by this after it */
};

struct fake_os {
	int64_t now_ns;
	int64_t clock_ahead_ns; /* of the first time namespace */
	int64_t suspended_ns;   /* boot time is ahead by this */
	int64_t step_ns;
	bool counter_trusted;
	struct iw_cpu_set allowed;      /* to the calling thread, ... */
	struct iw_cpu_set main_allowed; /* ... and to the first, if that is not the same */
	unsigned cpu;
	bool crowded;        /* others want the CPUs */
	bool pinned;         /* the thread cannot be moved */
	uint64_t rseq_field; /* see fake_rseq() */
	uint32_t id, birth;  /* of the calling thread, ... */
	uint32_t process;    /* ... where: the rest of its name, ... */
	uint32_t drawn;      /* ... and its birth before it could be read, or 0 */
	uint32_t generation; /* of its process; 0: the kernel cannot tell */
	enum iw_life life;   /* of any other */
	/* Asked instead of it, if set. */
	enum iw_life (*on_life)(uint32_t id, uint32_t birth);

	const struct fake_step *script; /* a wait beyond its end fails the test */
	unsigned steps;
	/* Asked instead of the script, if set. */
	int (*on_wait)(const struct fake_call *call);

	int woken;              /* what a wake returns at most */
	void (*on_wake)(void);  /* called in a wake, before it returns */
	void (*on_clock)(void); /* called with every reading of the clock */
	void (*on_yield)(void); /* what others do with the CPU in a yield */

	unsigned moves, yields, waits, wakes, clock_readings, mask_readings, file_readings,
		life_readings;
	struct fake_call wait, wake; /* the last of each */

	unsigned vectors; /* futex_waitv calls; they take steps of the script too */
	int vector_error; /* what they return instead, if not 0 */
	struct fake_vector vector; /* the last of them */
};

extern struct fake_os fake;

/* Two CPUs, nothing called yet, the thread's own data as in a new thread. */
void fake_reset(void);

/*
 * From now on there is rseq, for the calling thread: clearing fake.rseq_field is what the
 * kernel does to a thread that it switches out.
 */
void fake_rseq(void);

/* What the CPU of tests/common/arch counts; the tests on it define it. */
uint64_t fake_ticks(void);

/* And where its thread pointer points to. */
char *fake_thread_pointer(void);

/* The waits to come. */
void fake_script(const struct fake_step *steps, unsigned n);

#define FAKE_SCRIPT(steps) fake_script(steps, sizeof(steps) / sizeof((steps)[0]))

#endif
