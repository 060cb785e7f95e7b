/* SPDX-License-Identifier: MIT */
/*
 * Apart, or as the scheduler has it? A thread that waits beside its waker, on one CPU, and not for
 * long, had better be on another and spin. Whether that pays only a trial tells, since other
 * programs want the CPUs too: the thread moves, and after some waits it keeps the place in which
 * its waits were shorter.
 *
 * Each failed trial makes the next one of the process rarer, until there are none. One that cannot
 * begin, or that the scheduler undoes by putting the thread back, makes the next one of the thread
 * rarer.
 *
 * Arithmetic on the struct, any content of which is legal, and two words of the process. Times in
 * ns.
 */
#ifndef IW_POLICY_MIGRATION_H
#define IW_POLICY_MIGRATION_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/policy.h>

#include "os/thread.h"

enum iw_move {
	IW_STAY,
	IW_LEAVE,  /* for another CPU: a trial begins */
	IW_RETURN, /* to m->home: the trial has failed */
	IW_KEEP,   /* stay: the trial has ended, and the waits are shorter */
	IW_UNDONE, /* stay: the trial has ended without an answer */
};

/* Nothing to do in this wait: it is not beside its waker, which ends a row, and no trial. */
static inline bool iw_migration_is_idle(struct iw_migration *m, bool beside)
{
	if (beside || m->home)
		return false;
	m->row = 0;
	return true;
}

/*
 * No trial can begin yet, so that waits need not be timed. A time further ahead than any pause
 * comes from a counter that stepped back.
 */
bool iw_migration_pauses(const struct iw_migration *m, uint64_t now);

/*
 * A wait is about to spin or sleep, at @now, @beside its waker or not. @window_ns: the longest
 * spin. IW_LEAVE: a trial is to begin. The second function is asked before each wait of a trial
 * does anything: all answers except IW_STAY end it. Of a move the caller tells whether it could be
 * made, and which CPU the thread left.
 */
enum iw_move iw_migration_begin(struct iw_migration *m, bool beside, uint64_t window_ns,
				uint64_t now);
enum iw_move iw_migration_judge(struct iw_migration *m, uint64_t now);
void iw_migration_moved(struct iw_migration *m, bool moved, unsigned from, uint64_t now);

/* The trial does not begin now: others want the CPUs, or the wait has no time for it. */
void iw_migration_put_off(struct iw_migration *m, uint64_t now);

/*
 * A thread of this process leaves @cpu at @at_ns of iw_clock_common(), or could not. A waiter that
 * finds a stamp from before that, with that CPU, does not know any more that its waker is there. At
 * @now_ns: what is older than 10 ms is forgotten, as the stamp then says more.
 */
void iw_migration_note_left(unsigned cpu, uint64_t at_ns);
void iw_migration_forget_left(void);
bool iw_migration_may_have_left(unsigned cpu);
bool iw_migration_left(unsigned cpu, const struct ipcwait_window *w, uint64_t now_ns);

/* A wait has ended, after @ns. */
void iw_migration_end(struct iw_migration *m, uint64_t ns);

/* A trial is under way: waits that are not beside the waker count too. */
static inline bool iw_migration_on_trial(const struct iw_migration *m)
{
	return m->home != 0;
}

#endif
