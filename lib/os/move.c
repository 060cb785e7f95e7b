/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <ipcwait/impl/word.h>

#include "os/calls.h"
#include "os/cpu.h"
#include "os/cpu_mask.h"
#include "os/file.h"
#include "os/move.h"
#include "os/status.h"
#include "os/syscall.h"

/* A set of signals in the kernel's form. */
#define SIGNALS_BYTES 8

static bool set_mask(const struct iw_cpu_mask *mask)
{
	return !iw_syscall(SYS_sched_setaffinity, 0, sizeof(*mask), (long)mask, 0, 0, 0);
}

static bool same(const struct iw_cpu_mask *a, const struct iw_cpu_mask *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/*
 * The mask that was there, or all ones if it is the cpuset's own: what the kernel makes of all
 * ones tells which that is.
 */
static void restore(const struct iw_cpu_mask *before, struct iw_cpu_mask *scratch)
{
	memset(scratch, 0xff, sizeof(*scratch));
	if (set_mask(scratch)) {
		iw_cpu_mask_of_thread(scratch);
		if (same(scratch, before))
			return;
	}
	(void)set_mask(before);
}

static bool is_empty(const struct iw_cpu_mask *mask)
{
	static const struct iw_cpu_mask none;

	return same(mask, &none);
}

/* Another mask than ours was set meanwhile: it stays. */
static bool go(const struct iw_cpu_mask *before, struct iw_cpu_mask *scratch, unsigned cpu)
{
	struct iw_cpu_mask found;

	memset(scratch, 0, sizeof(*scratch));
	iw_cpu_mask_add(scratch, cpu);
	if (!set_mask(scratch))
		return false;
	iw_cpu_mask_of_thread(&found);
	if (is_empty(&found) || same(&found, scratch))
		restore(before, scratch);
	return true;
}

/* Signals that say that the program cannot go on, or that a filter has trapped a call, stay. */
static uint64_t most_signals(void)
{
	static const int never[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
	uint64_t set = UINT64_MAX;

	for (unsigned i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		set &= ~(UINT64_C(1) << (never[i] - 1));
	return set;
}

static bool go_unseen(const struct iw_cpu_mask *before, unsigned cpu)
{
	uint64_t most = most_signals(), blocked;
	struct iw_cpu_mask scratch;
	bool gone;

	if (iw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&most, (long)&blocked,
		       SIGNALS_BYTES, 0, 0))
		return false;
	gone = go(before, &scratch, cpu);
	(void)iw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&blocked, 0, SIGNALS_BYTES,
			 0, 0);
	return gone;
}

/* Threads within a move. */
static struct ipcwait_word64 moving;

bool iw_moves_under_way(void)
{
	/*
	 * ORD move.S1: seq_cst, behind the word of os/calls.h: either this sees the mover, or the
	 * mover sees that word. Pairs with move.S2 and move.S4.
	 */
	return ipcwait_impl_add64_seq_cst(&moving, 0) != 0;
}

void iw_moves_forget(void)
{
	/* ORD move.X3: relaxed, protected by there being one thread. */
	ipcwait_impl_store64_relaxed(&moving, 0);
}

static bool go_if_allowed(const struct iw_cpu_mask *before, unsigned cpu)
{
	bool gone;

	/* ORD move.S2: seq_cst, before the word of os/calls.h is read. Pairs with move.S1. */
	(void)ipcwait_impl_add64_seq_cst(&moving, 1);
	gone = iw_call_allowed(IW_CALL_MOVE) && go_unseen(before, cpu);
	/* ORD move.S4: seq_cst, all calls are over when it is seen. Pairs with move.S1. */
	(void)ipcwait_impl_add64_seq_cst(&moving, UINT64_MAX);
	return gone;
}

/* Of the classes that the kernel's fair scheduler has, in which CPUs are shared by time. */
static bool is_fair(void)
{
	long class = iw_syscall(SYS_sched_getscheduler, 0, 0, 0, 0, 0, 0);

	if (class >= 0)
		class &= ~(long)SCHED_RESET_ON_FORK;
	return class == SCHED_OTHER || class == SCHED_BATCH || class == SCHED_IDLE;
}

static bool may_move(struct iw_cpu_mask *mask)
{
	if (!iw_call_allowed(IW_CALL_MOVE) || !is_fair())
		return false;
	iw_cpu_mask_of_thread(mask);
	return true;
}

/* The next in the mask after @cpu, round; @cpu itself if there is no other. */
static unsigned next_in(const struct iw_cpu_mask *mask, unsigned cpu)
{
	for (unsigned i = 1; i < IW_CPU_MOST; i++)
		if (iw_cpu_mask_has(mask, (cpu + i) % IW_CPU_MOST))
			return (cpu + i) % IW_CPU_MOST;
	return cpu;
}

bool iw_move_away(void)
{
	unsigned cpu = iw_cpu_current(), next;
	struct iw_cpu_mask mask;

	if (cpu >= IW_CPU_MOST || !may_move(&mask))
		return false;
	next = next_in(&mask, cpu);
	return next != cpu && go_if_allowed(&mask, next);
}

bool iw_move_to(unsigned cpu)
{
	struct iw_cpu_mask mask;

	return may_move(&mask) && iw_cpu_mask_has(&mask, cpu) && go_if_allowed(&mask, cpu);
}

/* Of all CPUs: "0.20 0.18 0.12 3/80 11206", proc_loadavg(5). 0: not known. */
static unsigned long runnable(void)
{
	char text[128];
	const char *at;

	if (iw_file_read("/proc/loadavg", text, sizeof(text)) <= 0)
		return 0;
	at = strchr(text, '/');
	while (at && at > text && at[-1] != ' ')
		at--;
	return at ? strtoul(at, NULL, 10) : 0;
}

static unsigned online(void)
{
	char list[1024];

	return iw_file_read("/sys/devices/system/cpu/online", list, sizeof(list)) > 0
		       ? iw_status_cpus(list).count
		       : 0;
}

/* CPUs that are online, plus 1; 1: that, or what wants to run, is not known. */
static struct ipcwait_word32 known_online;

bool iw_move_into_crowd(void)
{
	/* ORD move.X1: relaxed, hint: threads that come at once all read the file. */
	uint32_t cpus = ipcwait_impl_load32_relaxed(&known_online);
	unsigned long wanted;

	if (!iw_call_allowed(IW_CALL_MOVE) || cpus == 1)
		return false;
	wanted = runnable();
	cpus = !wanted ? 1 : cpus ? cpus : online() + 1;
	/* ORD move.X2: relaxed, hint, as move.X1. */
	ipcwait_impl_store32_relaxed(&known_online, cpus);
	return cpus > 1 && wanted > cpus - 1;
}
