/* SPDX-License-Identifier: MIT */
/*
 * ipcwait_bench: libipcwait and its peers, one file per question. docs/benchmarks.md.
 *
 *	volley.c       pairs of threads hand work back and forth
 *	lock_crowd.c   threads want one lock
 *	waits.c        one waits for a given time, and is woken
 *	crew.c         the threads
 *	shares.c       what each of them does
 *	meter.c        what is counted beside the time
 *	impls.c        names of dimensions, and who is compared
 *	sem_fixed.c    semaphores that spin for a fixed time
 *	work.c         work of a given time
 */
#include "questions.h"
#include "../shim/bench.h"
#include "../../tools/common/begin_again.h"

#include <gnu/libc-version.h>
#include <ipcwait/base.h>
#include <stdlib.h>

const char program_name[] = "ipcwait_bench";

int main(int argc, char **argv)
{
	/* What an earlier program has measured and saved would change what is compared. */
	if (!getenv("IPCWAIT_CALIBRATION"))
		begin_again(argv, "IPCWAIT_CALIBRATION", "none");
	bench_context("libipcwait", ipcwait_version());
	bench_context("glibc", gnu_get_libc_version());
	bench_context("peers", PEER_VERSIONS);
	add_uncontended();
	add_handoff();
	add_contention();
	add_readers();
	add_starvation();
	add_oversubscription();
	add_wake();
	add_pareto();
	add_pairs();
	add_condvar();
	add_queue();
	add_channel();
	return bench_main(argc, argv);
}
