/* SPDX-License-Identifier: MIT */
/*
 * Sections and grace periods are liburcu's. Its call_rcu() is not used: its thread takes signals
 * and has the CPU and the class of whoever was first, each child of a fork gets one at once, a
 * fork waits 10 ms for it, and where it cannot be made the process aborts.
 */
#include "os/rcu.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include <ipcwait/base.h>

#include "os/helper.h"
#include "os/pointer.h"
#include "os/seam.h"
#include "os/tell.h"

/*
 * With _LGPL_SOURCE sections are inline: functions of a few lines, which its licence leaves to
 * everybody. A thread's record is found at a fixed place, without a call.
 */
#include <urcu/urcu-bp.h>
#ifdef _LGPL_SOURCE
extern DECLARE_URCU_TLS(struct urcu_bp_reader *, urcu_bp_reader) IW_TLS_INITIAL_EXEC;
#endif

/* From one grace period to the next, in ns: each interrupts the CPUs where other threads run. */
#define NAP_NS 10000000

/* How often one looks who has to wait for another's grace period, in ns. */
#define LOOK_NS 200000

static bool have_hooks;

/* 1: there are sections in this process. */
static struct ipcwait_word32 ready;

/* What nobody takes care of yet: a stack. */
static struct ipcwait_word64 retired;

/* 1: somebody waits for a grace period, gives back, or forks. */
static struct ipcwait_word32 busy;

/* The worker: 1 if there is one; 1 if it sleeps, in the low half the futex. */
static struct ipcwait_word32 started;
static struct ipcwait_word64 asleep;

