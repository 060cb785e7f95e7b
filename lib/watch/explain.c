/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <ipcwait/explain.h>

#include "env/facts.h"
#include "policy/cost.h"
#include "watch/explain.h"
#include "watch/objects.h"
#include "policy/mirror.h"
#include "policy/policy.h"
#include "policy/sites.h"
#include "watch/stats.h"
#include "watch/text.h"
#include "policy/window.h"

#define BAR_MOST   40u
#define TIME_WIDTH 5

/* An object as it is explained. */
struct subject {
	uint64_t address;               /* of its window */
	struct ipcwait_window window;   /* a copy */
	const struct iw_object *object; /* NULL: not in the table */
	uint64_t site;                  /* of its last wait; 0: not known */
	bool resumable;                 /* its waits may sleep on a timer */
	uint32_t kind;                  /* enum ipcwait_kind + 1; 0: not known */
	const struct iw_facts *facts;
	enum ipcwait_preset preset;
	uint64_t block_ns;
};

static const char *const preset_names[] = {
	[IPCWAIT_INHERIT] = "inherit",   [IPCWAIT_ADAPTIVE] = "adaptive",
	[IPCWAIT_LATENCY] = "latency",   [IPCWAIT_POWER] = "power",
	[IPCWAIT_SPIN] = "spin",         [IPCWAIT_BLOCK] = "block",
	[IPCWAIT_HALTPOLL] = "haltpoll", [IPCWAIT_TICKS] = "ticks",
};

static uint64_t count_of(const struct subject *s, enum iw_object_count count)
{
	/* ORD explain.X1: relaxed, statistic. */
	return s->object ? ipcwait_impl_load64_relaxed(&s->object->counts[count]) : 0;
}

static uint64_t reason_of(const struct subject *s, unsigned reason)
{
	/* ORD explain.X2: relaxed, statistic. */
	return s->object ? ipcwait_impl_load64_relaxed(&s->object->reasons[reason]) : 0;
}

static void add_heading(struct iw_text *t, const struct subject *s)
{
	char name[IW_OBJECT_NAME_BYTES] = "";

	if (s->object)
		iw_object_get_name(s->object, name);
	iw_text_add(t, "%s with its window at 0x%" PRIx64,
		    s->kind ? iw_kind_name((enum ipcwait_kind)(s->kind - 1)) : "object",
		    s->address);
	if (name[0])
		iw_text_add(t, " \"%s\"", name);
	if (s->site)
		iw_text_add(t, ", last waited for at 0x%" PRIx64, s->site);
	iw_text_add(t, "\n");
}

static void add_cost(struct iw_text *t, const struct subject *s)
{
	enum iw_cost_source source = iw_cost_source(s->facts);
	uint64_t block_ns = iw_cost_block_ns(s->facts, IPCWAIT_ADAPTIVE);

	iw_text_add(t, "  a sleep and its wake cost ");
	iw_text_add_time(t, 0, block_ns);
	if (source == IW_COST_LEARNED)
		iw_text_add(t, " (B, learned from %" PRIu64 " wakes", iw_cost_samples());
	else
		iw_text_add(t, " (B, %s",
			    source == IW_COST_PARTLY_LEARNED ? "in part learned"
			    : source == IW_COST_CALIBRATED   ? "as calibrated"
							     : "from a table");
	iw_text_add(t, "); preset %s", preset_names[s->preset]);
	if (s->block_ns != block_ns) {
		iw_text_add(t, ", to which it is worth ");
		iw_text_add_time(t, 0, s->block_ns);
	}
	iw_text_add(t, "\n");
}

/* Waits that are remembered, and how many of them a threshold of @share would outlast. */
static unsigned remembered(const struct subject *s, unsigned share, unsigned *covered)
{
	unsigned total = 0;

	*covered = 0;
	for (unsigned i = 0; i < IW_BINS; i++) {
		unsigned n = iw_window_count(&s->window, i);

		total += n;
		if (iw_bin_edge(i) <= share)
			*covered += n;
	}
	return total;
}

static void add_timed_sleep(struct iw_text *t, const struct iw_timed_sleep *sleep)
{
	iw_text_add(t, "  long waits are regular: sleeps for ");
	iw_text_add_time(t, 0, sleep->wake_ns);
	iw_text_add(t, " on a timer, then spins until ");
	iw_text_add_time(t, 0, sleep->until_ns);
	iw_text_add(t, " have passed\n");
}

static struct iw_site site_of(const struct subject *s)
{
	return (struct iw_site){ s->site, (enum ipcwait_kind)(s->kind ? s->kind - 1 : 0) };
}

/* What a young object starts from. */
static uint64_t before(const struct subject *s)
{
	return s->kind ? iw_sites_before(&iw_sites, site_of(s)) : 0;
}

