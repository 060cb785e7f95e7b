/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "rounds.h"

static void on_signal(int signal)
{
	(void)signal;
}

int stress_rounds(int argc, char **argv, const char *what, uint64_t (*run)(uint64_t *seed))
{
	const char *longer = getenv("IW_STRESS_SECONDS");
	int seconds = argc == 2 ? atoi(longer ? longer : argv[1]) : 0;
	int64_t end_ns = ipcwait_deadline_in_ns(seconds * INT64_C(1000000000));
	struct sigaction action = { .sa_handler = on_signal };
	uint64_t seed = check_seed(), elements = 0;
	unsigned runs = 0;

	if (seconds <= 0) {
		fprintf(stderr, "usage: %s SECONDS\n", argv[0]);
		return 2;
	}
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	for (; ipcwait_now_ns() < end_ns; runs++)
		elements += run(&seed);
	printf("%u %s, %" PRIu64 " elements\n", runs, what, elements);
	return 0;
}
