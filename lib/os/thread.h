/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_THREAD_H
#define IW_OS_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the library keeps per thread. Plain data in the static TLS block: no allocation
 * and no constructor, so that signal handlers may use it. Only its own thread touches it;
 * a signal handler of that thread may see it half updated, so every value must be legal.
 */
struct iw_thread {
	uint32_t shard;  /* index + 1 of the statistics shard; 0: not chosen yet */
	uint32_t jitter; /* state of the generator that jitters windows */

	/* Its CPUs, as of the last reading. */
	uint64_t cpus_read_at; /* ticks */
	uint32_t cpus;         /* in the affinity mask, 0: not read yet */
	uint32_t cpu_first;    /* the lowest of them */
	bool realtime;         /* in a real-time class */

	/* Where the threads run that it waits for. */
	bool alone;      /* the last contended wait found no second CPU for them ... */
	uint8_t why;     /* ... for this reason, an enum iw_reason */
	uint32_t streak; /* such waits in a row */
	bool parting;    /* it has spun to get away from its waker's CPU */
	uint32_t beside; /* waits in a row with the waker on the same CPU ... */
	uint64_t beside_since; /* ... and ticks at the first of them */

	/* Its spins. */
	uint32_t unprobed;  /* admitted since one was given up to measure a sleep */
	uint32_t harm;      /* lib/policy/harm.h, as it was at harmed_at */
	uint64_t harmed_at; /* ticks when one was broken off */
	uint64_t full_at;   /* ticks when the budget of failed ones is full again */

	/* The wakes it has issued, and the last it has got. */
	uint32_t wakes;      /* sleepers' wakes issued, to time some of them */
	uint64_t woke_at_ns; /* the last of them since its last contended wait, or 0 */
	const void *stamped; /* window of the object whose sleeper it last woke */
	const void *late_on; /* window of the last contended wait, and how long after ... */
	uint64_t late_ns;    /* ... its end the thread ran again */

	/* Who it is, with the generation that this was read in: lib/os/life.c. */
	uint64_t id;
	uint64_t birth;
};

#define IW_TLS_INITIAL_EXEC __attribute__((tls_model("initial-exec")))

extern _Thread_local struct iw_thread iw_thread IW_TLS_INITIAL_EXEC;

#endif
