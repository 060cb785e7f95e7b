/* SPDX-License-Identifier: MIT */
/*
 * Active calibration as a program sees it. What it measures depends on the machine, so the
 * bounds are wide; what it may not do is exact.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#ifdef __has_feature
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Exit status of a child to which the machine was too busy. */
#define TOO_BUSY 77

static unsigned usable_cpus(cpu_set_t *set)
{
	CHECK(sched_getaffinity(0, sizeof(*set), set) == 0);
	return (unsigned)CPU_COUNT(set);
}

static bool several(void)
{
	cpu_set_t set;

	return usable_cpus(&set) > 1;
}

static unsigned nth_cpu(unsigned n)
{
	cpu_set_t set;
	unsigned cpu = 0;

	CHECK(n < usable_cpus(&set));
	while (!CPU_ISSET(cpu, &set) || n--)
		cpu++;
	return cpu;
}

static unsigned threads(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned n = 0;
	char line[128];

	CHECK(f != NULL);
	while (fgets(line, sizeof(line), f) && sscanf(line, "Threads: %u", &n) != 1)
		continue;
	fclose(f);
	return n;
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* How many there are when ours are gone. A sanitizer begins with one of its own. */
static unsigned threads_without(void)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, do_nothing, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	return threads();
}

/* A thread that has been joined may still be seen in /proc for a moment. */
static bool gone(void *arg)
{
	return threads() <= *(unsigned *)arg;
}

static void check_latency(const struct ipcwait_wake_latency *l)
{
	if (!l->used) {
		CHECK_EQ(l->median_ns, 0);
		return;
	}
	CHECK(l->p10_ns <= l->median_ns && l->median_ns <= l->p90_ns);
	CHECK(l->p10_ns >= 100 && l->median_ns <= 100000000);
	CHECK(l->waker_ns >= 1 && l->waker_ns <= 100000000);
}

static void check_plausible(const struct ipcwait_calibration *c)
{
	CHECK_EQ(c->size, sizeof(*c));
	CHECK(c->pause_ps >= 100 && c->pause_ps <= 10000000);
	CHECK(c->line_ns >= 5 && c->line_ns <= 1000000);
	CHECK(c->empty_wake_ns >= 20 && c->empty_wake_ns <= 1000000);
	CHECK(c->latency_ns >= 100 && c->latency_ns <= 100000000);
	CHECK(c->waker_ns >= 1 && c->waker_ns <= 100000000);
	CHECK(c->sleeper_cpu_ns <= 10000000);
	CHECK(c->timer_ns <= c->timer_p90_ns && c->timer_p90_ns <= 1000000000);
	CHECK(c->block_ns > c->waker_ns && c->block_ns <= c->waker_ns + c->latency_ns);
	CHECK(c->counter_one_way <= 1);
	CHECK_EQ(c->is_from_cache, 0);
	CHECK(c->samples_used >= 100);
	CHECK(c->measured_at_s > 1700000000);
	CHECK(c->pair_count >= 1 && c->pair_count <= IPCWAIT_CALIBRATION_PAIRS);
	CHECK_EQ(c->reserved0, 0);
	for (unsigned i = 0; i < c->pair_count; i++) {
		CHECK(c->pair[i].cpu_a != c->pair[i].cpu_b);
		CHECK(c->pair[i].line_ns > 0);
		for (unsigned k = 0; k < IPCWAIT_IDLE_AGES; k++)
			check_latency(&c->pair[i].latency[k]);
	}
}

static void on_signal(int number)
{
	(void)number;
}

/* Must succeed, but for the one error that is no fault of the library. */
static void calibrate(const struct ipcwait_calibrate_params *params,
		      struct ipcwait_calibration *c)
{
	int r = ipcwait_calibrate(params, c);

	if (r == -EAGAIN)
		_exit(TOO_BUSY);
	CHECK_EQ(r, 0);
}

struct watched {
	pthread_t caller;
	uint32_t calls, last, total;
};

static void watch(void *arg, uint32_t done, uint32_t total)
{
	struct watched *w = arg;

	CHECK(pthread_equal(w->caller, pthread_self()));
	CHECK(done >= w->last && done <= total);
	CHECK(w->total == 0 || w->total == total);
	w->total = total;
	w->last = done;
	w->calls++;
}

/* The one that measures, and then what it left behind. */
static void measures_and_leaves_no_trace(void)
{
	struct watched w = { .caller = pthread_self() };
	const struct ipcwait_calibrate_params params = {
		.progress = watch,
		.progress_arg = &w,
	};
	struct ipcwait_calibration c, used;
	struct ipcwait_stats st;
	cpu_set_t before, after;
	sigset_t mask, mask_after;
	unsigned others = threads_without();

	CHECK(usable_cpus(&before) > 1);
	signal(SIGUSR1, on_signal);
	CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
	errno = 4711;
	calibrate(&params, &c);
	CHECK_EQ(errno, 4711);
	check_plausible(&c);

	CHECK(w.calls > 10 && w.last == w.total);
	usable_cpus(&after);
	CHECK(CPU_EQUAL(&before, &after));
	CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask_after) == 0);
	CHECK(memcmp(&mask, &mask_after, sizeof(mask)) == 0);
	CHECK(check_eventually(gone, &others));

	CHECK_EQ(ipcwait_calibration_get(&used), 0);
	CHECK(memcmp(&c, &used, sizeof(c)) == 0);
	CHECK(ipcwait_stats_get(&st, sizeof(st)) > 0);
	CHECK_EQ(st.block_cost_ns, c.block_ns);
	CHECK_EQ(st.kind[IPCWAIT_KIND_FUTEX].futex_waits, 0);
}