static void add_spin(struct iw_text *t, const struct subject *s, unsigned share, bool known)
{
	unsigned covered, total = remembered(s, share, &covered);

	iw_text_add(t, "  spins for ");
	iw_text_add_time(t, 0, iw_of_block(s->block_ns, share));
	if (!known && iw_histogram_total(before(s)) >= IW_FEW_WAITS)
		iw_text_add(t, ", by the waits %s\n",
			    before(s) == iw_sites_of(&iw_sites, site_of(s))
				    ? "at its call site"
				    : "on other objects of its kind");
	else if (covered)
		iw_text_add(t, ", longer than %u of the last %u waits\n", covered, total);
	else
		iw_text_add(t, ", as little is known about its waits\n");
}

static void add_learned(struct iw_text *t, const struct subject *s)
{
	uint32_t state = iw_window_state(&s->window);
	bool known = iw_state_known(state);
	unsigned share = known ? iw_state_share(state)
			       : iw_window_young_share(&s->window, before(s));
	struct iw_timer_cost timer = iw_policy_timer(s->facts, s->block_ns);
	struct iw_timed_plan plan;

	if (share)
		add_spin(t, s, share, known);
	else
		iw_text_add(
			t, "  does not spin: its waits are long, and a sleep costs less\n");
	if (s->preset == IPCWAIT_LATENCY && s->resumable &&
	    iw_window_timed(&s->window, iw_of_block(s->block_ns, share), s->block_ns,
			    &timer, &plan))
		add_timed_sleep(t, &plan.sleep);
}

static void add_choice(struct iw_text *t, const struct subject *s)
{
	/* ORD explain.X7: relaxed, statistic. */
	uint64_t chosen_ns =
		s->object ? ipcwait_impl_load64_relaxed(&s->object->chosen_ns) : 0;

	if (s->preset == IPCWAIT_BLOCK)
		iw_text_add(t, "  never spins, because of the preset\n");
	else if (s->preset == IPCWAIT_SPIN)
		iw_text_add(t,
			    "  spins for 2B or up to the ceiling, because of the preset\n");
	else if (s->preset == IPCWAIT_HALTPOLL)
		iw_text_add(t,
			    "  spins by the kernel's haltpoll rule, now %" PRIu64 " ns\n",
			    iw_haltpoll_ns(&s->facts->config.haltpoll,
					   iw_window_limit_ns(&s->window)));
	else if (s->preset == IPCWAIT_TICKS)
		iw_text_add(t, "  spins for two to three ticks, because of the preset\n");
	else
		add_learned(t, s);
	if (chosen_ns) {
		iw_text_add(t, "  its last window, with the ceiling, was ");
		iw_text_add_time(t, 0, chosen_ns);
		iw_text_add(t, "\n");
	}
}

static void add_bar(struct iw_text *t, const struct subject *s, unsigned bin,
		    unsigned total)
{
	static const char hashes[BAR_MOST + 1] = "########################################";
	unsigned n = iw_window_count(&s->window, bin);
	unsigned length = (n * BAR_MOST + total - 1) / total;
	bool last = bin == IW_BINS - 1;

	iw_text_add(t, last ? "     from" : "    below");
	iw_text_add_time(t, TIME_WIDTH,
			 iw_of_block(s->block_ns, iw_bin_edge(last ? bin - 1 : bin)));
	iw_text_add(t, "%5u%s%.*s\n", n, n ? "  " : "", (int)length, hashes);
}

static void add_histogram(struct iw_text *t, const struct subject *s)
{
	unsigned covered, total = remembered(s, 0, &covered);

	/* Its limit is in the same place. */
	if (s->preset == IPCWAIT_HALTPOLL)
		return;
	if (!total) {
		iw_text_add(t, "  no waits are remembered\n");
		return;
	}
	iw_text_add(t, "  the last %u waits, by length\n", total);
	for (unsigned i = 0; i < IW_BINS; i++)
		add_bar(t, s, i, total);
}

/* What the process does for those whose waker is beside them. */
static void add_moves_of(struct iw_text *t, const struct subject *s)
{
	iw_text_add(t, "                ");
	if (iw_moves_total(IW_MOVES_APART))
		iw_stats_add_moves(t);
	else if (s->facts && iw_policy_moves(s->facts))
		iw_text_add(t, "no thread of this process was moved");
	else
		iw_text_add(t, "no thread of this process may be moved (IPCWAIT_PLACE)");
	iw_text_add(t, "\n");
}

