/* SPDX-License-Identifier: MIT */
/*
 * The calling thread goes to another CPU, and is then as free as before. Eight or nine system
 * calls; 20 to 60 us where the other CPU has halted.
 *
 * A mask of one CPU moves it at once; the mask from before follows. Where that is all that the
 * thread's cpuset allows, the last mask is all ones: the kernel keeps a mask that was set by hand,
 * cut down to the cpuset, and one of all ones follows whatever the cpuset becomes. Linux 6.2 and
 * later do so (user_cpus_ptr in kernel/sched/core.c); before, a change of the cpuset overwrites the
 * mask in any case.
 *
 * Signals are blocked meanwhile, so that no handler runs with the mask of one CPU and no child of
 * its fork() inherits that. What is not kept: a mask that another process sets between a reading
 * and the next write or before the second reading; one equal to the cpuset's, which becomes "all
 * that the cpuset allows"; CPUs in it that are offline. docs/design/placement.md, "Limits".
 */
#ifndef IW_OS_MOVE_H
#define IW_OS_MOVE_H

#include <stdbool.h>

/*
 * To another CPU than the current one, the next in the thread's mask; false if it may not run on
 * another, is of a real-time or deadline class, or the calls are forbidden (os/calls.h).
 */
bool iw_move_away(void);

/*
 * More threads want to run, of all programs, than the machine has CPUs, by the kernel's own count;
 * false where it does not tell, and then it is not asked again. Opens and closes a small file, the
 * first time two: 10 us.
 */
bool iw_move_into_crowd(void);

/*
 * Threads of the process are within a move, whose calls the program's next filter may forbid. Asked
 * after iw_calls_begin_filter(): no other begins then.
 */
bool iw_moves_under_way(void);

/* In a child of fork(2), which has none of these threads. */
void iw_moves_forget(void);

/* To @cpu; false as above, or if it may not run there. */
bool iw_move_to(unsigned cpu);

#endif
