/* SPDX-License-Identifier: MIT */
/*
 * Memory that other threads may still look at: it is given back when all sections that were under
 * way have ended. liburcu, flavour bp: threads need not register, and a section costs a store and
 * a few loads. In a section nothing sleeps, and no code of the program runs.
 */
#ifndef IW_OS_RCU_H
#define IW_OS_RCU_H

#include <stdbool.h>

/*
 * liburcu is not built with ThreadSanitizer, so what a grace period orders it has to be told: by
 * accesses where this is, else as lib/os/tell.h says.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IW_RCU_TELLS 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define IW_RCU_TELLS 1
#endif
#ifndef IW_RCU_TELLS
#define IW_RCU_TELLS 0
#endif

/* In what is to be given back. */
struct iw_rcu_head {
	struct iw_rcu_head *next;
	void (*give_back)(struct iw_rcu_head *head);
};

/*
 * Before the first section of the process, any number of times. The library stays loaded from then
 * on. False: it cannot be told of forks.
 */
bool iw_rcu_ready(void);

void iw_rcu_enter(void);
void iw_rcu_leave(void);

/*
 * Not in a section. Calls @give_back when all sections have ended that are under way now: in a
 * thread of its own, 10 to 20 ms later as a rule; at once, if there can be no such thread.
 */
void iw_rcu_retire(struct iw_rcu_head *head, void (*give_back)(struct iw_rcu_head *head));

/* Not in a section: returns when all that was retired before is given back. */
void iw_rcu_wait(void);

#endif