/* The argument of the process that finds a saved calibration. */
#define LOADED "loaded"

static char saved_path[] = "/tmp/iw-calibrate-XXXXXX";

static void calibrate_and_save(void)
{
	const struct ipcwait_calibrate_params params = {
		.cpu_a = nth_cpu(1),
		.cpu_b = nth_cpu(0),
	};
	struct ipcwait_calibration c;

	calibrate(&params, &c);
	CHECK_EQ(c.pair_count, 1);
	CHECK_EQ(c.pair[0].cpu_a, nth_cpu(1));
	CHECK_EQ(c.pair[0].cpu_b, nth_cpu(0));
	CHECK_EQ(ipcwait_calibration_save(&c), 0);
}

/* In a process that began when another had calibrated. */
static int check_loaded(void)
{
	struct ipcwait_calibration c;

	CHECK_EQ(ipcwait_calibration_get(&c), 0);
	CHECK_EQ(c.is_from_cache, 1);
	c.is_from_cache = 0;
	check_plausible(&c);
	CHECK_EQ(c.pair[0].cpu_a, nth_cpu(1));
	return 0;
}

static void saved_and_loaded_again(void)
{
	char name[] = "calibrate_test", loaded[] = LOADED;
	char *const argv[] = { name, loaded, NULL };
	int fd = mkstemp(saved_path), status;

	CHECK(fd >= 0 && close(fd) == 0 && unlink(saved_path) == 0);
	CHECK(setenv("IPCWAIT_CALIBRATION", saved_path, 1) == 0);
	status = check_in_child(calibrate_and_save);
	if (WEXITSTATUS(status) == TOO_BUSY)
		_exit(TOO_BUSY);
	CHECK_EQ(status, 0);
	if (fork() == 0) {
		(void)execv("/proc/self/exe", argv);
		_exit(EXIT_FAILURE);
	}
	CHECK(wait(&status) > 0);
	CHECK_EQ(unlink(saved_path), 0);
	CHECK_EQ(status, 0);
}

