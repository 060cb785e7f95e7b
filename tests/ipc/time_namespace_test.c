/* SPDX-License-Identifier: MIT */
/*
 * Processes in two time namespaces, as those of a container that was moved from another machine,
 * use one semaphore, mutex and reader-writer lock. What one has stamped the other reads as its own
 * time; where it does not know its offset, having been forked into the namespace and not attached,
 * all of it ends too.
 *
 *	time_namespace_test [FD]	FD: be the process in the other namespace
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/cmocka_all.h"

#include <ipcwait/ipcwait.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define ROUNDS  2000
#define LONG_NS INT64_C(100000000000)

/* Stamps are in units of 8 ns, modulo 2^32: by less than so much two of them may differ. */
#define NEAR (INT64_C(8000000000) / 8)

/* In s: near half of the 34.4 s after which stamps come round, and a day beside it. */
static const int offsets[] = { 86400, -17 };

struct shared {
	struct ipcwait_region header;
	struct ipcwait_sem begun, ping, pong;
	struct ipcwait_mutex mutex;
	struct ipcwait_rwlock lock;
	struct ipcwait_window stamped;
	int64_t now_ns;
	uint64_t rounds, locked;
};

static struct shared *map_plainly(int fd)
{
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(s != MAP_FAILED);
	return s;
}

static struct shared *map(int fd)
{
	struct shared *s = map_plainly(fd);

	CHECK_EQ(ipcwait_region_attach(&s->header), 0);
	return s;
}

static void await(struct ipcwait_sem *s)
{
	CHECK_EQ(ipcwait_sem_wait_until(s, ipcwait_deadline_in_ns(LONG_NS)), 0);
}

/* The counts are changed by one at a time, and read by both. */
static void use_locks(struct shared *s)
{
	uint64_t before;

	CHECK_EQ(ipcwait_mutex_lock(&s->mutex), 0);
	s->locked++;
	CHECK_EQ(ipcwait_mutex_unlock(&s->mutex), 0);
	CHECK_EQ(ipcwait_rwlock_rdlock(&s->lock), 0);
	before = s->rounds;
	CHECK_EQ(ipcwait_rwlock_rdunlock(&s->lock), 0);
	CHECK_EQ(ipcwait_rwlock_wrlock(&s->lock), 0);
	CHECK(s->rounds >= before);
	s->rounds++;
	CHECK_EQ(ipcwait_rwlock_wrunlock(&s->lock), 0);
}

/*
 * A wait that took the parent's time for its own past would have spun until that comes: of the
 * 17 s by which the clocks are behind.
 */
static void check_cpu_time(void)
{
	struct timespec used;

	CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
	CHECK(used.tv_sec < 10);
}

static void be_there(struct shared *s)
{
	s->now_ns = ipcwait_now_ns();
	ipcwait_window_stamp(&s->stamped);
	CHECK_EQ(ipcwait_sem_post(&s->begun), 0);
	for (int i = 0; i < ROUNDS; i++) {
		await(&s->ping);
		CHECK_EQ(ipcwait_sem_post(&s->pong), 0);
		use_locks(s);
	}
	check_cpu_time();
	_exit(EXIT_SUCCESS);
}

/* Root may, and who may be root in a namespace of users. */
static bool unshare_time(int offset_s)
{
	char text[64];
	int fd, n = snprintf(text, sizeof(text), "monotonic %d 0\nboottime %d 0", offset_s,
			     offset_s);
	bool done;

	if (unshare(CLONE_NEWTIME) && unshare(CLONE_NEWUSER | CLONE_NEWTIME))
		return false;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && write(fd, text, (size_t)n) == n;
	if (fd >= 0)
		(void)close(fd);
	return done;
}

static _Noreturn void become(int fd)
{
	char number[16];
	char *argv[] = { (char *)"time_namespace_test", number, NULL };

	(void)snprintf(number, sizeof(number), "%d", fd);
	(void)execv("/proc/self/exe", argv);
	CHECK(!"execv");
	abort();
}

static pid_t start(int fd, int offset_s, bool anew)
{
	pid_t child = fork(), inner;

	CHECK(child >= 0);
	if (child)
		return child;
	check_watchdog(100);
	CHECK(unshare_time(offset_s));
	inner = fork();
	CHECK(inner >= 0);
	if (inner == 0) {
		if (anew)
			become(fd);
		be_there(map_plainly(fd));
	}
	_exit(check_reap(inner) ? EXIT_FAILURE : EXIT_SUCCESS);
}

static void run(int offset_s, bool anew)
{
	struct ipcwait_window mine = { { 0 }, { 0 }, { 0 } };
	int fd = memfd_create("time_namespace_test", 0);
	struct shared *s;
	pid_t child;
	int32_t apart;

	CHECK(fd >= 0 && ftruncate(fd, sizeof(*s)) == 0);
	s = map(fd);
	child = start(fd, offset_s, anew);
	await(&s->begun);
	ipcwait_window_stamp(&mine);
	apart = (int32_t)(mine.stamp.v - s->stamped.stamp.v);
	CHECK(llabs(s->now_ns - ipcwait_now_ns() - offset_s * INT64_C(1000000000)) <
	      INT64_C(8000000000));
	if (anew)
		CHECK(apart > -NEAR && apart < NEAR);
	for (int i = 0; i < ROUNDS; i++) {
		CHECK_EQ(ipcwait_sem_post(&s->ping), 0);
		await(&s->pong);
		use_locks(s);
	}
	CHECK_EQ(check_reap(child), 0);
	CHECK_EQ(s->rounds, 2 * ROUNDS);
	CHECK_EQ(s->locked, 2 * ROUNDS);
	CHECK(munmap(s, sizeof(*s)) == 0 && close(fd) == 0);
}

static void of_a_program(void)
{
	for (unsigned i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		run(offsets[i], true);
}

/* The child is the first of its process that waits. */
static void of_a_child_ahead(void)
{
	run(offsets[0], false);
}

static void of_a_child_behind(void)
{
	run(offsets[1], false);
}

static bool permitted(void)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0)
		_exit(unshare_time(offsets[0]) ? EXIT_SUCCESS : EXIT_FAILURE);
	return check_reap(child) == 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(of_a_program),
		CHILD_TEST(of_a_child_ahead),
		CHILD_TEST(of_a_child_behind),
	};

	if (argc > 1)
		be_there(map(atoi(argv[1])));
	if (!permitted()) {
		print_message("skipped: no time namespaces\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
