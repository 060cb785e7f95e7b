/* SPDX-License-Identifier: MIT */
/*
 * Sections and grace periods are liburcu's. Its call_rcu() is not used: its thread takes signals
 * and has the CPU and the class of whoever was first, each child of a fork gets one at once, a
 * fork waits 10 ms for it, and where it cannot be made the process aborts.
 */
#include "os/rcu.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

#include <ipcwait/base.h>

#include "os/fork.h"
#include "os/helper.h"
#include "os/pointer.h"
#include "os/seam.h"
#include "os/syscall.h"
#include "os/tell.h"
#include "os/worker.h"

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

/*
 * The worker ends when nothing has been retired for so long, in ns, because a process whose other
 * threads have all ended would live on for it. To make another takes some 50 us.
 */
#define IDLE_NS INT64_C(1000000000)

/*
 * This many nested sections of the forking thread say that it has locked liburcu for the fork.
 * There may be two copies of this library, as in a program and in a plugin that is linked
 * statically: they have one liburcu, which can be locked once. Nobody nests sections so deeply
 * otherwise.
 */
#define FORK_SECTIONS 64

static bool have_hooks;

/* 1: there are sections in this process. */
static struct ipcwait_word32 ready;

/* What nobody takes care of yet: a stack. */
static struct ipcwait_word64 retired;

/* 1: a thread waits for a grace period, or forks. */
static struct ipcwait_word32 busy;

/*
 * 1: a thread waits for a grace period or gives back. A fork does not wait for it: who gives back
 * may allocate, and an allocator may have taken its locks for the fork.
 */
static struct ipcwait_word32 giving;

/* What has had its grace period and is not given back yet: the same stack. */
static struct ipcwait_word64 given;

/* The worker: 1 if there is one; 1 if it sleeps, in the low half the futex. */
static struct ipcwait_word64 started;
static struct ipcwait_word64 asleep;

/* Not libc's, which is a cancellation point. */
static void nap(long ns)
{
	struct timespec time = { .tv_nsec = ns };

	(void)iw_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&time, 0, 0, 0);
}

static void take_turn(struct ipcwait_word32 *turn)
{
	uint32_t no = 0;

	/* ORD rcu.A1: acquire, after the thread before. Pairs with rcu.R1. */
	while (!ipcwait_impl_cas32_acquire(turn, &no, 1)) {
		nap(LOOK_NS);
		no = 0;
	}
}