static void add_reasons(struct iw_text *t, const struct subject *s)
{
	for (unsigned i = IW_NO_REASON + 1; i < IW_REASONS; i++) {
		uint64_t n = reason_of(s, i);

		if (!n)
			continue;
		iw_text_add(t, "    %10" PRIu64 "  %s: %s\n", n,
			    iw_reason_name((enum iw_reason)i),
			    iw_reason_sentence((enum iw_reason)i));
		if (i == IW_SAME_CPU)
			add_moves_of(t, s);
	}
}

static void add_totals(struct iw_text *t, const struct subject *s, uint64_t waits)
{
	uint64_t awake = reason_of(s, IW_NO_REASON);

	/* Counted one after the other, so that a thread that runs may be ahead with one. */
	awake = awake < waits ? awake : waits;
	iw_text_add(t, "  %" PRIu64 " of %" PRIu64 " waits ended without a sleep", awake,
		    waits);
	iw_text_add(t, ", %" PRIu64 " gave up\n  ", count_of(s, IW_OBJECT_GAVE_UP));
	iw_text_add_time(t, 0, count_of(s, IW_OBJECT_SPUN_USEFUL_NS));
	iw_text_add(t, " spun to good purpose, ");
	iw_text_add_time(t, 0, count_of(s, IW_OBJECT_SPUN_WASTED_NS));
	iw_text_add(t, " in vain, ");
	iw_text_add_time(t, 0, count_of(s, IW_OBJECT_SLEPT_NS));
	iw_text_add(t, " asleep\n");
	if (waits > awake)
		iw_text_add(t, "  %" PRIu64 " slept, because of\n", waits - awake);
}

static void add_counts(struct iw_text *t, const struct subject *s)
{
	uint64_t waits = count_of(s, IW_OBJECT_WAITS);

	if (waits) {
		add_totals(t, s, waits);
		add_reasons(t, s);
	} else if (s->facts->config.explain || s->object) {
		iw_text_add(t, "  no wait in this process had to wait\n");
	} else {
		iw_text_add(t, "  waits are not counted: it has no name, and "
			       "IPCWAIT_EXPLAIN is not set\n");
	}
}

static void add_subject(struct iw_text *t, struct subject *s)
{
	/* ORD explain.X4: relaxed, statistic. */
	if (s->object) {
		s->kind = ipcwait_impl_load32_relaxed(&s->object->kind);
		s->site = ipcwait_impl_load64_relaxed(&s->object->site);
		s->resumable = ipcwait_impl_load32_relaxed(&s->object->resumable);
	}
	add_heading(t, s);
	if (s->facts) {
		s->preset = iw_policy_preset(s->facts, iw_window_state(&s->window));
		s->block_ns = iw_cost_block_ns(s->facts, s->preset);
		add_cost(t, s);
		add_choice(t, s);
		add_histogram(t, s);
		add_counts(t, s);
	} else {
		iw_text_add(t, "  nothing is known about the machine yet\n");
	}
}

int ipcwait_explain(const struct ipcwait_window *w, char *text, size_t size)
{
	struct iw_text t = { .bytes = text, .room = size };
	struct subject s = { .address = (uintptr_t)w };

	if (!w || (uintptr_t)w % 8 || (!text && size))
		return -EINVAL;
	/* ORD explain.X5: relaxed, statistic: any content is legal. */
	s.window.bins.v = ipcwait_impl_load64_relaxed(&w->bins);
	s.window.state.v = ipcwait_impl_load32_relaxed(&w->state);
	s.object = iw_object_find(&iw_objects, (uintptr_t)w);
	s.facts = iw_facts();
	add_subject(&t, &s);
	return (int)t.length;
}

/* From the copy of the window that the last wait has left. */
static void print_object(const struct iw_object *o)
{
	char bytes[IPCWAIT_EXPLAIN_BYTES];
	struct iw_text t = { .bytes = bytes, .room = sizeof(bytes) };
	struct subject s = { .object = o, .facts = iw_facts() };

	/* ORD explain.X6: relaxed, statistic. */
	s.address = ipcwait_impl_load64_relaxed(&o->address);
	s.window.bins.v = ipcwait_impl_load64_relaxed(&o->bins);
	s.window.state.v = ipcwait_impl_load32_relaxed(&o->state);
	add_subject(&t, &s);
	iw_text_print(&t);
}

void iw_explain_print(void)
{
	char bytes[128];
	struct iw_text t = { .bytes = bytes, .room = sizeof(bytes) };
	/* ORD explain.X8: relaxed, statistic. */
	uint64_t missed = ipcwait_impl_load64_relaxed(&iw_objects.missed);

	for (unsigned i = 0; i < IW_OBJECTS; i++)
		if (iw_object_at(&iw_objects, i))
			print_object(iw_object_at(&iw_objects, i));
	if (missed)
		iw_text_add(&t,
			    "libipcwait: %" PRIu64
			    " waits on other objects are not counted\n",
			    missed);
	iw_text_print(&t);
}
