/* SPDX-License-Identifier: MIT */
/* Descriptors in ipcwait_wait_any() where the library's thread or its descriptors are missing,
 * taken away, or too few, and over fork(2). Each in a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/task.h"

#define CROWD 200

/* Under ThreadSanitizer a child of a process with threads may have none, and so does not sleep. */
#if CHECK_DEFERS_SIGNALS
#define CHILD_IS_ALONE true
#else
#define CHILD_IS_ALONE false
#endif

struct waiter {
	pthread_t thread;
	int pipes[2];
	struct ipcwait_sem sem;
	struct ipcwait_window w;
	int id;
	int result;
};

static void *wait_once(void *arg)
{
	struct waiter *me = arg;
	struct pollfd p = { .fd = me->pipes[0], .events = POLLIN };
	struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_FD, .object = &p },
		{ .type = IPCWAIT_WAITABLE_SEM, .object = &me->sem },
	};

	__atomic_store_n(&me->id, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	errno = 4711;
	me->result = ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, &me->w);
	CHECK_EQ(errno, 4711);
	return NULL;
}

static bool is_asleep(void *arg)
{
	int id = __atomic_load_n(&((struct waiter *)arg)->id, __ATOMIC_ACQUIRE);

	return id && task_sleeps(id);
}

static void begin(struct waiter *me)
{
	pthread_attr_t small;

	memset(me, 0, sizeof(*me));
	CHECK_EQ(pipe(me->pipes), 0);
	CHECK_EQ(ipcwait_window_set_preset(&me->w, IPCWAIT_BLOCK), 0);
	CHECK_EQ(pthread_attr_init(&small), 0);
	CHECK_EQ(pthread_attr_setstacksize(&small, 1 << 18), 0);
	CHECK_EQ(pthread_create(&me->thread, &small, wait_once, me), 0);
	CHECK_EQ(pthread_attr_destroy(&small), 0);
}

static void start(struct waiter *me)
{
	begin(me);
	CHECK(check_eventually(is_asleep, me));
}

static void tell(struct waiter *me, int what)
{
	if (what)
		CHECK_EQ(ipcwait_sem_post(&me->sem), 0);
	else
		CHECK_EQ(write(me->pipes[1], "x", 1), 1);
}

static void join(struct waiter *me, int what)
{
	CHECK_EQ(pthread_join(me->thread, NULL), 0);
	CHECK_EQ(me->result, what);
	(void)close(me->pipes[0]);
	(void)close(me->pipes[1]);
}

static void wait_for_both(void)
{
	static struct waiter me;

	for (int what = 0; what < 2; what++) {
		start(&me);
		tell(&me, what);
		join(&me, what);
	}
}

static unsigned descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static unsigned helpers(void)
{
	unsigned n = 0;
	char name[32];
	FILE *f = popen("cat /proc/$PPID/task/*/comm", "re");

	CHECK(f);
	while (fgets(name, sizeof(name), f))
		n += !strcmp(name, "ipcwait-fd\n");
	(void)pclose(f);
	return n;
}

/* One thread and two descriptors, however many waits there are, one after the other. */
static void one_at_a_time(void)
{
	unsigned before = descriptors();
	struct pollfd p = { .fd = 0, .events = 0 };
	struct ipcwait_waitable one = { .type = IPCWAIT_WAITABLE_FD, .object = &p };

	/* Nothing is made for a look. */
	p.fd = open("/proc/self/exe", O_RDONLY);
	p.events = POLLIN;
	CHECK_EQ(ipcwait_wait_any(&one, 1, IPCWAIT_FOREVER, NULL), 0);
	(void)close(p.fd);
	CHECK_EQ(descriptors(), before);
	for (int i = 0; i < 20; i++)
		wait_for_both();
	CHECK_EQ(descriptors(), before + 2);
	CHECK_EQ(helpers(), 1);
}

static bool has_no_helper(void *unused)
{
	(void)unused;
	return helpers() == 0;
}

/*
 * Nobody has waited for a while: the process must not live on for the library's thread. The next
 * wait makes another, for the same descriptors.
 */
static void ends_when_idle(void)
{
	unsigned before = descriptors();

	wait_for_both();
	CHECK(check_eventually(has_no_helper, NULL));
	CHECK_EQ(descriptors(), before + 2);
	wait_for_both();
	CHECK_EQ(helpers(), 1);
	CHECK_EQ(descriptors(), before + 2);
}

/* One that has a name has started, and a child may make threads: CHECK_CHILD_MAY_ALLOCATE. */
static bool has_a_helper(void *unused)
{
	(void)unused;
	return helpers() == 1;
}

