/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "watch/explain.h"
#include "watch/stats.h"
#include "watch/text.h"

/* Room for a kind, or for all reasons: what all that is counted takes has no bound. */
#define TEXT_BYTES 2048
#define TIME_WIDTH 10

static const char *const event_names[IW_EVENTS] = {
	[IW_SPUN] = "waits that ended spinning",
	[IW_SLEPT] = "waits that slept",
	[IW_EXPIRED] = "waits that timed out",
	[IW_INTERRUPTED] = "waits that a signal ended",
	[IW_FUTEX_WAITS] = "system calls to sleep",
	[IW_FUTEX_WAKES] = "system calls to wake",
	[IW_WAKES_AVOIDED] = "wakes avoided",
	[IW_SPUN_USEFUL_NS] = "spun to good purpose",
	[IW_SPUN_WASTED_NS] = "spun in vain",
	[IW_SLEPT_NS] = "asleep",
	[IW_SPINS_PREEMPTED] = "spins preempted",
	[IW_SPINS_STOLEN] = "spins stolen",
	[IW_TIMED_SLEEPS] = "timed sleeps",
};

static uint64_t event_of(const struct ipcwait_stats *st, unsigned kind, unsigned event)
{
	return ((const uint64_t *)&st->kind[kind])[event];
}

static void add_kind(struct iw_text *t, const struct ipcwait_stats *st, unsigned kind)
{
	const char *heading = iw_kind_name((enum ipcwait_kind)kind);

	for (unsigned i = 0; i < IW_EVENTS; i++) {
		uint64_t n = event_of(st, kind, i);

		if (!n)
			continue;
		iw_text_add(t, "  %-6s %-27s", heading, event_names[i]);
		if (i == IW_SPUN_USEFUL_NS || i == IW_SPUN_WASTED_NS || i == IW_SLEPT_NS)
			iw_text_add_time(t, TIME_WIDTH, n);
		else
			iw_text_add(t, "%12" PRIu64, n);
		iw_text_add(t, "\n");
		heading = "";
	}
}

static void add_reasons(struct iw_text *t, const struct ipcwait_stats *st)
{
	const char *heading = "slept because of";

	for (unsigned i = IW_NO_REASON + 1; i < IW_REASONS; i++) {
		if (!st->reasons[i])
			continue;
		iw_text_add(t, "  %-19s%-15s%12" PRIu64 "\n", heading,
			    iw_reason_name((enum iw_reason)i), st->reasons[i]);
		heading = "";
	}
}

/* As far as it goes: one of several pieces. */
static void print(struct iw_text *t)
{
	iw_text_print(t);
	t->length = 0;
}

static void add_awake(struct iw_text *t, const struct ipcwait_stats *st)
{
	if (!st->awake_requests)
		return;
	iw_text_add(t, "libipcwait: asked %" PRIu64 " times that idle CPUs poll, for ",
		    st->awake_requests);
	iw_text_add_time(t, 0, st->awake_ns);
	iw_text_add(t, "\n");
}

/* All kinds together: waits that had to wait. */
static uint64_t count_waits(const struct ipcwait_stats *st)
{
	uint64_t waits = 0;

	for (unsigned k = 0; k < IPCWAIT_KIND_COUNT; k++)
		waits += st->kind[k].spun + st->kind[k].slept + st->kind[k].expired +
			 st->kind[k].interrupted;
	return waits;
}

static void add_beside(struct iw_text *t, const struct ipcwait_stats *st)
{
	uint64_t beside = st->reasons[IPCWAIT_REASON_SAME_CPU];

	if (beside)
		iw_text_add(t,
			    "libipcwait: %" PRIu64 " of %" PRIu64
			    " waits began on the CPU of their waker\n",
			    beside, count_waits(st));
}

/* The threads run meanwhile, so a trial may end between two of the readings. */
void iw_stats_add_moves(struct iw_text *t)
{
	uint64_t kept = iw_moves_total(IW_MOVES_KEPT);
	uint64_t back = iw_moves_total(IW_MOVES_BACK);
	uint64_t undone = iw_moves_total(IW_MOVES_UNDONE);
	uint64_t apart = iw_moves_total(IW_MOVES_APART), ended = kept + back + undone;

	iw_text_add(t,
		    "moved threads %" PRIu64 " times away from their waker's CPU: %" PRIu64
		    " kept, %" PRIu64 " back, %" PRIu64 " undone",
		    apart, kept, back, undone);
	if (apart > ended)
		iw_text_add(t, ", %" PRIu64 " on trial", apart - ended);
}

static void add_moves(struct iw_text *t, const struct ipcwait_stats *st)
{
	if (!st->moves_apart)
		return;
	iw_text_add(t, "libipcwait: ");
	iw_stats_add_moves(t);
	iw_text_add(t, "\n");
}

void iw_stats_print(void)
{
	char bytes[TEXT_BYTES];
	struct iw_text t = { .bytes = bytes, .room = sizeof(bytes) };
	struct ipcwait_stats st;

	if (ipcwait_stats_get(&st, sizeof(st)) < 0)
		return;
	iw_text_add(&t, "libipcwait: a sleep and its wake cost ");
	iw_text_add_time(&t, 0, st.block_cost_ns);
	iw_text_add(&t, ", %" PRIu64 " wakes learned from, %" PRIu64 " CPUs\n",
		    st.block_samples, st.usable_cpus);
	print(&t);
	for (unsigned k = 0; k < IPCWAIT_KIND_COUNT; k++) {
		add_kind(&t, &st, k);
		print(&t);
	}
	add_reasons(&t, &st);
	print(&t);
	add_awake(&t, &st);
	print(&t);
	add_beside(&t, &st);
	add_moves(&t, &st);
	print(&t);
}
