/* SPDX-License-Identifier: MIT */
/*
 * Waits that never end early: is what is spun in vain bounded? Nobody ever posts. Two forms,
 * each in one thread and in four:
 *
 *   fresh   every wait is on a new semaphore, which knows nothing and would like to spin;
 *           it ends after 200 us by its deadline
 *   short   one semaphore per thread, deadlines after 20 us: too short to learn from, and
 *           to be worth a sleep
 *
 * Allowed are 5 % of the time per thread, and for the process 2.5 % of the time of each
 * usable CPU; above either a burst of 1 ms, and one spin of the longest kind per thread, the
 * one that was under way when the budget ran out. BLOCK, for a fifth of the time, shows what
 * the sleeping itself costs.
 */
#include "../common/clock.h"
#include "../../tools/common/place.h"
#include "row.h"

#include <errno.h>
#include <ipcwait/sem.h>
#include <ipcwait/stats.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { SECONDS, WAITS, WASTED, ALLOWED, CPU_SHARE, COLUMNS };

static const struct column columns[COLUMNS] = {
	[SECONDS] = { "seconds", "seconds", 10, 2 },
	[WAITS] = { "waits", "waits", 10, 0 },
	[WASTED] = { "in vain ms", "spun_wasted_ms", 12, 2 },
	[ALLOWED] = { "allowed ms", "allowed_ms", 12, 2 },
	[CPU_SHARE] = { "CPUs busy", "cpus_busy", 11, 3 },
};

#define THREADS_MOST 4

#define WINDOW_NS  10000000000
#define LEAST_NS   50000000
#define BLOCK_PART 5

/* What docs/design/harm.md and docs/adr/0012 promise of the budget, and the ceiling of a spin. */
#define THREAD_SHARE  0.05
#define CPU_SHARE_ALL 0.025
#define BURST_MS      1
#define SPIN_MOST_MS  0.2

static const struct form {
	const char *name;
	unsigned threads;
	int64_t timeout_ns;
	bool fresh;
} forms[] = {
	{ "fresh, 1 thread", 1, 200000, true },
	{ "fresh, 4 threads", 4, 200000, true },
	{ "short, 1 thread", 1, 20000, false },
	{ "short, 4 threads", 4, 20000, false },
};

#define FORMS (sizeof(forms) / sizeof(forms[0]))

struct worker {
	const struct form *form;
	enum ipcwait_preset preset;
	int64_t end_ns;
	uint64_t waits;
	int64_t cpu_ns;
};

static void make(struct ipcwait_sem *s, enum ipcwait_preset preset)
{
	if (ipcwait_sem_init(s, 0, IPCWAIT_PRIVATE) ||
	    ipcwait_window_set_preset(&s->window, preset))
		give_up("cannot make a semaphore");
}

static void *wait_in_vain(void *arg)
{
	struct worker *w = arg;
	struct ipcwait_sem sem;

	make(&sem, w->preset);
	while (clock_now_ns() < w->end_ns) {
		int r;

		if (w->form->fresh)
			make(&sem, w->preset);
		r = ipcwait_sem_wait_until(&sem,
					   ipcwait_deadline_in_ns(w->form->timeout_ns));
		if (r != -ETIMEDOUT)
			give_up("a wait that cannot end returned %d", r);
		w->waits++;
	}
	w->cpu_ns = clock_thread_cpu_ns();
	return NULL;
}

static double wasted_ms(void)
{
	struct ipcwait_stats st;

	if (ipcwait_stats_get(&st, sizeof(st)) < 0)
		give_up("ipcwait_stats_get() failed");
	return (double)st.kind[IPCWAIT_KIND_SEM].spun_wasted_ns / 1e6;
}

static double allowed_ms(const struct form *f, double seconds)
{
	double spins = f->threads * SPIN_MOST_MS;
	double threads = f->threads * (THREAD_SHARE * seconds * 1e3 + BURST_MS);
	double process = place_cpus(NULL, 0) * CPU_SHARE_ALL * seconds * 1e3 + BURST_MS;

	return fmin(threads, process) + spins;
}

static void run_form(const struct form *f, enum ipcwait_preset preset, int64_t window_ns,
		     struct line *line)
{
	int64_t begin_ns = clock_now_ns(), cpu_ns = 0;
	struct worker workers[THREADS_MOST] = { 0 };
	pthread_t threads[THREADS_MOST];
	double before_ms = wasted_ms(), seconds, waits = 0;

	for (unsigned i = 0; i < f->threads; i++) {
		workers[i].form = f;
		workers[i].preset = preset;
		workers[i].end_ns = begin_ns + window_ns;
		if (pthread_create(&threads[i], NULL, wait_in_vain, &workers[i]))
			give_up("cannot start a thread");
	}
	for (unsigned i = 0; i < f->threads; i++) {
		pthread_join(threads[i], NULL);
		waits += (double)workers[i].waits;
		cpu_ns += workers[i].cpu_ns;
	}
	seconds = (double)(clock_now_ns() - begin_ns) / 1e9;
	line->value[SECONDS][0] = seconds;
	line->value[WAITS][0] = waits;
	line->value[WASTED][0] = wasted_ms() - before_ms;
	line->value[ALLOWED][0] = allowed_ms(f, seconds);
	line->value[CPU_SHARE][0] = (double)cpu_ns / 1e9 / seconds;
}

static void run(struct report *r, const struct options *o)
{
	int64_t window_ns = (int64_t)options_scaled(o, WINDOW_NS, LEAST_NS);

	if (!row_has_two_cpus(r))
		return;
	report_columns(r, columns, COLUMNS);
	for (unsigned i = 0; i < FORMS; i++) {
		struct line *block = report_line(r, forms[i].name, "BLOCK");
		struct line *adaptive = report_line(r, forms[i].name, "ADAPTIVE");

		row_progress(o, "budget", i, FORMS);
		run_form(&forms[i], IPCWAIT_BLOCK, window_ns / BLOCK_PART, block);
		run_form(&forms[i], IPCWAIT_ADAPTIVE, window_ns, adaptive);
		report_bar(r, adaptive->value[WASTED][0] / adaptive->value[ALLOWED][0], 1,
			   "%s: spun in vain / allowed", forms[i].name);
	}
	row_progress(o, "budget", 1, 1);
	report_note(r, "B is %.1f us.", row_block_cost_ns() / 1e3);
}

const struct row row_budget = {
	.name = "budget",
	.what = "10 s of waits that never end early: is spinning bounded?",
	.seconds = 48,
	.one_round = true,
	.run = run,
};
