/* SPDX-License-Identifier: MIT */
/* lib/os over the real kernel: small services that have no test of their own elsewhere. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "os/file.h"
#include "os/futex.h"
#include "os/helper.h"
#include "os/membarrier.h"

/* Readings of the clock take longer then. */
#ifdef __has_feature
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static void test_file(void **state)
{
	char path[] = "/tmp/iw-os-test-XXXXXX";
	char text[8] = "unused";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "0123456789", 10), 10);
	close(fd);
	errno = 4711;
	assert_int_equal(iw_file_read(path, text, sizeof(text)), 7);
	assert_string_equal(text, "0123456");
	assert_int_equal(iw_file_read(path, text, 1), 0);
	assert_string_equal(text, "");
	assert_int_equal(errno, 4711);
	unlink(path);
}

static void test_file_errors(void **state)
{
	char text[8] = "unused";

	(void)state;
	errno = 4711;
	assert_int_equal(iw_file_read("/nonexistent/file", text, sizeof(text)), -ENOENT);
	assert_string_equal(text, "");
	strcpy(text, "unused");
	assert_int_equal(iw_file_read("/tmp", text, sizeof(text)), -EISDIR);
	assert_string_equal(text, "");
	assert_int_equal(iw_file_read("/dev/null", text, sizeof(text)), 0);
	assert_int_equal(errno, 4711);
}

