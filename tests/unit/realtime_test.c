/* SPDX-License-Identifier: MIT */
/* lib/os/realtime.h against the real kernel. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "os/realtime.h"

/* struct sched_attr of <linux/sched/types.h>, as far as a deadline needs it. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

static bool enter(int policy, int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	return sched_setscheduler(0, policy, &param) == 0;
}

static void ordinary_classes(void)
{
	static const int policies[] = { SCHED_OTHER, SCHED_BATCH, SCHED_IDLE,
					SCHED_OTHER | SCHED_RESET_ON_FORK };

	for (unsigned i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		CHECK(enter(policies[i], 0));
		errno = 4711;
		CHECK(!iw_realtime());
		CHECK_EQ(errno, 4711);
	}
}

static void real_time_classes(void)
{
	static const int policies[] = { SCHED_FIFO, SCHED_RR,
					SCHED_FIFO | SCHED_RESET_ON_FORK,
					SCHED_RR | SCHED_RESET_ON_FORK };

	for (unsigned i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		CHECK(enter(SCHED_OTHER, 0));
		CHECK(!iw_realtime());
		CHECK(enter(policies[i], 1));
		CHECK(iw_realtime());
	}
}

static void deadline_class(void)
{
	const struct attributes a = {
		.size = sizeof(a),
		.policy = 6,
		.runtime_ns = 10000000,
		.deadline_ns = 100000000,
		.period_ns = 100000000,
	};

	/* Refused to a process that may not use every CPU. */
	if (syscall(SYS_sched_setattr, 0, &a, 0) != 0)
		return;
	CHECK(iw_realtime());
}

static void test_ordinary(void **state)
{
	(void)state;
	assert_int_equal(check_in_child(ordinary_classes), 0);
}

static void test_real_time(void **state)
{
	(void)state;
	if (!enter(SCHED_FIFO, 1)) {
		print_message("may not enter a real-time class: %s\n", strerror(errno));
		skip();
	}
	assert_true(enter(SCHED_OTHER, 0));
	assert_int_equal(check_in_child(real_time_classes), 0);
	assert_int_equal(check_in_child(deadline_class), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ordinary),
		cmocka_unit_test(test_real_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
