/* SPDX-License-Identifier: MIT */
/*
 * The statistics page of a process under the preload module: made at the end of the first wait that
 * had to wait. Runs itself anew with IPCWAIT_PAGE=1, which is read before main().
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "os/shared_file.h"
#include "watch/page.h"
#include "watch/stats.h"

#define CHILDREN 20

/* Before the library's constructors. */
__attribute__((constructor(101))) static void be_late(void)
{
	iw_page_is_late = true;
}

/* -1: there is none. */
static int open_page(pid_t pid)
{
	char path[128];
	int n = snprintf(path, sizeof(path), IPCWAIT_PAGE_FOLDER, geteuid());

	(void)snprintf(path + n, sizeof(path) - (size_t)n, "/%d", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool has_page(pid_t pid)
{
	int fd = open_page(pid);

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

/* What is counted of waits for semaphores that only spun. */
static uint64_t spun(int fd)
{
	struct ipcwait_page_head h;
	uint64_t sum = 0, word;

	CHECK_EQ(pread(fd, &h, sizeof(h), 0), sizeof(h));
	CHECK_EQ(h.magic, IPCWAIT_PAGE_MAGIC);
	for (unsigned i = 0; i < h.shards; i++) {
		off_t at = (off_t)(h.counters_at + (uint64_t)i * h.shard_bytes +
				   (uint64_t)IPCWAIT_KIND_SEM * h.kind_bytes);

		CHECK_EQ(pread(fd, &word, sizeof(word), at), sizeof(word));
		sum += word;
	}
	return sum;
}

static bool has_row(int fd, const char *name, uint64_t waits_least)
{
	struct ipcwait_page_head h;
	struct ipcwait_page_row row;

	CHECK_EQ(pread(fd, &h, sizeof(h), 0), sizeof(h));
	for (unsigned i = 0; i < h.rows; i++) {
		off_t at = (off_t)(h.objects_at + (uint64_t)i * h.row_bytes);

		CHECK_EQ(pread(fd, &row, sizeof(row), at), sizeof(row));
		if (row.address && !strcmp(row.name, name))
			return row.waits >= waits_least;
	}
	return false;
}

/* Waits until it has had to: one that begins after its deadline only looks. */
static void wait_in_vain(struct ipcwait_sem *s)
{
	do
		CHECK_EQ(ipcwait_sem_wait_until(s, ipcwait_deadline_in_ns(20000000)),
			 -ETIMEDOUT);
	while (!has_page(getpid()));
}

static void made_by_the_first_wait(void)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);
	int fd;

	CHECK_EQ(ipcwait_object_set_name(&s.window, "first"), 0);
	iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 30);
	CHECK_EQ(ipcwait_sem_post(&s), 0);
	CHECK_EQ(ipcwait_sem_wait(&s), 0);
	CHECK(!has_page(getpid()));
	errno = 4711;
	wait_in_vain(&s);
	CHECK_EQ(errno, 4711);
	fd = open_page(getpid());
	CHECK(!iw_shared_file_lock_is_free(fd, 0));
	CHECK_EQ(spun(fd), 30);
	CHECK(has_row(fd, "first", 1));
	iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 5);
	CHECK_EQ(spun(fd), 35);
}

static void ends_with_the_process(void)
{
	pid_t child = fork();

	if (!child) {
		struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);

		wait_in_vain(&s);
		exit(0);
	}
	CHECK_EQ(check_reap(child), 0);
	CHECK(!has_page(child));
}

/* Begins at 0, with the names, and takes nothing from its parent. */
static void child_waits(struct ipcwait_sem *s, int parents)
{
	uint64_t before = spun(parents);
	int fd;

	CHECK(!has_page(getpid()));
	iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 7);
	wait_in_vain(s);
	fd = open_page(getpid());
	CHECK_EQ(spun(fd), 7);
	CHECK(has_row(fd, "named", 1));
	CHECK_EQ(spun(parents), before);
}

static void children_have_their_own(void)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);
	int fd;
	pid_t child;

	CHECK_EQ(ipcwait_object_set_name(&s.window, "named"), 0);
	wait_in_vain(&s);
	iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 30);
	fd = open_page(getpid());
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		child_waits(&s, fd);
		child = fork();
		if (!child)
			child_waits(&s, fd);
		else
			CHECK_EQ(check_reap(child), 0);
		exit(0);
	}
	CHECK_EQ(check_reap(child), 0);
	CHECK_EQ(spun(fd), 30);
	CHECK(has_page(getpid()));
}

static void children_that_never_wait_leave_nothing(void)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);

	wait_in_vain(&s);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child) {
			iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 7);
			_exit(0);
		}
		CHECK_EQ(check_reap(child), 0);
		CHECK(!has_page(child));
	}
	CHECK_EQ(spun(open_page(getpid())), 0);
}

static pthread_barrier_t together;

static void *wait_once(void *unused)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);

	(void)pthread_barrier_wait(&together);
	wait_in_vain(&s);
	return unused;
}

/* Several first waits at once, and forks beside them: one page, which nobody else keeps alive. */
static void threads_make_one(void)
{
	pthread_t thread[4];
	pid_t child[CHILDREN], parent = getpid();
	int fd;

	CHECK_EQ(pthread_barrier_init(&together, NULL, 5), 0);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, wait_once, NULL), 0);
	(void)pthread_barrier_wait(&together);
	for (int i = 0; i < CHILDREN; i++) {
		child[i] = fork();
		CHECK(child[i] >= 0);
		if (!child[i]) {
			CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
			if (getppid() != parent)
				_exit(EXIT_FAILURE);
			for (;;)
				(void)pause();
		}
	}
	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	fd = open_page(getpid());
	CHECK(fd >= 0);
	for (int i = 0; i < CHILDREN; i++) {
		CHECK_EQ(kill(child[i], SIGKILL), 0);
		CHECK(WIFSIGNALED(check_reap(child[i])));
	}
}

/* ThreadSanitizer takes the mapping of the file for a write to what is counted in. */
static void test_threads_make_one(void **state)
{
	(void)state;
	if (CHECK_DEFERS_SIGNALS)
		skip();
	assert_int_equal(check_in_child(threads_make_one), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(made_by_the_first_wait),
		CHILD_TEST(ends_with_the_process),
		CHILD_TEST(children_have_their_own),
		CHILD_TEST(children_that_never_wait_leave_nothing),
		cmocka_unit_test(test_threads_make_one),
	};

	(void)argc;
	check_environment(argv, "IPCWAIT_PAGE", "1");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
