/* SPDX-License-Identifier: MIT */
/* What calibration is made of: samples, threads of the library's own, pairs of CPUs. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "env/topology.h"
#include "os/private_file.h"
#include "os/usage.h"
#include "os/worker.h"
#include "calibrate/calibrate.h"
#include "calibrate/samples.h"
#include "calibrate/team.h"

static void add(struct iw_series *s, unsigned n, uint64_t ns)
{
	while (n--)
		iw_series_add(s, ns, true);
}

static void test_quantiles(void **state)
{
	struct iw_series s = { .used = 0 };
	struct iw_summary sum;

	(void)state;
	sum = iw_series_sum(&s);
	assert_int_equal(sum.median_ns, 0);
	for (unsigned i = IW_BATCH; i > 0; i--)
		iw_series_add(&s, 100 * i, true);
	iw_series_close(&s);
	sum = iw_series_sum(&s);
	assert_int_equal(sum.p10_ns, 400);
	assert_int_equal(sum.median_ns, 1700);
	assert_int_equal(sum.p90_ns, 2900);
	assert_int_equal(sum.used, IW_BATCH);
	assert_int_equal(sum.discarded, 0);
}

static void test_discarded_samples_do_not_count(void **state)
{
	struct iw_series s = { .used = 0 };
	struct iw_summary sum;

	(void)state;
	add(&s, IW_BATCH_LEAST, 500);
	for (unsigned i = 0; i < 100; i++)
		iw_series_add(&s, 1, false);
	iw_series_close(&s);
	sum = iw_series_sum(&s);
	assert_int_equal(sum.p10_ns, 500);
	assert_int_equal(sum.median_ns, 500);
	assert_int_equal(sum.used, IW_BATCH_LEAST);
	assert_int_equal(sum.discarded, 100);
}

static void test_too_few_samples_are_none(void **state)
{
	struct iw_series s = { .used = 0 };
	struct iw_summary sum;

	(void)state;
	add(&s, IW_BATCH_LEAST - 1, 500);
	iw_series_close(&s);
	sum = iw_series_sum(&s);
	assert_int_equal(sum.median_ns, 0);
	assert_int_equal(sum.used, 0);
	assert_int_equal(sum.discarded, IW_BATCH_LEAST - 1);
	/* The next batch begins anew. */
	add(&s, IW_BATCH_LEAST, 700);
	iw_series_close(&s);
	sum = iw_series_sum(&s);
	assert_int_equal(sum.median_ns, 700);
	assert_int_equal(sum.used, IW_BATCH_LEAST);
}

/* Two of five batches may be anything. */
static void test_the_median_of_batches(void **state)
{
	struct iw_series s = { .used = 0 };

	(void)state;
	for (unsigned i = 0; i < IW_BATCHES; i++) {
		add(&s, IW_BATCH + 5, i < 2 ? 1000000 : 300 + i);
		iw_series_close(&s);
	}
	assert_int_equal(iw_series_sum(&s).median_ns, 304);
	assert_int_equal(iw_series_sum(&s).used, IW_BATCHES * IW_BATCH);
	assert_int_equal(iw_series_sum(&s).discarded, IW_BATCHES * 5);
}

static void test_zero_is_a_sample(void **state)
{
	struct iw_series s = { .used = 0 };

	(void)state;
	add(&s, IW_BATCH, 0);
	iw_series_close(&s);
	assert_int_equal(iw_series_sum(&s).median_ns, 1);
}

static void test_lists(void **state)
{
	static const char *const bad[] = {
		"",     "\n",     ",",     "0,",  "0,,1",
		"-1",   "0-",     "0--1",  "a",   "0 1",
		"8192", "0-8192", "0-1\t", "0x1", "99999999999999999999",
		" 0",   "0;1",
	};
	struct iw_cpu_mask mask = { { 0 } };

	(void)state;
	assert_true(iw_topology_parse_list("0-2,5,8190-8191\n", &mask));
	assert_int_equal(mask.word[0], 0x27);
	assert_int_equal(mask.word[127], UINT64_C(3) << 62);
	memset(&mask, 0, sizeof(mask));
	assert_true(iw_topology_parse_list("7", &mask));
	assert_int_equal(mask.word[0], 0x80);
	/* From high to low is an empty range. */
	memset(&mask, 0, sizeof(mask));
	assert_true(iw_topology_parse_list("5-3", &mask));
	assert_int_equal(mask.word[0], 0);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (iw_topology_parse_list(bad[i], &mask))
			fail_msg("taken: '%s'", bad[i]);
}

