/* SPDX-License-Identifier: MIT */
/*
 * The two threads of a measurement, each on a CPU of its own, that take turns. They run only
 * for one phase, and none waits for the other longer than a phase may take: where one of them
 * gets no CPU time the phase fails, and the caller gets its threads back.
 */
#ifndef IW_CALIBRATE_TEAM_H
#define IW_CALIBRATE_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#include "env/tick.h"
#include "os/seam.h"

/*
 * Looks without a pause and without the clock, which would be part of the measurement: one
 * answer takes some 50 looks between CPUs of one package here.
 */
#define IW_TEAM_FIRST_LOOKS 256

/*
 * How long a phase may take, in ns. Planned are 0.16 s at most; with eight busy loops beside
 * them on two CPUs the usual one takes 0.1 s.
 */
#define IW_TEAM_PATIENCE_NS 2000000000

struct iw_team {
	struct iw_tick_rate rate;
	unsigned cpu[2];
	int64_t give_up_ns; /* on the monotonic clock, which never jumps */
	struct ipcwait_word32
		failed; /* why a thread could not go on, as an errno value, or 0 */
};

/* A word with a cache line of its own. */
struct iw_team_word {
	struct ipcwait_word32 word;
} __attribute__((aligned(IW_ARCH_LINE_BYTES)));

/*
 * Run first(phase) on cpu[0] and, unless it is NULL, second(phase) on cpu[1], and wait until
 * both have returned. Returns 0, or the negative errno of the first failure: -EAGAIN if it is
 * time to give up, or a CPU or a thread is not to be had.
 */
int iw_team_run(struct iw_team *t, void (*first)(void *), void (*second)(void *),
		void *phase);

/* A thread cannot go on; the other stops waiting for it. */
void iw_team_fail(struct iw_team *t, int error);

/* A pause; false if it is time to give up. */
bool iw_team_patient(struct iw_team *t, uint32_t looks);

/* Spin until the other has told @value. False if that takes too long. */
static inline bool iw_team_await(struct iw_team *t, const struct iw_team_word *from,
				 uint32_t value)
{
	uint32_t looks = 0;

	/* ORD team.A1: acquire, for what the other wrote before it told. Pairs with
	 * team.R1. */
	while (ipcwait_impl_load32_acquire(&from->word) != value)
		if (++looks > IW_TEAM_FIRST_LOOKS && !iw_team_patient(t, looks))
			return false;
	return true;
}

static inline void iw_team_tell(struct iw_team_word *to, uint32_t value)
{
	/* ORD team.R1: release, what was measured goes with it. Pairs with
	 * team.A1 and team.A2. */
	ipcwait_impl_store32_release(&to->word, value);
}

/* What the other has told last. */
static inline uint32_t iw_team_look(const struct iw_team_word *from)
{
	/* ORD team.A2: acquire, as team.A1. Pairs with team.R1. */
	return ipcwait_impl_load32_acquire(&from->word);
}

#endif