/* Of a class that may not make usual threads, and that others seldom let run. */
static void of_the_lowest_class(void)
{
	static struct waiter me;
	const struct sched_param none = { 0 };
	struct rlimit no = { 0, 0 };

	CHECK_EQ(setrlimit(RLIMIT_NICE, &no), 0);
	CHECK_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	if (getuid() == 0)
		CHECK_EQ(setuid(65534), 0);
	start(&me);
	CHECK(check_eventually(has_a_helper, NULL));
	tell(&me, true);
	join(&me, true);
}

/* More than can be watched: the others look. */
static void crowd(void)
{
	static struct waiter many[CROWD];
	unsigned before = descriptors(), taken;

	for (unsigned i = 0; i < CROWD; i++)
		start(&many[i]);
	taken = descriptors() - 2 * CROWD - before;
	CHECK(taken > 2 && taken <= 65);
	for (unsigned i = 0; i < CROWD; i++)
		tell(&many[i], i % 3 == 0);
	for (unsigned i = 0; i < CROWD; i++)
		join(&many[i], i % 3 == 0);
	wait_for_both();
	CHECK_EQ(descriptors(), before + taken);
}

/* All wait for one descriptor. */
static void one_for_all(void)
{
	static struct waiter many[CROWD];
	static struct waiter first;

	start(&first);
	for (unsigned i = 0; i < CROWD; i++) {
		memset(&many[i], 0, sizeof(many[i]));
		many[i].pipes[0] = first.pipes[0];
		CHECK_EQ(pthread_create(&many[i].thread, NULL, wait_once, &many[i]), 0);
	}
	tell(&first, 0);
	for (unsigned i = 0; i < CROWD; i++) {
		CHECK_EQ(pthread_join(many[i].thread, NULL), 0);
		CHECK_EQ(many[i].result, 0);
	}
	join(&first, 0);
}

static void wait_in_child(void)
{
	if (CHILD_IS_ALONE)
		return;
	wait_for_both();
	CHECK_EQ(helpers(), 1);
}

/* The child has none of the parent's descriptors, waits with its own, and takes nothing away. */
static void over_fork(void)
{
	static struct waiter me[3];
	unsigned before = descriptors();
	pid_t child;

	for (unsigned i = 0; i < 3; i++)
		start(&me[i]);
	CHECK(check_eventually(has_a_helper, NULL));
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		check_watchdog(60);
		CHECK_EQ(descriptors(), before + 6);
		CHECK_EQ(helpers(), 0);
		wait_in_child();
		_exit(0);
	}
	CHECK_EQ(check_reap(child), 0);
	for (int i = 0; i < 3; i++) {
		tell(&me[i], i % 2);
		join(&me[i], i % 2);
	}
	wait_for_both();
	CHECK_EQ(helpers(), 1);
}

static void *wait_on(void *stop)
{
	while (!__atomic_load_n((bool *)stop, __ATOMIC_ACQUIRE))
		wait_for_both();
	return NULL;
}

static void sleep_briefly(void)
{
	struct pollfd p = { .events = POLLIN };
	struct ipcwait_waitable one = { .type = IPCWAIT_WAITABLE_FD, .object = &p };
	int pipes[2];

	CHECK_EQ(pipe(pipes), 0);
	p.fd = pipes[0];
	CHECK_EQ(ipcwait_wait_any(&one, 1, ipcwait_deadline_in_ns(1000000), NULL),
		 -ETIMEDOUT);
}