/* Two packages of 8 CPUs: pairs of hardware threads, an L2 for four, an L3 for a package. */
static void test_choice(void **state)
{
	struct iw_neighbours n;
	struct iw_cpu_mask allowed = { { 0xffff } };
	struct iw_cpu_pair pair[IPCWAIT_CALIBRATION_PAIRS];

	(void)state;
	memset(&n, 0, sizeof(n));
	n.sharing[IPCWAIT_DISTANCE_CORE].word[0] = 0x3;
	n.sharing[IPCWAIT_DISTANCE_L2].word[0] = 0xf;
	n.sharing[IPCWAIT_DISTANCE_L3].word[0] = 0xff;
	n.sharing[IPCWAIT_DISTANCE_PACKAGE].word[0] = 0xff;
	assert_int_equal(iw_topology_choose(&n, &allowed, pair), 4);
	assert_int_equal(pair[0].distance, IPCWAIT_DISTANCE_L3);
	assert_int_equal(pair[0].cpu_a, 0);
	assert_int_equal(pair[0].cpu_b, 4);
	assert_int_equal(pair[1].distance, IPCWAIT_DISTANCE_L2);
	assert_int_equal(pair[1].cpu_b, 2);
	assert_int_equal(pair[2].distance, IPCWAIT_DISTANCE_OTHER);
	assert_int_equal(pair[2].cpu_b, 8);
	assert_int_equal(pair[3].distance, IPCWAIT_DISTANCE_CORE);
	assert_int_equal(pair[3].cpu_b, 1);

	/* Of what is allowed only. */
	allowed.word[0] = 0x0102;
	assert_int_equal(iw_topology_choose(&n, &allowed, pair), 1);
	assert_int_equal(pair[0].cpu_a, 1);
	assert_int_equal(pair[0].cpu_b, 8);
	assert_int_equal(pair[0].distance, IPCWAIT_DISTANCE_OTHER);
	allowed.word[0] = 0x0003;
	assert_int_equal(iw_topology_choose(&n, &allowed, pair), 1);
	assert_int_equal(pair[0].distance, IPCWAIT_DISTANCE_CORE);
	allowed.word[0] = 0x0100;
	assert_int_equal(iw_topology_choose(&n, &allowed, pair), 0);

	/* Where nothing is known about CPUs, any two will do. */
	allowed.word[0] = 0xff00;
	assert_int_equal(iw_topology_choose(NULL, &allowed, pair), 1);
	assert_int_equal(pair[0].cpu_a, 8);
	assert_int_equal(pair[0].cpu_b, 9);
	assert_int_equal(pair[0].distance, IPCWAIT_DISTANCE_UNKNOWN);
}

/* Where both sources know this machine, they say the same. */
/* Some guests' kernels tell nothing of their caches, and hwloc asks the CPU. */
static bool told(unsigned distance)
{
	return distance == IPCWAIT_DISTANCE_CORE ||
	       access("/sys/devices/system/cpu/cpu0/cache/index0/level", R_OK) == 0;
}

static void test_sources_agree(void **state)
{
	struct iw_neighbours hwloc, sysfs;

	(void)state;
	memset(&hwloc, 0, sizeof(hwloc));
	memset(&sysfs, 0, sizeof(sysfs));
	if (!iw_topology_from_hwloc(0, &hwloc) || !iw_topology_from_sysfs(0, &sysfs))
		skip();
	for (unsigned d = IPCWAIT_DISTANCE_CORE; d <= IPCWAIT_DISTANCE_L3; d++)
		if (hwloc.sharing[d].word[0] && told(d))
			assert_int_equal(hwloc.sharing[d].word[0],
					 sysfs.sharing[d].word[0]);
}

struct seen {
	int cpu;
	cpu_set_t allowed;
	sigset_t blocked;
	int class;
};

static void look_around(void *arg)
{
	struct seen *s = arg;

	s->cpu = sched_getcpu();
	CHECK(sched_getaffinity(0, sizeof(s->allowed), &s->allowed) == 0);
	CHECK(pthread_sigmask(SIG_SETMASK, NULL, &s->blocked) == 0);
	s->class = sched_getscheduler(0);
}

static void test_workers(void **state)
{
	struct iw_cpu_mask mine;
	struct seen seen;
	struct iw_worker w = { .body = look_around, .arg = &seen };

	(void)state;
	iw_cpu_mask_of_thread(&mine);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!iw_cpu_mask_has(&mine, cpu))
			continue;
		assert_int_equal(iw_worker_start(&w, cpu), 0);
		iw_worker_join(&w);
		assert_int_equal(seen.cpu, cpu);
		assert_int_equal(CPU_COUNT(&seen.allowed), 1);
		assert_true(CPU_ISSET(cpu, &seen.allowed));
		assert_int_equal(sigismember(&seen.blocked, SIGUSR1), 1);
		assert_int_equal(seen.class, SCHED_OTHER);
	}
	assert_int_equal(iw_worker_start(&w, 8191), -EINVAL);
	assert_int_equal(iw_worker_start(&w, 8192), -EINVAL);
	assert_int_equal(iw_worker_start(&w, UINT32_MAX), -EINVAL);
}

