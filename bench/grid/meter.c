/* SPDX-License-Identifier: MIT */
#include "meter.h"
#include "../common/clock.h"
#include "../../tools/common/complain.h"
#include "../common/raw_futex.h"

#include <ipcwait/stats.h>
#include <math.h>
#include <sys/resource.h>

static void read_library(struct meter_counts *c)
{
	struct ipcwait_stats st;

	if (ipcwait_stats_get(&st, sizeof(st)) < 0)
		give_up("ipcwait_stats_get() failed");
	for (unsigned i = 0; i < IPCWAIT_KIND_SPACE; i++) {
		c->futex += (double)(st.kind[i].futex_waits + st.kind[i].futex_wakes);
		c->spun += (double)st.kind[i].spun;
		c->slept += (double)st.kind[i].slept;
	}
}

static struct meter_counts read_counts(const struct meter *m)
{
	struct meter_counts c = { 0 };
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	c.switches = (double)u.ru_nvcsw;
	c.preemptions = (double)u.ru_nivcsw;
	if (m->futexes == FUTEXES_IPCWAIT)
		read_library(&c);
	else if (m->futexes == FUTEXES_RAW)
		c.futex = (double)raw_futex_calls();
	return c;
}

void meter_begin(void *meter)
{
	struct meter *m = meter;

	m->before = read_counts(m);
	bench_begin(m->run);
	m->begin_ns = clock_now_ns();
}

static void report_waits(const struct meter *m, const struct meter_counts *c)
{
	double spun = c->spun - m->before.spun, slept = c->slept - m->before.slept;

	if (spun + slept <= 0)
		return;
	bench_counter(m->run, "spun_share", spun / (spun + slept));
	bench_counter(m->run, "slept_share", slept / (spun + slept));
}

void meter_end(void *meter)
{
	struct meter *m = meter;
	double asked = (double)bench_operations(m->run), ops = m->ops > 0 ? m->ops : asked;
	struct meter_counts c;

	m->wall_ns = clock_now_ns() - m->begin_ns;
	bench_end_after(m->run, (int64_t)((double)m->wall_ns * asked / ops));
	c = read_counts(m);
	bench_counter(m->run, "switches_per_op", (c.switches - m->before.switches) / ops);
	bench_counter(m->run, "preemptions_per_op",
		      (c.preemptions - m->before.preemptions) / ops);
	if (m->futexes != FUTEXES_UNKNOWN)
		bench_counter(m->run, "futex_per_op", (c.futex - m->before.futex) / ops);
	report_waits(m, &c);
}
