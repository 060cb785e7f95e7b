/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "region.h"

#define STALE_NS INT64_C(2000000)

static int region_fd = -1;

static struct region *map(void *hint)
{
	struct region *r =
		mmap(hint, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED, region_fd, 0);

	CHECK(r != MAP_FAILED);
	return r;
}

struct region *region_create(void)
{
	region_fd = memfd_create("iw-ipc-test", MFD_CLOEXEC);
	CHECK(region_fd >= 0);
	CHECK(ftruncate(region_fd, sizeof(struct region)) == 0);
	return map(NULL);
}

void region_destroy(struct region *r)
{
	CHECK(munmap(r, sizeof(*r)) == 0);
	CHECK(close(region_fd) == 0);
}

/* Mapped elsewhere while the old mapping still keeps its address taken. */
static struct region *move(struct region *r)
{
	struct region *elsewhere = map(NULL);

	CHECK(elsewhere != r);
	CHECK(munmap(r, sizeof(*r)) == 0);
	return elsewhere;
}

pid_t region_fork(struct region *r, void (*body)(struct region *r))
{
	pid_t parent = getpid();
	pid_t child;

	(void)fflush(NULL);
	child = fork();
	CHECK(child >= 0);
	if (child)
		return child;
	CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	check_watchdog(60);
	body(move(r));
	_exit(EXIT_SUCCESS);
}

void region_join(pid_t child)
{
	CHECK_EQ(check_reap(child), 0);
}

void region_kill(pid_t child)
{
	int status;

	CHECK(kill(child, SIGKILL) == 0);
	status = check_reap(child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

void guarded_begin(struct guarded *g)
{
	CHECK_EQ(g->inside, 0);
	CHECK_EQ(g->begun, g->done);
	g->inside = 1;
	g->begun++;
	/* Whoever dies here, or comes in here, leaves a trace. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void guarded_end(struct guarded *g)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	g->done++;
	CHECK_EQ(g->begun, g->done);
	CHECK_EQ(g->inside, 1);
	g->inside = 0;
}

bool guarded_repair(struct guarded *g)
{
	bool broken = g->inside || g->begun != g->done;

	CHECK(g->inside <= 1 && g->begun - g->done <= 1);
	g->begun = g->done;
	g->inside = 0;
	return broken;
}

void region_let_wakes_go_stale(void)
{
	int64_t until = ipcwait_deadline_in_ns(STALE_NS);

	while (ipcwait_now_ns() < until)
		(void)usleep(100);
}
