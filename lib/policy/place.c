/* SPDX-License-Identifier: MIT */
#include "os/seam.h"
#include "policy/place.h"

/* Long enough for two ticks of the kernel, at which it balances, in ns: 4 ms each at 250 Hz. */
#define PART_NS 8000000

/*
 * A thread has to find itself beside its waker this often in a row, and within this time, in
 * ns: hand-offs are frequent, and there is something to gain. (Waits of 1 ms that parted took
 * half as much CPU time again.)
 */
#define TIMES     16
#define WITHIN_NS 4000000

/*
 * And for so long, in ns. A try that is in vain, because other programs keep the other CPUs busy,
 * then costs a short life nothing and a longer one 4 % (wait_bench start: 5000 hand-offs took 1.6
 * times as long where the first try came at once).
 */
#define BESIDE_NS UINT64_C(200000000)

/*
 * The process tries once in this time, in ns, and half as often after each try that did not
 * help, down to once in 64 times that: where another program keeps the other CPUs busy, it
 * never helps. At most 4 % of the time, in the end 0.06 %.
 */
#define INTERVAL_NS  UINT64_C(200000000)
#define DOUBLED_MOST 6

static struct ipcwait_word64 until;   /* ticks: the end of the last try */
static struct ipcwait_word32 in_vain; /* tries since one helped */

static uint64_t interval(const struct iw_facts *facts, uint32_t tries)
{
	uint32_t doubled = tries < DOUBLED_MOST ? tries : DOUBLED_MOST;

	return iw_tick_from_ns(&facts->rate, INTERVAL_NS << doubled);
}

/* At that rate so far, of two times at least. */
static bool frequent(const struct iw_facts *facts, const struct iw_beside *b, uint64_t now)
{
	uint64_t within = iw_tick_from_ns(&facts->rate, WITHIN_NS);

	return b->times > 1 && now - b->since <= within * b->times / TIMES;
}

/* A thread of the process begins a try. Returns its end, 0 if it is not the time. */
static uint64_t begin(const struct iw_facts *facts, struct iw_beside *b, uint64_t now,
		      uint64_t last)
{
	/* ORD place.X1: relaxed, statistic. */
	uint32_t tries = ipcwait_impl_load32_relaxed(&in_vain);
	uint64_t end = now + iw_tick_from_ns(&facts->rate, PART_NS);

	if (b->times < TIMES || now - b->since < iw_tick_from_ns(&facts->rate, BESIDE_NS) ||
	    (last && now - last < interval(facts, tries)))
		return 0;
	b->times = 0;
	b->parting = true;
	/* ORD place.X2: relaxed, no order needed: of several threads one moves the end. */
	if (!ipcwait_impl_cas64_relaxed(&until, &last, end))
		return 0;
	/* ORD place.X3: relaxed, statistic. */
	(void)ipcwait_impl_add32_relaxed(&in_vain, 1);
	return end;
}

/* What is left of a try that ends at @end; one further off comes from a counter that jumped. */
static uint64_t rest_of(const struct iw_facts *facts, uint64_t end, uint64_t now)
{
	uint64_t rest = end - now;

	return rest <= iw_tick_from_ns(&facts->rate, PART_NS) ? rest : 0;
}

uint64_t iw_place_beside(const struct iw_facts *facts, struct iw_beside *b, uint64_t now)
{
	/* ORD place.X4: relaxed, re-checked by the CAS in begin(). */
	uint64_t end = ipcwait_impl_load64_relaxed(&until);

	if (b->times >= TIMES && !frequent(facts, b, now))
		b->times = 0;
	if (b->times++ == 0)
		b->since = now;
	if (!frequent(facts, b, now))
		return 0;
	if (end <= now)
		end = begin(facts, b, now, end);
	return end ? rest_of(facts, end, now) : 0;
}

void iw_place_apart(struct iw_beside *b)
{
	b->times = 0;
	if (!b->parting)
		return;
	b->parting = false;
	/* ORD place.X5: relaxed, statistic: it helped, so try as soon the next time. */
	ipcwait_impl_store32_relaxed(&in_vain, 0);
}
