/* SPDX-License-Identifier: MIT */
/*
 * What the engine costs a wait that is satisfied right after one failed try.
 *
 * A second thread posts as soon as it sees that it may; the token arrives about one cache
 * line round trip later. The waiter tells it so, lets a delay pass, and tries once. Where the
 * token is there already the hand-off does not count. Where it is not, the clock runs from
 * before the failed try until the token is taken: by ipcwait_sem_wait(), or, for comparison,
 * by trying again and again on the same semaphore with nothing in between, which is what the
 * bare transfer of the token takes. The difference is the engine: its way in and out, its
 * pause between two looks, its book-keeping.
 *
 * With a short delay the token is still far away and part of the engine's way in costs
 * nothing. The longer the delay, the sooner the token follows the failed try. Judged is the
 * longest delay at which a tenth of the tries still fail: there "right after" is as soon as it
 * can be produced from outside. Both sides read the clock twice, which cancels out.
 *
 * The poster is pinned to a CPU. The waiter begins on another and is free to move.
 */
#include "../common/clock.h"
#include "../../tools/common/place.h"
#include "row.h"

#include <ipcwait/sem.h>
#include <ipcwait/stats.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { FAILED, BARE, ENGINE, OVERHEAD, SPUN, COLUMNS };

static const struct column columns[COLUMNS] = {
	[FAILED] = { "tries failed", "share_of_tries_failed", 14, 2 },
	[BARE] = { "bare ns", "bare_transfer_ns", 10, 0 },
	[ENGINE] = { "engine ns", "engine_ns", 11, 0 },
	[OVERHEAD] = { "overhead ns", "overhead_ns", 13, 0 },
	[SPUN] = { "spun", "share_of_waits_spun", 8, 2 },
};

#define LIMIT_NS 60

#define DELAY_STEP_NS 10
#define DELAYS        31

#define HANDOFFS     4000
#define FAILED_LEAST 0.1
#define CPUS_MOST    1024

/*
 * Where fewer than this share of the waits ended while spinning, or a bare transfer took so long,
 * something else had one of the CPUs. A batch goes on for 20 ms at most: a hundred times what
 * it takes.
 */
#define SPUN_LEAST 0.9
#define BARE_MOST  1000
#define BATCH_NS   20000000

struct pair {
	_Alignas(128) uint64_t ready; /* by the waiter: hand-offs so far */
	_Alignas(128) struct ipcwait_sem sem;
	_Alignas(128) unsigned cpus[CPUS_MOST];
	unsigned n_cpus;
	uint64_t ns[HANDOFFS];
};

static void *poster(void *arg)
{
	struct pair *p = arg;
	uint64_t posted = 0;

	place_on(&p->cpus[1], 1);
	for (;;) {
		if (__atomic_load_n(&p->ready, __ATOMIC_ACQUIRE) == posted)
			continue;
		posted++;
		if (ipcwait_sem_post(&p->sem))
			give_up("ipcwait_sem_post() failed");
	}
	return NULL;
}

static void take_bare(struct ipcwait_sem *s)
{
	while (ipcwait_sem_trywait(s))
		continue;
}

static void take_by_engine(struct ipcwait_sem *s)
{
	while (ipcwait_sem_wait(s))
		continue;
}

static uint64_t spun(void)
{
	struct ipcwait_stats st;

	if (ipcwait_stats_get(&st, sizeof(st)) < 0)
		give_up("ipcwait_stats_get() failed");
	return st.kind[IPCWAIT_KIND_SEM].spun;
}

struct tries {
	uint64_t n, failed;
};

/* The times of the hand-offs whose first try failed go to p->ns. */
static struct tries run_handoffs(struct pair *p, uint64_t n, uint64_t delay_steps,
				 void (*take)(struct ipcwait_sem *s))
{
	int64_t begin_ns, now_ns = clock_now_ns(), end_ns = now_ns + BATCH_NS;
	struct tries t = { 0, 0 };
	uint64_t x = 1;

	for (place_apart(p->cpus, p->n_cpus); t.n < n && now_ns < end_ns; t.n++) {
		__atomic_store_n(&p->ready, p->ready + 1, __ATOMIC_RELEASE);
		x = clock_work(x, delay_steps);
		begin_ns = clock_now_ns();
		if (!ipcwait_sem_trywait(&p->sem))
			continue;
		take(&p->sem);
		now_ns = clock_now_ns();
		p->ns[t.failed++] = (uint64_t)(now_ns - begin_ns) + (x == 0);
	}
	return t;
}