static void forks_in_the_middle(void)
{
	static bool stop;
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, wait_on, &stop), 0);
	for (int i = 0; i < 100; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child) {
			check_watchdog(60);
			if (CHECK_CHILD_MAY_ALLOCATE)
				sleep_briefly();
			_exit(0);
		}
		CHECK_EQ(check_reap(child), 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void limit_descriptors(rlim_t most)
{
	struct rlimit limit;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = most;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* The limit is one of numbers, and there may be gaps. */
static void limit_to_more(unsigned n)
{
	int fd = -1;

	while (n > 0)
		n -= fcntl(++fd, F_GETFD) < 0;
	limit_descriptors((rlim_t)fd + 1);
}

/*
 * None to be had for the library, or one, which it keeps, but not a second. Nobody can look into
 * /proc meanwhile: whether the thread sleeps by then is left open.
 */
static void without_descriptors(void)
{
	static struct waiter me;
	struct rlimit limit;
	unsigned before;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	before = descriptors();
	for (unsigned round = 0; round < 4; round++) {
		/* In the third round the library gets its first. */
		limit_to_more(2 + (round == 2));
		begin(&me);
		(void)usleep(10000);
		tell(&me, round % 2);
		join(&me, round % 2);
		CHECK(descriptors() <= before + round / 2);
	}
	limit_descriptors(limit.rlim_cur);
	wait_for_both();
	CHECK_EQ(descriptors(), before + 2);
}

/* For one thread more. */
static void without_another_descriptor(void)
{
	static struct waiter first, second;
	struct rlimit limit;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	start(&first);
	limit_to_more(2);
	begin(&second);
	(void)usleep(10000);
	tell(&second, 0);
	join(&second, 0);
	limit_descriptors(limit.rlim_cur);
	tell(&first, 0);
	join(&first, 0);
	wait_for_both();
}

/* A look at the file says what it is. */
static bool is_epoll(int fd)
{
	char path[64], name[64] = "";

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, name, sizeof(name) - 1) > 0 && strstr(name, "[eventpoll]");
}

static void close_epolls(int but)
{
	for (int fd = 0; fd < 1000; fd++)
		if (fd != but && is_epoll(fd))
			(void)close(fd);
}

/* As closefrom(3) does. Who sleeps looks after a second. */
static void closed_by_the_program(void)
{
	static struct waiter me[2];
	struct rusage before, after;

	start(&me[0]);
	start(&me[1]);
	close_epolls(-1);
	for (int i = 0; i < 2; i++)
		tell(&me[i], i);
	for (int i = 0; i < 2; i++)
		join(&me[i], i);
	CHECK_EQ(getrusage(RUSAGE_SELF, &before), 0);
	for (int i = 0; i < 5; i++)
		wait_for_both();
	(void)usleep(300000);
	CHECK_EQ(getrusage(RUSAGE_SELF, &after), 0);
	/* Nobody spins. */
	CHECK_EQ(after.ru_utime.tv_sec - before.ru_utime.tv_sec > 1, 0);
	for (int fd = 3; fd < 1000; fd++)
		CHECK(!is_epoll(fd));
}

/* The numbers are the program's own epoll instances now: nothing is done to them. */
static void taken_by_the_program(void)
{
	static struct waiter me;
	struct epoll_event e = { .events = EPOLLIN };
	int own[8], pipes[2];

	wait_for_both();
	CHECK(check_eventually(has_a_helper, NULL));
	close_epolls(-1);
	for (unsigned i = 0; i < 8; i++) {
		own[i] = epoll_create1(0);
		CHECK(own[i] >= 0);
	}
	CHECK_EQ(pipe(pipes), 0);
	for (unsigned i = 0; i < 8; i++)
		CHECK_EQ(epoll_ctl(own[i], EPOLL_CTL_ADD, pipes[0], &e), 0);
	for (int what = 0; what < 2; what++) {
		start(&me);
		tell(&me, what);
		for (unsigned i = 0; i < 8; i++)
			CHECK_EQ(epoll_wait(own[i], &e, 1, 0), 0);
		join(&me, what);
	}
	CHECK_EQ(write(pipes[1], "x", 1), 1);
	for (unsigned i = 0; i < 8; i++)
		CHECK_EQ(epoll_wait(own[i], &e, 1, 0), 1);
	/* A child closes nothing that is not its own. */
	if (!fork()) {
		for (unsigned i = 0; i < 8; i++)
			CHECK(is_epoll(own[i]));
		wait_in_child();
		_exit(0);
	}
	CHECK_EQ(check_reap(-1), 0);
}

/* No thread to be had. */
static void without_a_thread(void)
{
	struct rlimit none = { 0, 0 };
	struct pollfd p = { .fd = -1, .events = POLLIN };
	struct ipcwait_waitable one = { .type = IPCWAIT_WAITABLE_FD, .object = &p };
	int pipes[2];
	unsigned before;

	CHECK_EQ(pipe(pipes), 0);
	before = descriptors();
	p.fd = pipes[0];
	/* An ordinary user, who has more threads than that already. */
	if (getuid() == 0)
		CHECK_EQ(setuid(65534), 0);
	CHECK_EQ(setrlimit(RLIMIT_NPROC, &none), 0);
	CHECK_EQ(ipcwait_wait_any(&one, 1, ipcwait_deadline_in_ns(5000000), NULL),
		 -ETIMEDOUT);
	CHECK_EQ(descriptors(), before);
	CHECK_EQ(write(pipes[1], "x", 1), 1);
	CHECK_EQ(ipcwait_wait_any(&one, 1, IPCWAIT_FOREVER, NULL), 0);
}

static int setup(void **state)
{
	(void)state;
	check_watchdog(120);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(one_at_a_time),
		CHILD_TEST(ends_when_idle),
		CHILD_TEST(of_the_lowest_class),
		CHILD_TEST(crowd),
		CHILD_TEST(one_for_all),
		CHILD_TEST(over_fork),
		CHILD_TEST(forks_in_the_middle),
		CHILD_TEST(without_descriptors),
		CHILD_TEST(without_another_descriptor),
		CHILD_TEST(closed_by_the_program),
		CHILD_TEST(taken_by_the_program),
		CHILD_TEST(without_a_thread),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
