/* SPDX-License-Identifier: MIT */
/*
 * One thread that waits for a mutex over the kernel of fake_os.h, sleep by sleep. What others do
 * meanwhile is a function each.
 */
#ifndef TESTS_COMMON_MUTEX_SCRIPT_H
#define TESTS_COMMON_MUTEX_SCRIPT_H

#include <ipcwait/ipcwait.h>

#include "common/fake_os.h"
#include "common/mutex_word.h"

#define SCRIPT_SLEEPS 16

/* What a sleep ends with: as fake_step, but that the time of one that expires is its deadline. */
struct scripted_sleep {
	int result;
	void (*meanwhile)(void);
	int64_t sleep_ns;
};

struct slept {
	struct fake_call call;
	uint64_t word;    /* while it sleeps */
	int64_t began_ns; /* of the clock */
};

extern struct ipcwait_mutex script_mutex;
extern struct slept script_slept[SCRIPT_SLEEPS];
extern unsigned script_sleeps;

/* A new machine, and a mutex of this kind in this state; BLOCK keeps spins away. */
void script_world(unsigned flags, uint64_t word, enum ipcwait_preset preset);

/* The sleeps to come; one more fails the test. */
void script_set(const struct scripted_sleep *sleeps, unsigned n);

#define SCRIPT(sleeps) script_set(sleeps, sizeof(sleeps) / sizeof((sleeps)[0]))

/* How many waits of this process have slept for that reason. */
uint64_t script_slept_for(enum ipcwait_reason reason);

/* Nearly the same time: some readings of the clock apart. */
bool script_about(int64_t is_ns, int64_t want_ns);

/* How long sleep @i was to last, by its alarm. */
int64_t script_alarm_ns(unsigned i);

#endif