static void pin_and_ask(void)
{
	cpu_set_t allowed, one;
	struct iw_cpu_set set;
	int last = -1;

	CHECK(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
	set = iw_cpu_allowed(false);
	CHECK_EQ(set.count, CPU_COUNT(&allowed));
	CHECK(CPU_ISSET(set.first, &allowed));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		last = CPU_ISSET((unsigned)cpu, &allowed) ? cpu : last;
	CPU_ZERO(&one);
	CPU_SET((unsigned)last, &one);
	CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
	errno = 4711;
	set = iw_cpu_allowed(false);
	CHECK_EQ(set.count, 1);
	CHECK_EQ(set.first, last);
	CHECK_EQ(iw_cpu_current(), last);
	CHECK_EQ(errno, 4711);
}

static cpu_set_t helpers_cpus;
static _Atomic int helper_told;

static void *tell_cpus(void *unused)
{
	CHECK(sched_getaffinity(0, sizeof(helpers_cpus), &helpers_cpus) == 0);
	helper_told = 1;
	return unused;
}

static bool has_told(void *unused)
{
	(void)unused;
	return helper_told;
}

static void *start_helper(void *unused)
{
	helper_told = 0;
	CHECK_EQ(iw_helper_start(tell_cpus, NULL, 0), 0);
	CHECK(check_eventually(has_told, NULL));
	return unused;
}

static void *start_helper_from_one_cpu(void *unused)
{
	pin_and_ask();
	return start_helper(unused);
}

/* As taskset(1) does: the helper stays where the user has put the process. */
static void helper_stays_with_the_process(void)
{
	cpu_set_t mine;

	pin_and_ask();
	(void)start_helper(NULL);
	CHECK(sched_getaffinity(0, sizeof(mine), &mine) == 0);
	CHECK(CPU_EQUAL(&mine, &helpers_cpus));
}

/* A thread that the program has put on one CPU does not take its helper along. */
static void helper_is_not_pinned_with_a_thread(void)
{
	pthread_t thread;
	cpu_set_t mine;

	CHECK_EQ(pthread_create(&thread, NULL, start_helper_from_one_cpu, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK(sched_getaffinity(0, sizeof(mine), &mine) == 0);
	CHECK(CPU_EQUAL(&mine, &helpers_cpus));
}

static void test_futex_results(void **state)
{
	uint32_t word = 7;

	(void)state;
	errno = 4711;
	assert_int_equal(iw_futex_wait(&word, 8, INT64_MAX, 1), -EAGAIN);
	assert_int_equal(iw_futex_wait(&word, 7, 0, 1), -ETIMEDOUT);
	assert_int_equal(iw_futex_wait(&word, 7, 1, 0), -ETIMEDOUT);
	assert_int_equal(iw_futex_wait(NULL, 7, 1, 1), -EFAULT);
	assert_int_equal(iw_futex_wake(&word, 1, 1), 0);
	assert_int_equal(iw_futex_wake(&word, UINT32_MAX, 0), 0);
	assert_int_equal(errno, 4711);
}

/* What the kernel lets a process register for, it lets it do; in the child of a fork, too. */
static void test_membarrier(void **state)
{
	bool can;
	pid_t child;
	int status;

	(void)state;
	errno = 4711;
	can = iw_membarrier_register();
	assert_true(iw_membarrier() == can);
	assert_true(iw_membarrier_register() == can);
	assert_int_equal(errno, 4711);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(iw_membarrier() != can);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/*
 * Sources that the vDSO reads without a call into the kernel. None of them if this CPU is emulated
 * on another kind, where readings take long.
 */
static bool is_of_the_cpu(const char *source)
{
	static const char *const sources[] = {
#ifdef __x86_64__
		"tsc\n",
		"kvm-clock\n",
		"hyperv_clocksource_tsc_page\n",
#elif defined(__aarch64__)
		"arch_sys_counter\n",
#else
		"riscv_clocksource\n",
#endif
	};

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (strcmp(source, sources[i]) == 0)
			return true;
	return false;
}

static bool agrees(void *trusted)
{
	return iw_clock_counter_trusted() == *(bool *)trusted;
}

/* The kernel's own word for it. */
static void test_trusted_counter(void **state)
{
	char source[64];
	bool trusted;

	(void)state;
	if (SANITIZED ||
	    iw_file_read("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			 source, sizeof(source)) <= 0)
		skip();
	trusted = is_of_the_cpu(source);
	/* Others may keep the CPU from this thread in all of a question. */
	assert_true(check_eventually(agrees, &trusted));
}

static void test_time_namespace(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} rows[] = {
		{ "monotonic           0         0\nboottime            0         0\n", 0 },
		{ "monotonic       86400         7\nboottime            0         0\n",
		  INT64_C(86400000000007) },
		{ "monotonic          -1 999999999\nboottime           -1         0\n",
		  -1 },
		{ "monotonic 4611686018 999999999\n", INT64_C(4611686018999999999) },
		{ "", 0 },
		{ "monotonic", 0 },
		{ "monotonic 1\n", 0 },
		{ "monotonic 1 2", 0 },
		{ "monotonic 1 2 3\n", 0 },
		{ "monotonic 1 -2\n", 0 },
		{ "monotonic 1 1000000000\n", 0 },
		{ "monotonic 4611686019 0\n", 0 },
		{ "monotonic 99999999999999999999 0\n", 0 },
		{ "boottime 1 2\nmonotonic 1 2\n", 0 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(iw_clock_ahead_in(rows[i].text) == rows[i].ns);
}

static bool is_pending(int signal)
{
	sigset_t set;

	CHECK_EQ(sigpending(&set), 0);
	return sigismember(&set, signal);
}

/* A message that nobody reads, or that has no room, ends no program. */
static void complaints_that_fail(void)
{
	const struct rlimit none = { 0, 0 };
	char path[] = "/tmp/iw-os-test-XXXXXX";
	int ends[2], file = mkstemp(path);
	sigset_t set;

	CHECK(file >= 0);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	CHECK_EQ(close(ends[0]), 0);
	iw_file_complain("text", 4);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
	CHECK_EQ(dup2(file, STDERR_FILENO), STDERR_FILENO);
	iw_file_complain("text", 4);
	CHECK_EQ(sigemptyset(&set), 0);
	CHECK_EQ(sigaddset(&set, SIGXFSZ), 0);
	CHECK_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	iw_file_complain("text", 4);
	CHECK(!is_pending(SIGXFSZ));
	CHECK_EQ(raise(SIGXFSZ), 0);
	iw_file_complain("text", 4);
	CHECK(is_pending(SIGXFSZ));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_file_errors),
		cmocka_unit_test(test_membarrier),
		CHILD_TEST(complaints_that_fail),
		CHILD_TEST(pin_and_ask),
		CHILD_TEST(helper_stays_with_the_process),
		CHILD_TEST(helper_is_not_pinned_with_a_thread),
		cmocka_unit_test(test_futex_results),
		cmocka_unit_test(test_trusted_counter),
		cmocka_unit_test(test_time_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