static void end_turn(struct ipcwait_word32 *turn)
{
	/* ORD rcu.R1: release, before the next thread. Pairs with rcu.A1. */
	ipcwait_impl_store32_release(turn, 0);
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

/* liburcu sleeps in poll(2): a thread that was cancelled there would keep liburcu's locks. */
static void await_sections(void)
{
	int cancel = iw_cancel_off();

	urcu_bp_synchronize_rcu();
	iw_cancel_restore(cancel);
	note_grace();
}

static void await_grace(void)
{
	uint64_t all;

	take_turn(&busy);
	/* ORD rcu.S1: sees what was retired. Pairs with rcu.S2. */
	all = ipcwait_impl_swap64_seq_cst(&retired, 0);
	if (all)
		await_sections();
	/* ORD rcu.X7: relaxed, protected by giving, and by busy from a fork. */
	ipcwait_impl_store64_relaxed(&given, all);
	end_turn(&busy);
}

/*
 * The next of those whose grace period is over; NULL: none. A child that a signal handler has
 * forked in the middle has taken them all.
 */
static struct iw_rcu_head *next_given(void)
{
	/* ORD rcu.X9: relaxed, protected by giving, as rcu.X7. */
	uint64_t first = ipcwait_impl_load64_relaxed(&given), next;

	do {
		const struct iw_rcu_head *head = iw_pointer(first);

		next = head ? (uintptr_t)head->next : 0;
		/* ORD rcu.X12: relaxed, protected by giving, as rcu.X7. */
	} while (!ipcwait_impl_cas64_relaxed(&given, &first, next));
	return iw_pointer(first);
}

static void give_back_all(void)
{
	struct iw_rcu_head *head;

	take_turn(&giving);
	await_grace();
	while ((head = next_given()))
		head->give_back(head);
	end_turn(&giving);
}

/*
 * A thread that retires something afterwards sees that it sleeps, or it sees that. False: nobody
 * has for IDLE_NS.
 */
static bool sleep_until_needed(void)
{
	int64_t until_ns = iw_clock_ns() + IDLE_NS;
	int r = 0;

	/* ORD rcu.S3: before the look at what is retired. Pairs with rcu.S4. */
	(void)ipcwait_impl_or64_seq_cst(&asleep, 1);
	/* ORD rcu.S5: after it has said so. Pairs with rcu.S2. */
	if (!ipcwait_impl_load64_seq_cst(&retired))
		do
			r = iw_futex_wait((const uint32_t *)&asleep, 1, until_ns, true);
		while (r == -EINTR);
	/* ORD rcu.X1: relaxed, no order needed: a wake too many does nothing. */
	ipcwait_impl_store64_relaxed(&asleep, 0);
	return r != -ETIMEDOUT;
}

/* A thread that retires something later sees that there is no worker, or the worker sees that. */
static bool may_end(void)
{
	uint64_t no = 0;

	/* ORD rcu.S6: before the look at what is retired. Pairs with rcu.S7. */
	ipcwait_impl_store64_seq_cst(&started, 0);
	/* ORD rcu.S8: after it has said so. Pairs with rcu.S2. */
	if (!ipcwait_impl_load64_seq_cst(&retired))
		return true;
	/* ORD rcu.X10: relaxed, no order needed, as rcu.X3. */
	return !ipcwait_impl_cas64_relaxed(&started, &no, 1);
}

static void *work(void *unused)
{
	do {
		do {
			give_back_all();
			nap(NAP_NS);
		} while (sleep_until_needed());
	} while (!may_end());
	return unused;
}

static bool is_started(void)
{
	/* ORD rcu.S7: after something was retired. Pairs with rcu.S6. */
	return ipcwait_impl_load64_seq_cst(&started);
}

/* There is something for the worker. Without one this thread does it. */
static void call_worker(void)
{
	uint64_t no = 0;

	/* ORD rcu.S4: after something was retired. Pairs with rcu.S3. */
	if (ipcwait_impl_load64_seq_cst(&asleep)) {
		/* ORD rcu.X2: relaxed, no order needed, as rcu.X1. */
		ipcwait_impl_store64_relaxed(&asleep, 0);
		(void)iw_futex_wake((const uint32_t *)&asleep, 1, true);
	}
	/* ORD rcu.X3: relaxed, no order needed: one of those who find none makes it. */
	if (is_started() || !ipcwait_impl_cas64_relaxed(&started, &no, 1) ||
	    !iw_helper_start(work, NULL, 0))
		return;
	ipcwait_impl_store64_relaxed(&started, 0);
	give_back_all();
}

static bool is_ready(void)
{
	/* ORD rcu.X4: relaxed, no order needed: a thread that has sections has set it. */
	return ipcwait_impl_load32_relaxed(&ready);
}

/* This thread has, in this copy of the library or in another. */
static bool has_locked_sections(void)
{
	return urcu_bp_read_ongoing() >= FORK_SECTIONS;
}

static void lock_sections(void)
{
	urcu_bp_register_thread();
	urcu_bp_before_fork();
	for (int i = 0; i < FORK_SECTIONS; i++)
		urcu_bp_read_lock();
}

static void unlock_sections(void (*after_fork)(void))
{
	for (int i = 0; i < FORK_SECTIONS; i++)
		urcu_bp_read_unlock();
	after_fork();
}

/*
 * A grace period that is under way ends first. What is being given back in this moment is lost to
 * the child. Where another copy has locked liburcu, that grace period may be waiting for it.
 */
static void before_fork(void)
{
	if (is_ready() && has_locked_sections())
		unlock_sections(urcu_bp_after_fork_parent);
	take_turn(&busy);
	if (is_ready())
		lock_sections();
}

/* The copy that has locked liburcu last is the first that comes here. */
static void after_fork(void)
{
	if (is_ready() && has_locked_sections())
		unlock_sections(urcu_bp_after_fork_parent);
	end_turn(&busy);
}

/* What the parent has not given back yet is the child's to give back. */
static void retire_given(void)
{
	struct iw_rcu_head *head;

	/* ORD rcu.X11: relaxed, protected by there being one thread. */
	while ((head = next_given())) {
		head->next = iw_pointer(ipcwait_impl_load64_relaxed(&retired));
		ipcwait_impl_store64_relaxed(&retired, (uintptr_t)head);
	}
	ipcwait_impl_store32_relaxed(&giving, 0);
}

/* It has no worker until it retires something itself. */
static void after_fork_in_child(void)
{
	if (is_ready() && has_locked_sections())
		unlock_sections(urcu_bp_after_fork_child);
	/* ORD rcu.X6: relaxed, protected by there being one thread. */
	ipcwait_impl_store64_relaxed(&started, 0);
	ipcwait_impl_store64_relaxed(&asleep, 0);
	retire_given();
	end_turn(&busy);
}

static const struct iw_fork_hooks fork_hooks = {
	.before = before_fork,
	.in_parent = after_fork,
	.in_child = after_fork_in_child,
};

static IW_FORK_CONSTRUCTOR void hook(void)
{
	have_hooks = iw_fork_hook(IW_FORK_RCU, &fork_hooks);
}

/* Not in the middle of a fork, which would unlock afterwards what it has not locked before. */
static void become_ready(void)
{
	take_turn(&busy);
	/* ORD rcu.X5: relaxed, no order needed: done twice is done once. */
	ipcwait_impl_store32_relaxed(&ready, 1);
	end_turn(&busy);
}

bool iw_rcu_ready(void)
{
	int saved_errno = errno;

	if (is_ready())
		return true;
	if (!have_hooks)
		return false;
	iw_helper_stay_loaded();
	become_ready();
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
		/*
		 * ORD rcu.S2: before the look at the worker. Pairs with rcu.S1, rcu.S5 and rcu.S8.
		 */
	} while (!ipcwait_impl_cas64_seq_cst(&retired, &first, (uintptr_t)head));
	/* What a child has of its parent nobody has called for. */
	if (!first || !is_started())
		call_worker();
	errno = saved_errno;
}

void iw_rcu_wait(void)
{
	int saved_errno = errno;

	give_back_all();
	errno = saved_errno;
}
