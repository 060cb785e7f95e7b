/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_THREAD_H
#define IW_OS_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* Of a thread that shares its CPU: lib/policy/trial.h. Times are in ticks. */
struct iw_trial {
	const void *on;    /* window of what it waits for */
	uint64_t began_at; /* the current turn */
	uint64_t cost
		[2]; /* of a turn of waits that yield, and of those that sleep; 0: not known */
	uint32_t waits; /* in this turn */
	uint32_t left;  /* turns until the other way has one, ... */
	uint32_t apart; /* ... and from that until the next */
	bool better;    /* to sleep */
	bool sleeps;    /* in this turn */
};

/* Where a thread is, beside its partners: lib/policy/migration.h. */
struct iw_migration {
	uint64_t waited_ns;  /* in this turn */
	uint64_t before_ns;  /* of a wait on average, before the move that is on trial */
	uint64_t not_before; /* the next trial */
	uint32_t waits;      /* in this turn */
	uint32_t beside;     /* of these, in a trial, beside the waker all the same */
	uint32_t home;       /* CPU + 1 that it left for a trial; 0: there is none */
	uint8_t row;         /* waits in this turn before a trial; 0: none has begun */
	uint8_t undone;      /* trials in a row that the scheduler has undone */
	bool kept;           /* the last trial was */
};

/* Waits on one object that were only spun for, and not told of yet: lib/watch/observe.h. */
struct iw_untold {
	uint64_t window; /* the object's; 0: none */
	uint64_t site;   /* where they waited */
	uint64_t spun_ns;
	uint32_t waits;
	uint32_t told; /* of before, since the object or the site was another */
	bool all;      /* also if the object has no name */
};

#define IW_UNTOLD_SLOTS 4

/*
 * What the library keeps per thread. Plain data in the static TLS block: no allocation
 * and no constructor, so that signal handlers may use it. Only its own thread touches it;
 * a signal handler of that thread may see it half updated, so every value must be legal.
 */
struct iw_thread {
	uint32_t shard; /* index + 1 of the statistics shard; 0: not chosen yet */

	bool alone; /* the last contended wait found no second CPU for whom it waited for */

	/* Its spins. */
	uint32_t quick;    /* waits that ended while spinning, to learn from some of them */
	uint32_t learned;  /* waits learned from, to record some for their call sites */
	uint32_t unprobed; /* since one was given up to measure a sleep */
	uint64_t credit_full_at; /* lib/policy/credit.h, in ticks */

	/* When it last stood aside, until when and for how long: lib/engine/aside.h. */
	uint64_t aside_until_ns;
	uint32_t aside_ns;

	/* The wakes it has issued, and the last it has got. */
	uint32_t wakes;      /* sleepers' wakes issued, to time some of them */
	uint32_t sleeps;     /* its own, to learn from some of them */
	uint64_t woke_at;    /* the last of them since its last contended wait, or 0 */
	const void *stamped; /* window of the object whose sleeper it last woke */
	const void *late_on; /* window of the last contended wait, and how long after ... */
	uint64_t late_ns;    /* ... its end the thread ran again */

	/* Its waits in the kernel. */
	uint64_t kept_until;   /* no yields before, in ticks: others kept its CPU */
	bool shares_cpu;       /* somebody ran on its CPU when it last yielded, ... */
	struct iw_trial trial; /* ... and whether to sleep is better then */
	const void *vain_on;   /* window of the last whose first look was in vain, ... */
	uint32_t vain;         /* ... and how many in a row, with those left out since */
	const void *spun_on;   /* window of the last that ended while spinning, ... */
	uint64_t spun_ns;      /* ... and how long it took */

	struct iw_migration migration;

	struct iw_untold untold[IW_UNTOLD_SLOTS];

	/* Who it is, with the generation that this was read in: lib/os/life.c. */
	uint64_t id;
	uint64_t birth;
	uint64_t drawn; /* in the place of a birth that it cannot read */
};

#define IW_TLS_INITIAL_EXEC __attribute__((tls_model("initial-exec")))

extern _Thread_local struct iw_thread iw_thread IW_TLS_INITIAL_EXEC;

#endif