static void fail_at_once(void *arg)
{
	iw_team_fail(arg, ENOSYS);
}

static void await_for_ever(void *arg)
{
	static struct iw_team_word never;

	CHECK(!iw_team_await(arg, &never, 1));
}

/* A thread that waits for one that has failed, or never was, does not wait long. */
static void test_teams_give_up(void **state)
{
	struct iw_cpu_mask mine;
	struct iw_team team = { .rate = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 } };
	unsigned cpu = 0;
	int r = -EAGAIN;

	(void)state;
	iw_cpu_mask_of_thread(&mine);
	while (!iw_cpu_mask_has(&mine, cpu))
		cpu++;
	team.cpu[0] = team.cpu[1] = cpu;
	/* The first may run out of patience while the second does not get a CPU. */
	for (int i = 0; i < 100 && r == -EAGAIN; i++)
		r = iw_team_run(&team, await_for_ever, fail_at_once, &team);
	assert_int_equal(r, -ENOSYS);
	team.cpu[1] = 8191;
	assert_int_equal(iw_team_run(&team, await_for_ever, fail_at_once, &team), -EAGAIN);
	assert_int_equal(iw_team_run(&team, await_for_ever, NULL, &team), -EAGAIN);
	assert_true(ipcwait_now_ns() >= team.give_up_ns);
	team.cpu[0] = 8191;
	assert_int_equal(iw_team_run(&team, await_for_ever, NULL, &team), -EAGAIN);
}

/* There and back between the first two CPUs. False if there are none, or they are too busy. */
static bool calibrate_by(struct iw_tick_rate rate, struct ipcwait_calibration *c)
{
	struct iw_calibrating how = { .rate = rate, .pairs = 2, .batches = 1 };
	struct iw_cpu_mask mine;
	int r;

	iw_cpu_mask_of_thread(&mine);
	if (iw_topology_pairs(&mine, how.pair) == 0)
		return false;
	how.pair[1] = (struct iw_cpu_pair){ how.pair[0].cpu_b, how.pair[0].cpu_a, 0 };
	memset(c, 0, sizeof(*c));
	r = iw_calibrate(&how, c);
	if (r == -EAGAIN)
		return false;
	assert_int_equal(r, 0);
	assert_int_equal(how.done_ns, how.planned_ns);
	return true;
}

static void test_by_the_clock(void **state)
{
	struct ipcwait_calibration c;

	(void)state;
	if (!calibrate_by(
		    (struct iw_tick_rate){ false, UINT64_C(1) << 32, UINT64_C(1) << 32 },
		    &c))
		skip();
	assert_int_equal(c.counter_one_way, 0);
	assert_int_equal(c.pair_count, 2);
	assert_int_equal(c.pair[1].cpu_a, c.pair[0].cpu_b);
	assert_true(c.pair[1].line_ns > 0 && c.pair[1].latency[0].used > 0);
	/* The long ages of the first pair only. */
	assert_int_equal(c.pair[1].latency[IPCWAIT_IDLE_AGES - 1].used, 0);
	assert_int_equal(c.pair[1].latency[IPCWAIT_IDLE_AGES - 1].discarded, 0);
}

/* Unless the counters of these two CPUs are too far apart. */
static void test_by_the_counter(void **state)
{
	struct iw_tick_rate rate = iw_tick_measure();
	struct ipcwait_calibration c;

	(void)state;
	if (!calibrate_by(rate, &c))
		skip();
	assert_int_equal(c.counter_one_way,
			 rate.counter && llabs(c.counter_offset_ns) <= 200);
}

static void test_usage(void **state)
{
	uint64_t cpu_ns = iw_usage_cpu_ns();

	(void)state;
	errno = 4711;
	assert_int_equal(iw_usage_process(), getpid());
	assert_true(iw_usage_preemptions() <= iw_usage_preemptions());
	for (volatile int i = 0; i < 100000; i++)
		continue;
	assert_true(iw_usage_cpu_ns() > cpu_ns);
	assert_true(iw_usage_steal(0, 1) <= iw_usage_steal(0, 1));
	/* CPUs that are not there: of the whole machine. */
	(void)iw_usage_steal(8190, 8191);
	assert_int_equal(errno, 4711);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_discarded_samples_do_not_count),
		cmocka_unit_test(test_too_few_samples_are_none),
		cmocka_unit_test(test_the_median_of_batches),
		cmocka_unit_test(test_zero_is_a_sample),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_sources_agree),
		cmocka_unit_test(test_workers),
		cmocka_unit_test(test_teams_give_up),
		cmocka_unit_test(test_by_the_clock),
		cmocka_unit_test(test_by_the_counter),
		cmocka_unit_test(test_usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
