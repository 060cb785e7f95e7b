/* SPDX-License-Identifier: MIT */
#include "os/rcu.h"
#include "os/seam.h"
#include "os/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

/*
 * With _LGPL_SOURCE sections are inline: functions of a few lines, which its licence leaves to
 * everybody. It is loaded together with this library, so a thread's record is found at a fixed
 * place, without a call.
 */
#include <urcu/urcu-bp.h>
#include <urcu/call-rcu.h>
#ifdef _LGPL_SOURCE
extern DECLARE_URCU_TLS(struct urcu_bp_reader *, urcu_bp_reader) IW_TLS_INITIAL_EXEC;
#endif

_Static_assert(offsetof(struct iw_rcu_head, reserved) == 0 &&
		       sizeof((struct iw_rcu_head){ 0 }.reserved) ==
			       sizeof(struct rcu_head),
	       "liburcu's own");

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

#if IW_RCU_TELLS
/*
 * What is given back comes after the ends of all sections before, and after it was retired; not
 * more: neither what sections do, nor what is retired, is ordered with sections that come later.
 */
static struct ipcwait_word64 ended;

static void note_end(void)
{
	/* ORD rcu.R1: release, so it comes before what is given back. Pairs with rcu.A1. */
	(void)ipcwait_impl_add64_release(&ended, 1);
}

static void give_back_after(struct iw_rcu_head *head)
{
	/* ORD rcu.A1: acquire, the sections are over. Pairs with rcu.R1. */
	(void)ipcwait_impl_load64_acquire(&ended);
	head->give_back(head);
}

static void retire(struct iw_rcu_head *head, void (*give_back)(struct iw_rcu_head *head))
{
	head->give_back = give_back;
	note_end();
	urcu_bp_call_rcu((struct rcu_head *)head,
			 (void (*)(struct rcu_head *))give_back_after);
}

/* ThreadSanitizer's; not in its headers. */
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

/* It allocates what its thread frees, and orders that where nobody sees it. */
static void barrier(void)
{
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	urcu_bp_barrier();
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}
#else
static void note_end(void)
{
}

static void retire(struct iw_rcu_head *head, void (*give_back)(struct iw_rcu_head *head))
{
	urcu_bp_call_rcu((struct rcu_head *)head, (void (*)(struct rcu_head *))give_back);
}

static void barrier(void)
{
	urcu_bp_barrier();
}
#endif

void iw_rcu_leave(void)
{
	note_end();
	urcu_bp_read_unlock();
}

void iw_rcu_retire(struct iw_rcu_head *head, void (*give_back)(struct iw_rcu_head *head))
{
	retire(head, give_back);
}

void iw_rcu_wait(void)
{
	barrier();
}
