/* SPDX-License-Identifier: MIT */
#include "os/rcu.h"
#include "os/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

/*
 * With _LGPL_SOURCE sections are inline: functions of a few lines, which its licence leaves to
 * everybody. It is loaded together with this library, so a thread's record is found at a fixed
 * place, without a call.
 */
#include <urcu/urcu-bp.h>
#include <urcu/call-rcu.h>
extern DECLARE_URCU_TLS(struct urcu_bp_reader *, urcu_bp_reader) IW_TLS_INITIAL_EXEC;

_Static_assert(sizeof(struct iw_rcu_head) == sizeof(struct rcu_head), "liburcu's own");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool ready;

static void before_fork(void)
{
	urcu_bp_call_rcu_before_fork();
	urcu_bp_before_fork();
}

static void after_fork_in_parent(void)
{
	urcu_bp_after_fork_parent();
	urcu_bp_call_rcu_after_fork_parent();
}

static void after_fork_in_child(void)
{
	urcu_bp_after_fork_child();
	urcu_bp_call_rcu_after_fork_child();
}

/*
 * liburcu's thread runs on, and calls functions of this library: neither is unloaded any more. In
 * a program that is linked with both there is nothing to hold.
 */
static void stay_loaded(void)
{
	Dl_info where;
	void *self;

	if (!dladdr(&once, &where))
		return;
	self = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (self)
		(void)dlclose(self);
}

static void begin(void)
{
	stay_loaded();
	ready = urcu_bp_get_default_call_rcu_data() &&
		!pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

bool iw_rcu_ready(void)
{
	int saved_errno = errno;

	(void)pthread_once(&once, begin);
	errno = saved_errno;
	return ready;
}

void iw_rcu_enter(void)
{
	urcu_bp_read_lock();
}

void iw_rcu_leave(void)
{
	urcu_bp_read_unlock();
}

void iw_rcu_retire(struct iw_rcu_head *head, void (*give_back)(struct iw_rcu_head *head))
{
	urcu_bp_call_rcu((struct rcu_head *)head, (void (*)(struct rcu_head *))give_back);
}

void iw_rcu_wait(void)
{
	urcu_bp_barrier();
}