/* On one CPU the waker cannot run while anybody watches. */
static void one_cpu_is_not_supported(void)
{
	struct ipcwait_calibration c, unchanged;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(nth_cpu(0), &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
	memset(&c, 0x5a, sizeof(c));
	unchanged = c;
	CHECK_EQ(ipcwait_calibrate(NULL, &c), -EOPNOTSUPP);
	CHECK(memcmp(&c, &unchanged, sizeof(c)) == 0);
	CHECK_EQ(ipcwait_calibration_get(&c), 0);
	CHECK_EQ(c.samples_used, 0);
	CHECK_EQ(c.block_ns, c.latency_ns + c.waker_ns);
}

static void bad_arguments(void)
{
	struct ipcwait_calibration c;
	struct ipcwait_calibrate_params p = { .cpu_a = nth_cpu(0), .cpu_b = 8191 };
	char room[sizeof(c) + 16];
	void *odd = room + 1 + (8 - (uintptr_t)room % 8);

	CHECK_EQ(ipcwait_calibrate(NULL, NULL), -EINVAL);
	CHECK_EQ(ipcwait_calibrate(NULL, odd), -EINVAL);
	CHECK_EQ(ipcwait_calibrate(&p, &c), -EINVAL);
	p.cpu_b = UINT32_MAX;
	CHECK_EQ(ipcwait_calibrate(&p, &c), -EINVAL);
	p = (struct ipcwait_calibrate_params){ .reserved = 1 };
	CHECK_EQ(ipcwait_calibrate(&p, &c), -EINVAL);
	CHECK_EQ(ipcwait_calibration_get(NULL), -EINVAL);
	CHECK_EQ(ipcwait_calibration_get(odd), -EINVAL);
	CHECK_EQ(ipcwait_impl_calibration_get(&c, 0), -EINVAL);
}

/* Programs that were compiled with an older or a newer header. */
static void other_sizes(void)
{
	struct {
		struct ipcwait_calibration c;
		uint64_t beyond;
	} wide;
	struct {
		struct ipcwait_calibrate_params p;
		uint64_t unknown;
	} params = { .unknown = 1 };

	memset(&wide, 0x5a, sizeof(wide));
	CHECK_EQ(ipcwait_impl_calibration_get(&wide.c, 16), 0);
	CHECK_EQ(wide.c.size, 16);
	CHECK_EQ(wide.c.pause_ps, UINT64_C(0x5a5a5a5a5a5a5a5a));
	CHECK_EQ(ipcwait_impl_calibration_get(&wide.c, sizeof(wide)), 0);
	CHECK_EQ(wide.c.size, sizeof(wide.c));
	CHECK_EQ(wide.beyond, UINT64_C(0x5a5a5a5a5a5a5a5a));
	CHECK_EQ(ipcwait_impl_calibrate(&params.p, sizeof(params), &wide.c, sizeof(wide.c)),
		 -EINVAL);
}

/* A second calibration from within the first's progress function, and one in a child. */
static int second = 1, in_child = 1;

static void calibrate_in_child(void)
{
	struct ipcwait_calibration c;

	calibrate(NULL, &c);
}

static void interfere(void *arg, uint32_t done, uint32_t total)
{
	struct ipcwait_calibration c;

	(void)arg;
	(void)total;
	if (second == 1)
		second = ipcwait_calibrate(NULL, &c);
	if (in_child == 1 && done > 0)
		in_child = check_in_child(calibrate_in_child);
}

static void one_at_a_time(void)
{
	const struct ipcwait_calibrate_params params = { .progress = interfere };
	struct ipcwait_calibration c;

	calibrate(&params, &c);
	CHECK_EQ(second, -EBUSY);
	if (WEXITSTATUS(in_child) == TOO_BUSY)
		_exit(TOO_BUSY);
	CHECK_EQ(in_child, 0);
	calibrate(NULL, &c);
}

/* Apart, because the address sanitizer does not notice when cancellation leaves a frame. */
static __attribute__((noinline)) int calibrate_pair(void)
{
	const struct ipcwait_calibrate_params params = {
		.cpu_a = nth_cpu(0),
		.cpu_b = nth_cpu(1),
	};
	struct ipcwait_calibration c;

	return ipcwait_calibrate(&params, &c);
}

static void *calibrate_cancelled(void *result)
{
	CHECK(pthread_cancel(pthread_self()) == 0);
	*(int *)result = calibrate_pair();
	pthread_testcancel();
	return NULL;
}

static void no_cancellation_point(void)
{
	unsigned others = threads_without();
	pthread_t thread;
	void *end;
	int result = 1;

	CHECK(pthread_create(&thread, NULL, calibrate_cancelled, &result) == 0);
	CHECK(pthread_join(thread, &end) == 0);
	CHECK(end == PTHREAD_CANCELED);
	CHECK(check_eventually(gone, &others));
	if (result == -EAGAIN)
		_exit(TOO_BUSY);
	CHECK_EQ(result, 0);
}

/* Skipped on one CPU, and where other programs leave too little of two. */
static void run_on_two_cpus(void (*body)(void))
{
	int status = several() ? check_in_child(body) : 0;

	if (!several() || (WIFEXITED(status) && WEXITSTATUS(status) == TOO_BUSY))
		skip();
	assert_int_equal(status, 0);
}

/* No memory for a stack. A sanitizer would not get any either. */
static void no_threads_to_be_had(void)
{
#if !SANITIZED
	const struct rlimit none = { 1, RLIM_INFINITY };
	struct rlimit before;
	struct ipcwait_calibration c, unchanged;

	CHECK(getrlimit(RLIMIT_AS, &before) == 0);
	memset(&c, 0x5a, sizeof(c));
	unchanged = c;
	CHECK(setrlimit(RLIMIT_AS, &none) == 0);
	CHECK_EQ(ipcwait_calibrate(NULL, &c), -EAGAIN);
	CHECK(setrlimit(RLIMIT_AS, &before) == 0);
	CHECK(memcmp(&c, &unchanged, sizeof(c)) == 0);
	calibrate(NULL, &c);
#endif
}

#define NEEDS_TWO_CPUS(body)                  \
	static void test_##body(void **state) \
	{                                     \
		(void)state;                  \
		run_on_two_cpus(body);        \
	}

NEEDS_TWO_CPUS(measures_and_leaves_no_trace)
NEEDS_TWO_CPUS(saved_and_loaded_again)
NEEDS_TWO_CPUS(one_at_a_time)
NEEDS_TWO_CPUS(no_cancellation_point)
NEEDS_TWO_CPUS(no_threads_to_be_had)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measures_and_leaves_no_trace),
		cmocka_unit_test(test_saved_and_loaded_again),
		cmocka_unit_test(test_one_at_a_time),
		cmocka_unit_test(test_no_cancellation_point),
		cmocka_unit_test(test_no_threads_to_be_had),
		CHILD_TEST(one_cpu_is_not_supported),
		CHILD_TEST(bad_arguments),
		CHILD_TEST(other_sizes),
	};

	if (argc > 1 && strcmp(argv[1], LOADED) == 0)
		return check_loaded();
	unsetenv("IPCWAIT_POLICY");
	check_environment(argv, "IPCWAIT_CALIBRATION", "none");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
