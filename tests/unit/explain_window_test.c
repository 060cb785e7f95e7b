/* SPDX-License-Identifier: MIT */
/*
 * <ipcwait/explain.h>: what is said about the price of a sleep and about the next wait on an
 * object. Looks for words that a reader needs, not for the exact text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "env/facts.h"
#include "policy/cost.h"
#include "policy/sites.h"
#include "policy/window.h"
#include "watch/observe.h"

#define BATCH 32
#define FIRST 4
#define HERE  0x401000
#define MS    INT64_C(1000000)

static char text[IPCWAIT_EXPLAIN_BYTES];

static const char *explain(const struct ipcwait_window *w)
{
	int n = ipcwait_explain(w, text, sizeof(text));

	CHECK_EQ(n, strlen(text));
	return text;
}

static bool says(const struct ipcwait_window *w, const char *part)
{
	return strstr(explain(w), part);
}

static void check_says(const struct ipcwait_window *w, const char *part)
{
	if (says(w, part))
		return;
	fprintf(stderr, "no '%s' in:\n%s", part, text);
	CHECK(false);
}

static void remember(struct ipcwait_window *w, unsigned n, unsigned bin,
		     uint64_t interval_ns)
{
	while (n--)
		iw_window_record(w, bin, 1, interval_ns);
}

static void tells_the_window(void)
{
	struct ipcwait_window w = { 0 };

	check_says(&w, "no waits are remembered");
	check_says(&w, "little is known");
	check_says(&w, "preset adaptive");
	/* Eleven short waits, then twenty long ones. */
	remember(&w, 11, 0, 0);
	check_says(&w, "longer than 11 of the last 11 waits");
	check_says(&w, "   11  ########################################\n");
	w = (struct ipcwait_window){ 0 };
	remember(&w, 20, IW_BIN_LONG, 0);
	check_says(&w, "does not spin");
	check_says(&w, "the last 20 waits");
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_BLOCK), 0);
	check_says(&w, "never spins");
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_SPIN), 0);
	check_says(&w, "2B");
}

/* Somebody has waited for a semaphore with this window at HERE. */
static void observe(const struct ipcwait_window *w, bool resumable)
{
	static const struct iw_facts watched = { .config = { .explain = true } };

	iw_observe(&watched, &(struct iw_outcome){ .window = w,
						   .site = HERE,
						   .kind = IPCWAIT_KIND_SEM,
						   .resumable = resumable });
}

static void source_of_b(void)
{
	struct ipcwait_window w = { 0 };

	check_says(&w, "(B, from a table)");
	iw_cost_calibrated(3000, 2000);
	check_says(&w, "cost 5.0 us (B, as calibrated)");
	for (int i = 0; i < FIRST; i++) {
		CHECK(!says(&w, "learned"));
		iw_cost_note_waker(1000);
	}
	check_says(&w, "cost 4.0 us (B, in part learned)");
	for (int i = 0; i < FIRST; i++) {
		check_says(&w, "in part learned)");
		iw_cost_note_latency(1500);
	}
	check_says(&w, "cost 2.5 us (B, learned from 4 wakes)");
	for (int i = FIRST; i < BATCH; i++)
		iw_cost_note_latency(1500);
	check_says(&w, "cost 2.5 us (B, learned from 32 wakes)");
	iw_cost_calibrated(9000, 9000);
	check_says(&w, "cost 2.5 us (B, learned from 32 wakes)");
}

/* The other half of it first. */
static void learned_latency_is_a_part(void)
{
	struct ipcwait_window w = { 0 };

	for (int i = 0; i < BATCH; i++)
		iw_cost_note_latency(1500);
	check_says(&w, "in part learned)");
	CHECK(!says(&w, "table"));
}

/* Whose waits a young object goes by. */
static void where_a_young_window_comes_from(void)
{
	const struct iw_site here = { HERE, IPCWAIT_KIND_SEM };
	struct ipcwait_window w = { 0 };

	observe(&w, true);
	for (int i = 0; i < 3; i++) {
		check_says(&w, "as little is known");
		iw_sites_record(&iw_sites, here, 0);
	}
	check_says(&w, "as little is known");
	iw_sites_record(&iw_sites, here, 0);
	check_says(&w, "by the waits at its call site");
	memset(&iw_sites.site, 0, sizeof(iw_sites.site));
	check_says(&w, "by the waits on other objects of its kind");
	/* One that has never been waited for has neither. */
	check_says(&(struct ipcwait_window){ 0 }, "as little is known");
	/* Its own waits decide. */
	remember(&w, 8, 0, 0);
	check_says(&w, "longer than 8 of the last 8 waits");
	memset(&iw_sites, 0, sizeof(iw_sites));
	check_says(&w, "longer than 8 of the last 8 waits");
	remember(&w, 100, IW_BIN_LONG, 0);
	check_says(&w, "does not spin");
}

/* Long waits at the site: it is not said that it will spin. */
static void young_and_long(void)
{
	struct ipcwait_window w = { 0 };

	observe(&w, true);
	for (int i = 0; i < 9; i++)
		iw_sites_record(&iw_sites, (struct iw_site){ HERE, IPCWAIT_KIND_SEM },
				IW_BIN_LONG);
	check_says(&w, "does not spin");
}

