/* SPDX-License-Identifier: MIT */
/* Where a select has its memory: on the stack of the caller. */
#include <errno.h>

#include "os/seam.h"
#include "queue/channel_select.h"

/* Most selects have so many cases at most; others take more of the stack. */
#define FEW 8

/* What waits of several cases have taught the thread. */
static _Thread_local struct ipcwait_window thread_window IW_TLS_INITIAL_EXEC;

static int select_few(struct iw_select *me)
{
	struct iw_waitv word[FEW + 1];
	struct iw_place place[FEW];

	me->word = word;
	me->place = place;
	return iw_select_run(me);
}

static __attribute__((noinline)) int select_many(struct iw_select *me)
{
	struct iw_waitv word[IPCWAIT_WAIT_ANY_MAX + 1];
	struct iw_place place[IPCWAIT_WAIT_ANY_MAX];

	me->word = word;
	me->place = place;
	return iw_select_run(me);
}

/* 2^64 divided by the golden ratio. */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/*
 * Which of @n to try first. Selects in a loop are about as many ticks apart, and products of such
 * numbers with a constant can leave some of @n out for long: so the upper half is folded in between
 * two of them.
 */
static unsigned any_of(unsigned n)
{
	uint64_t x = iw_arch_ticks() * GOLDEN;

	x ^= x >> 32;
	return (unsigned)(x * GOLDEN >> 40) % n;
}

int iw_channel_select(struct ipcwait_channel_case *cases, unsigned n, int64_t deadline_ns,
		      struct ipcwait_window *w, uintptr_t site)
{
	struct iw_select me = {
		.base = { .window = w, .deadline_ns = deadline_ns, .site = site },
		.cases = cases,
		.n = n,
	};

	if (n > 1)
		me.first = any_of(n);
	return n <= FEW ? select_few(&me) : select_many(&me);
}

static bool is_valid(const struct ipcwait_channel_case *c)
{
	return !c->channel || (c->elem && (c->op == IPCWAIT_CHANNEL_SEND ||
					   c->op == IPCWAIT_CHANNEL_RECV));
}

int ipcwait_channel_select(struct ipcwait_channel_case *cases, unsigned n,
			   int64_t deadline_ns)
{
	if (!cases || !n || n > IPCWAIT_WAIT_ANY_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < n; i++)
		if (!is_valid(&cases[i]))
			return -EINVAL;
	return iw_channel_select(cases, n, deadline_ns, &thread_window, IW_CALL_SITE);
}
