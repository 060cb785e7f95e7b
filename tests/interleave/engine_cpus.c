/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "env/cpus.c"

/* CPUs that each thread may use. */
static unsigned allowed[MODEL_THREADS_MAX + 1];

struct iw_cpu_set iw_cpu_allowed(bool main_thread)
{
	return (struct iw_cpu_set){ allowed[main_thread ? 0 : model_thread()], 0 };
}

bool iw_realtime(void)
{
	return false;
}

void engine_set_cpus(unsigned cpus)
{
	for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++)
		allowed[i] = cpus;
	process_cpus.v = cpus;
	iw_quota_word.v = 0;
}

/* Notes of the test's own. */
static volatile bool waited_on[2];

static bool several(uint64_t now)
{
	return iw_cpus_several(&engine_usual_facts.rate, now, 0);
}

static void begin_pinned(void)
{
	model_share(pins, sizeof(pins));
	model_name(&pins[0], "pins[0]");
	model_name(&pins[1], "pins[1]");
	waited_on[0] = waited_on[1] = false;
}

static void pin_to(uint32_t cpu)
{
	struct iw_thread *self = iw_self();

	self->cpus = 1;
	self->cpu_first = cpu;
	self->cpus_read_at = ENGINE_NOW;
}

/* Threads 0 and 2 on one CPU, thread 1 on the other. */
static void wait_pinned(unsigned i)
{
	uint32_t cpu = i % 2;

	pin_to(cpu);
	for (unsigned round = 0; round < 2; round++) {
		waited_on[cpu] = true;
		model_assert(!several(ENGINE_NOW + round) || waited_on[!cpu]);
	}
}

static void both_are_found(void)
{
	for (unsigned i = 0; i < 4; i++) {
		pin_to(i % 2);
		model_assert(several(ENGINE_NOW + 2) || i < 2);
	}
}

static void begin_free(void)
{
	engine_watch_quota();
	model_share(&process_cpus, sizeof(process_cpus));
	model_name(&process_cpus, "process_cpus");
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		allowed[i] = 2 + 2 * i;
}

/* The quota is less than two CPUs, once it is known. */
static void wait_free(unsigned i)
{
	uint32_t spinners;
	bool known;

	model_assert(several(ENGINE_NOW + i));
	spinners = iw_cpus_spinners();
	model_assert(spinners == 1 || spinners == 3);
	known = iw_quota().hundredths;
	model_assert(iw_cpus_rationed() || !known);
}

static void last_mask_counts(void)
{
	model_assert(process_cpus.v == 2 || process_cpus.v == 4);
	model_assert(iw_cpus_spinners() == 1 && iw_cpus_rationed());
}

const struct model_scenario engine_cpus[] = {
	{ .name = "cpus: pinned threads",
	  .threads = 3,
	  .about = "two on one CPU, one on another: nobody sees what is not there, "
		   "and in the end all see each other",
	  .begin = begin_pinned,
	  .thread = wait_pinned,
	  .end = both_are_found,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "cpus: masks and quota read again",
	  .threads = 2,
	  .about = "by two threads with different masks: every number is one that was read",
	  .begin = begin_free,
	  .thread = wait_free,
	  .end = last_mask_counts,
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