/* Whatever its waits are like, a timer is told of only where one would be used. */
static void timers_where_they_are_used(void)
{
	for (unsigned p = IPCWAIT_INHERIT; p <= IPCWAIT_TICKS; p++) {
		struct ipcwait_window w[3] = { 0 };

		for (unsigned i = 0; i < 3; i++) {
			remember(&w[i], 40, IW_BIN_LONG, (uint64_t)MS);
			CHECK_EQ(ipcwait_window_set_preset(&w[i], (enum ipcwait_preset)p),
				 0);
			/* The third is unknown but for its window. */
			if (i < 2)
				observe(&w[i], i);
			CHECK_EQ(says(&w[i], "timer"), p == IPCWAIT_LATENCY && i == 1);
		}
	}
}

static void make_regular(struct ipcwait_window *w)
{
	remember(w, 40, IW_BIN_LONG, (uint64_t)MS);
	CHECK_EQ(ipcwait_window_set_preset(w, IPCWAIT_LATENCY), 0);
}

/* The same with objects, after one wait each: futexes and mutexes never use one. */
static void timers_of_objects(void)
{
	static struct ipcwait_sem s;
	static struct ipcwait_event e;
	static struct ipcwait_mutex m;
	static struct ipcwait_window w;
	static uint32_t word;

	make_regular(&s.window);
	make_regular(&e.window);
	make_regular(&m.window);
	make_regular(&w);
	/* A wait that begins after its deadline is none. */
	do
		CHECK_EQ(ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(MS)),
			 -ETIMEDOUT);
	while (!says(&s.window, "on a timer"));
	do
		CHECK_EQ(ipcwait_event_wait_until(&e, ipcwait_deadline_in_ns(MS)),
			 -ETIMEDOUT);
	while (!says(&e.window, "on a timer"));
	CHECK_EQ(ipcwait_futex_wait(&word, 0, ipcwait_deadline_in_ns(MS), &w, 0),
		 -ETIMEDOUT);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK_EQ(ipcwait_mutex_lock_until(&m, ipcwait_deadline_in_ns(MS)), -ETIMEDOUT);
	CHECK(!says(&m.window, "timer"));
	CHECK(!says(&w, "timer"));
}

/* Its limit is in the histogram's place, and is not shown as one. */
static void haltpoll(void)
{
	struct ipcwait_window w = { 0 };

	remember(&w, 20, 3, 0);
	check_says(&w, "the last 20 waits, by length");
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_HALTPOLL), 0);
	CHECK(!says(&w, "by length"));
	check_says(&w, "now 200000 ns");
	iw_window_set_limit_ns(&w, 50000);
	check_says(&w, "now 50000 ns");
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_TICKS), 0);
	check_says(&w, "two to three ticks");
}

/* What the last line of the reasons says of one of them. */
static uint64_t told(const struct ipcwait_window *w, enum iw_reason reason)
{
	char part[64];
	const char *at;

	snprintf(part, sizeof(part), "  %s: ", iw_reason_name(reason));
	at = strstr(explain(w), part);
	if (!at)
		return 0;
	while (at > text && at[-1] != '\n')
		at--;
	return strtoull(at, NULL, 10);
}

/* Real waits: the explanation and the statistics count the same. */
static void reasons_agree_with_the_statistics(void)
{
	static struct ipcwait_sem s;
	struct ipcwait_stats st;

	for (int i = 0; i < 40; i++)
		CHECK_EQ(ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(i % 4 * 100000)),
			 -ETIMEDOUT);
	CHECK_EQ(ipcwait_window_set_preset(&s.window, IPCWAIT_BLOCK), 0);
	/* A wait that begins after its deadline is none, and not counted. */
	do {
		CHECK_EQ(ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(MS)),
			 -ETIMEDOUT);
		CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	} while (st.reasons[IPCWAIT_REASON_PRESET_BLOCK] < 3);
	CHECK_EQ(st.reasons[IPCWAIT_REASON_PRESET_BLOCK], 3);
	for (unsigned r = IW_NO_REASON + 1; r < IW_REASONS; r++)
		CHECK_EQ(told(&s.window, (enum iw_reason)r), st.reasons[r]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(tells_the_window),
		CHILD_TEST(source_of_b),
		CHILD_TEST(learned_latency_is_a_part),
		CHILD_TEST(where_a_young_window_comes_from),
		CHILD_TEST(young_and_long),
		CHILD_TEST(timers_where_they_are_used),
		CHILD_TEST(timers_of_objects),
		CHILD_TEST(haltpoll),
		CHILD_TEST(reasons_agree_with_the_statistics),
	};

	CHECK_EQ(setenv("IPCWAIT_CALIBRATION", "none", 1), 0);
	CHECK_EQ(setenv("IPCWAIT_EXPLAIN", "1", 1), 0);
	CHECK_EQ(unsetenv("IPCWAIT_POLICY"), 0);
	CHECK_EQ(unsetenv("IPCWAIT_HALTPOLL"), 0);
	iw_facts_forget();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