static double share(struct tries t)
{
	return (double)t.failed / (double)t.n;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The mean of the middle half: clocks that tick in 10 ns leave a median no finer than that. */
static double middle_ns(struct pair *p, uint64_t n)
{
	uint64_t first = n / 4, last = n - n / 4;
	double sum = 0;

	qsort(p->ns, n, sizeof(p->ns[0]), compare);
	for (uint64_t i = first; i < last; i++)
		sum += (double)p->ns[i];
	return n ? sum / (double)(last - first) : NAN;
}

static void run_delay(struct pair *p, const struct options *o, uint64_t delay_steps,
		      unsigned round, struct line *line)
{
	uint64_t n = options_scaled(o, HANDOFFS, 200), before;
	struct tries bare, engine;

	n = n < HANDOFFS ? n : HANDOFFS;
	bare = run_handoffs(p, n, delay_steps, take_bare);
	line->value[BARE][round] = middle_ns(p, bare.failed);
	before = spun();
	engine = run_handoffs(p, n, delay_steps, take_by_engine);
	line->value[ENGINE][round] = middle_ns(p, engine.failed);
	line->value[SPUN][round] =
		engine.failed ? (double)(spun() - before) / (double)engine.failed : NAN;
	line->value[FAILED][round] = fmin(share(bare), share(engine));
	line->value[OVERHEAD][round] =
		line->value[ENGINE][round] - line->value[BARE][round];
}

static bool sound(const struct report *r, const struct line *line)
{
	return report_median(r, line->value[FAILED]) >= FAILED_LEAST &&
	       report_median(r, line->value[SPUN]) >= SPUN_LEAST &&
	       report_median(r, line->value[BARE]) <= BARE_MOST;
}

static void judge(struct report *r, struct line *lines[DELAYS])
{
	const struct line *judged = NULL;

	for (unsigned i = 0; i < DELAYS; i++)
		if (sound(r, lines[i]))
			judged = lines[i];
	if (judged)
		report_bar(r, report_median(r, judged->value[OVERHEAD]), LIMIT_NS,
			   "delay of %s: overhead in ns", judged->point);
	else
		report_bar(r, NAN, LIMIT_NS, "overhead in ns: no delay has enough tries");
}

static void start_poster(struct pair *p)
{
	unsigned n = place_cpus(p->cpus, CPUS_MOST);
	pthread_t thread;

	p->n_cpus = n < CPUS_MOST ? n : CPUS_MOST;
	place_two_cores(p->cpus, p->n_cpus);
	if (ipcwait_sem_init(&p->sem, 0, IPCWAIT_PRIVATE) ||
	    pthread_create(&thread, NULL, poster, p))
		give_up("cannot start");
}

static void run(struct report *r, const struct options *o)
{
	double steps_per_ns = (double)clock_steps_per_us() / 1e3;
	struct line *lines[DELAYS];
	static struct pair pair;

	if (!row_has_two_cpus(r))
		return;
	report_columns(r, columns, COLUMNS);
	for (unsigned i = 0; i < DELAYS; i++) {
		char point[24];

		snprintf(point, sizeof(point), "%u ns", i * DELAY_STEP_NS);
		lines[i] = report_line(r, point, "ADAPTIVE");
	}
	start_poster(&pair);
	for (unsigned round = 0; round < r->rounds; round++) {
		row_progress(o, "overhead", round, r->rounds);
		for (unsigned i = 0; i < DELAYS; i++)
			run_delay(&pair, o, (uint64_t)(steps_per_ns * i * DELAY_STEP_NS),
				  round, lines[i]);
	}
	row_progress(o, "overhead", 1, 1);
	judge(r, lines);
}

const struct row row_overhead = {
	.name = "overhead",
	.what = "what the engine adds to a wait that ends at once",
	.seconds = 1,
	.run = run,
};
