/* SPDX-License-Identifier: MIT */
/*
 * What the library does around fork(3), in one place: libc knows one handler of it, which is
 * registered when the library is loaded. So a handler that the program registers later runs before
 * it in the parent, and after it in the child, and may use the library.
 *
 * Each part has its place in the enum. Before a fork the parts run from the first to the last, and
 * after it from the last to the first, whatever order the linker has put their objects in.
 */
#ifndef IW_OS_FORK_H
#define IW_OS_FORK_H

#include <stdbool.h>

/*
 * A part that waits for a thread comes before those whose locks that thread may need. Parts that
 * hold nothing come first, and so find all locks free in the child.
 */
enum iw_fork_part {
	IW_FORK_TALLY,        /* preload/tally.c */
	IW_FORK_FILTER,       /* preload/filter.c */
	IW_FORK_PAGE,         /* lib/watch/page.c */
	IW_FORK_HOLD,         /* lib/os/fork_hold.c: a thread that holds fork ends first */
	IW_FORK_RCU,          /* lib/os/rcu.c: a grace period ends first */
	IW_FORK_POOLS,        /* lib/queue/cache.c */
	IW_FORK_EVENTFD,      /* lib/os/eventfd.c */
	IW_FORK_WATCH,        /* lib/os/descriptor_watch.c */
	IW_FORK_WAKE_LATENCY, /* lib/os/wake_latency.c */
	IW_FORK_LIFE,         /* lib/os/life.c: the others ask which process this is */
	IW_FORK_PARTS,
};

/* Each may be NULL. In the child there is one thread. */
struct iw_fork_hooks {
	void (*before)(void);
	void (*in_parent)(void);
	void (*in_child)(void);
};

/*
 * For constructors that call it. In a static program they come before those without a priority,
 * which may register handlers of the program's, or use the library.
 */
#define IW_FORK_CONSTRUCTOR __attribute__((constructor(101)))

/*
 * From now on, until the library is unloaded. To be called by a constructor, once for each part.
 * False: no memory.
 */
bool iw_fork_hook(enum iw_fork_part part, const struct iw_fork_hooks *hooks);

#endif