static void nap(long ns)
{
	struct timespec time = { .tv_nsec = ns };

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void become_busy(void)
{
	uint32_t no = 0;

	/* ORD rcu.A1: acquire, after whoever was before. Pairs with rcu.R1. */
	while (!ipcwait_impl_cas32_acquire(&busy, &no, 1)) {
		nap(LOOK_NS);
		no = 0;
	}
}

static void be_idle(void)
{
	/* ORD rcu.R1: release, before whoever is next. Pairs with rcu.A1. */
	ipcwait_impl_store32_release(&busy, 0);
}

/*
 * What is given back comes after the ends of all sections before; not more: what sections do is
 * not ordered with sections that come later.
 */
static struct ipcwait_word64 ended;

#if IW_RCU_TELLS
static void note_end(void)
{
	/* ORD rcu.R2: release, so it comes before what is given back. Pairs with rcu.A2. */
	(void)ipcwait_impl_add64_release(&ended, 1);
}

static void note_grace(void)
{
	/* ORD rcu.A2: acquire, the sections are over. Pairs with rcu.R2. */
	(void)ipcwait_impl_load64_acquire(&ended);
}
#else
static void note_end(void)
{
	iw_tell_releases(&ended);
}

static void note_grace(void)
{
	iw_tell_acquired(&ended);
}
#endif

static void give_back_all(void)
{
	struct iw_rcu_head *head;
	uint64_t all;

	become_busy();
	/* ORD rcu.S1: sees what was retired. Pairs with rcu.S2. */
	all = ipcwait_impl_swap64_seq_cst(&retired, 0);
	if (all) {
		urcu_bp_synchronize_rcu();
		note_grace();
	}
	head = iw_pointer(all);
	while (head) {
		struct iw_rcu_head *next = head->next;

		head->give_back(head);
		head = next;
	}
	be_idle();
}

/* Whoever retires something afterwards sees that it sleeps, or it sees that. */
static void sleep_until_needed(void)
{
	/* ORD rcu.S3: before the look at what is retired. Pairs with rcu.S4. */
	(void)ipcwait_impl_or64_seq_cst(&asleep, 1);
	/* ORD rcu.S5: after it has said so. Pairs with rcu.S2. */
	if (!ipcwait_impl_load64_seq_cst(&retired))
		(void)iw_futex_wait((const uint32_t *)&asleep, 1, INT64_MAX, true);
	/* ORD rcu.X1: relaxed, no order needed: a wake too many does nothing. */
	ipcwait_impl_store64_relaxed(&asleep, 0);
}

static void *work(void *unused)
{
	for (;;) {
		give_back_all();
		nap(NAP_NS);
		sleep_until_needed();
	}
	return unused;
}

/* There is something for the worker. Without one this thread does it. */
static void call_worker(void)
{
	uint32_t no = 0;

	/* ORD rcu.S4: after something was retired. Pairs with rcu.S3. */
	if (ipcwait_impl_load64_seq_cst(&asleep)) {
		/* ORD rcu.X2: relaxed, no order needed, as rcu.X1. */
		ipcwait_impl_store64_relaxed(&asleep, 0);
		(void)iw_futex_wake((const uint32_t *)&asleep, 1, true);
	}
	/* ORD rcu.X3: relaxed, no order needed: one of those who find none makes it. */
	if (ipcwait_impl_load32_relaxed(&started) ||
	    !ipcwait_impl_cas32_relaxed(&started, &no, 1) ||
	    !iw_helper_start(work, NULL, 0))
		return;
	ipcwait_impl_store32_relaxed(&started, 0);
	give_back_all();
}

/* A grace period that is under way ends first: then nothing is between two owners. */
static void before_fork(void)
{
	/* ORD rcu.X4: relaxed, no order needed: a thread that has sections has set it. */
	if (!ipcwait_impl_load32_relaxed(&ready))
		return;
	become_busy();
	urcu_bp_before_fork();
}

static void after_fork(void)
{
	/* ORD rcu.X5: relaxed, no order needed, as rcu.X4. */
	if (!ipcwait_impl_load32_relaxed(&ready))
		return;
	urcu_bp_after_fork_parent();
	be_idle();
}

/* It has no worker until it retires something itself. */
static void after_fork_in_child(void)
{
	/* ORD rcu.X6: relaxed, protected by there being one thread. */
	if (!ipcwait_impl_load32_relaxed(&ready))
		return;
	urcu_bp_after_fork_child();
	ipcwait_impl_store32_relaxed(&started, 0);
	ipcwait_impl_store64_relaxed(&asleep, 0);
	be_idle();
}

/* Before main(), so that hooks of the program run outside of these. */
static __attribute__((constructor)) void hook(void)
{
	have_hooks = !pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

bool iw_rcu_ready(void)
{
	int saved_errno = errno;

	/* ORD rcu.X7: relaxed, no order needed: done twice is done once. */
	if (ipcwait_impl_load32_relaxed(&ready))
		return true;
	if (!have_hooks)
		return false;
	iw_helper_stay_loaded();
	ipcwait_impl_store32_relaxed(&ready, 1);
	errno = saved_errno;
	return true;
}

/* A thread's first section makes its record. */
static void enter_first(void)
{
	int saved_errno = errno;

	urcu_bp_read_lock();
	errno = saved_errno;
}

void iw_rcu_enter(void)
{
#ifdef _LGPL_SOURCE
	if (IPCWAIT_LIKELY(URCU_TLS(urcu_bp_reader))) {
		urcu_bp_read_lock();
		return;
	}
#endif
	enter_first();
}

void iw_rcu_leave(void)
{
	note_end();
	urcu_bp_read_unlock();
}

void iw_rcu_retire(struct iw_rcu_head *head, void (*give_back)(struct iw_rcu_head *head))
{
	int saved_errno = errno;
	/* ORD rcu.X8: relaxed, re-checked by the CAS below. */
	uint64_t first = ipcwait_impl_load64_relaxed(&retired);

	head->give_back = give_back;
	do {
		head->next = iw_pointer(first);
		/* ORD rcu.S2: before the look at the worker. Pairs with rcu.S1 and rcu.S5. */
	} while (!ipcwait_impl_cas64_seq_cst(&retired, &first, (uintptr_t)head));
	/* ORD rcu.X9: relaxed, no order needed: what a child has of its parent nobody calls for. */
	if (!first || !ipcwait_impl_load32_relaxed(&started))
		call_worker();
	errno = saved_errno;
}

void iw_rcu_wait(void)
{
	int saved_errno = errno;

	give_back_all();
	errno = saved_errno;
}
