/* SPDX-License-Identifier: MIT */
/* Rows of objects without memory of their own, and of what is no object. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "matrix.h"

#define LONG_NS  INT64_C(100000000000)
#define SHORT_NS INT64_C(300000)

void matrix_pause(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
}

static int64_t later(void)
{
	return ipcwait_deadline_in_ns(LONG_NS);
}

static int64_t soon(void)
{
	return ipcwait_deadline_in_ns(SHORT_NS);
}

static void use_base(void)
{
	CHECK(ipcwait_version() && ipcwait_now_ns() > 0 && later() > 0);
}

static void use_awake(void)
{
	if (ipcwait_awake_begin() == 0)
		CHECK_EQ(ipcwait_awake_end(), 0);
}

static void use_calibration(void)
{
	struct ipcwait_calibration c;
	char path[64];

	(void)!ipcwait_calibration_get(&c);
	(void)ipcwait_calibration_path(path, sizeof(path));
}

static void save_calibration(void)
{
	struct ipcwait_calibration c = { .size = sizeof(c), .block_ns = 20000 };

	(void)!ipcwait_calibration_save(&c);
}

static void calibrate(void)
{
	struct ipcwait_calibration c;

	(void)!ipcwait_calibrate(NULL, &c);
}

static struct ipcwait_sem sem;

static void use_sem(void)
{
	struct ipcwait_sem own;

	CHECK_EQ(ipcwait_sem_wait(&sem), 0);
	CHECK_EQ(ipcwait_sem_wait_until(&sem, later()), 0);
	CHECK_EQ(ipcwait_sem_init(&own, 1, 0), 0);
	CHECK_EQ(ipcwait_sem_value(&own), 1);
	CHECK_EQ(ipcwait_sem_trywait(&own), 0);
	CHECK_EQ(ipcwait_sem_wait_until(&own, soon()), -ETIMEDOUT);
	CHECK_EQ(ipcwait_sem_post(&own), 0);
	CHECK_EQ(ipcwait_sem_post_n(&own, 2), 0);
	CHECK_EQ(ipcwait_sem_fini(&own), 0);
}

static void post(void)
{
	CHECK_EQ(ipcwait_sem_post(&sem), 0);
	matrix_pause();
}

#define MUTEXES 4

static struct ipcwait_mutex mutex[MUTEXES];

static void init_mutexes(void)
{
	static const unsigned flags[MUTEXES] = { 0, IPCWAIT_RECURSIVE, IPCWAIT_ERRORCHECK,
						 IPCWAIT_ROBUST };

	for (int i = 0; i < MUTEXES; i++)
		CHECK_EQ(ipcwait_mutex_init(&mutex[i], flags[i]), 0);
}

static void use_mutexes(void)
{
	for (int i = 0; i < MUTEXES; i++) {
		CHECK_EQ(ipcwait_mutex_lock(&mutex[i]), 0);
		CHECK_EQ(ipcwait_mutex_unlock(&mutex[i]), 0);
		CHECK_EQ(ipcwait_mutex_lock_until(&mutex[i], later()), 0);
		CHECK(ipcwait_mutex_consistent(&mutex[i]) < 0);
		CHECK_EQ(ipcwait_mutex_unlock(&mutex[i]), 0);
		if (ipcwait_mutex_trylock(&mutex[i]) == 0)
			CHECK_EQ(ipcwait_mutex_unlock(&mutex[i]), 0);
	}
}

static void hold_mutexes(void)
{
	for (int i = 0; i < MUTEXES; i++)
		CHECK_EQ(ipcwait_mutex_lock(&mutex[i]), 0);
	matrix_pause();
	for (int i = 0; i < MUTEXES; i++)
		CHECK_EQ(ipcwait_mutex_unlock(&mutex[i]), 0);
}

static void end_mutexes(void)
{
	for (int i = 0; i < MUTEXES; i++)
		CHECK_EQ(ipcwait_mutex_fini(&mutex[i]), 0);
}

static struct ipcwait_cond cond;

static void use_cond(void)
{
	struct ipcwait_cond own;
	int r;

	CHECK_EQ(ipcwait_cond_init(&own, 0), 0);
	CHECK_EQ(ipcwait_mutex_lock(&mutex[0]), 0);
	CHECK_EQ(ipcwait_cond_wait(&cond, &mutex[0]), 0);
	r = ipcwait_cond_wait_until(&cond, &mutex[0], soon());
	CHECK(r == 0 || r == -ETIMEDOUT);
	CHECK_EQ(ipcwait_cond_signal(&own), 0);
	CHECK_EQ(ipcwait_cond_broadcast(&own), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&mutex[0]), 0);
	CHECK_EQ(ipcwait_cond_fini(&own), 0);
}

static void broadcast(void)
{
	CHECK_EQ(ipcwait_mutex_lock(&mutex[0]), 0);
	CHECK_EQ(ipcwait_cond_broadcast(&cond), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&mutex[0]), 0);
	matrix_pause();
}

static struct ipcwait_event event = { .flags = IPCWAIT_AUTO_RESET };

static void use_event(void)
{
	struct ipcwait_event own;

	CHECK_EQ(ipcwait_event_wait(&event), 0);
	CHECK_EQ(ipcwait_event_wait_until(&event, later()), 0);
	CHECK_EQ(ipcwait_event_init(&own, 0), 0);
	CHECK_EQ(ipcwait_event_wait_until(&own, soon()), -ETIMEDOUT);
	CHECK_EQ(ipcwait_event_set(&own), 0);
	CHECK(ipcwait_event_is_set(&own));
	CHECK_EQ(ipcwait_event_trywait(&own), 0);
	CHECK_EQ(ipcwait_event_reset(&own), 0);
	CHECK_EQ(ipcwait_event_fini(&own), 0);
}

static void set_event(void)
{
	CHECK_EQ(ipcwait_event_set(&event), 0);
	matrix_pause();
}

static struct ipcwait_eventcount eventcount;

static void use_eventcount(void)
{
	struct ipcwait_eventcount own;
	uint64_t key;

	CHECK_EQ(ipcwait_eventcount_init(&own, 0), 0);
	key = ipcwait_eventcount_prepare(&eventcount);
	CHECK_EQ(ipcwait_eventcount_commit(&eventcount, key, IPCWAIT_FOREVER), 0);
	(void)!ipcwait_eventcount_prepare(&own);
	(void)ipcwait_eventcount_cancel(&own);
	CHECK_EQ(ipcwait_eventcount_notify(&own, 1), 0);
	CHECK_EQ(ipcwait_eventcount_notify_all(&own), 0);
	CHECK_EQ(ipcwait_eventcount_fini(&own), 0);
}

static void notify(void)
{
	CHECK_EQ(ipcwait_eventcount_notify_all(&eventcount), 0);
	matrix_pause();
}

static struct ipcwait_rwlock rwlock;

static void use_rwlock(void)
{
	struct ipcwait_rwlock own;

	CHECK_EQ(ipcwait_rwlock_init(&own, 0), 0);
	CHECK_EQ(ipcwait_rwlock_rdlock(&rwlock), 0);
	CHECK_EQ(ipcwait_rwlock_rdunlock(&rwlock), 0);
	CHECK_EQ(ipcwait_rwlock_wrlock(&rwlock), 0);
	CHECK_EQ(ipcwait_rwlock_wrunlock(&rwlock), 0);
	CHECK_EQ(ipcwait_rwlock_rdlock_until(&rwlock, later()), 0);
	CHECK_EQ(ipcwait_rwlock_unlock(&rwlock), 0);
	CHECK_EQ(ipcwait_rwlock_wrlock_until(&rwlock, later()), 0);
	CHECK_EQ(ipcwait_rwlock_unlock(&rwlock), 0);
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&own), 0);
	CHECK_EQ(ipcwait_rwlock_trywrlock(&own), -EBUSY);
	CHECK_EQ(ipcwait_rwlock_rdunlock(&own), 0);
	CHECK_EQ(ipcwait_rwlock_fini(&own), 0);
}

static void hold_rwlock(void)
{
	CHECK_EQ(ipcwait_rwlock_wrlock(&rwlock), 0);
	matrix_pause();
	CHECK_EQ(ipcwait_rwlock_wrunlock(&rwlock), 0);
	CHECK_EQ(ipcwait_rwlock_rdlock(&rwlock), 0);
	matrix_pause();
	CHECK_EQ(ipcwait_rwlock_rdunlock(&rwlock), 0);
}

static struct ipcwait_barrier barrier;

static void init_barrier(void)
{
	CHECK_EQ(ipcwait_barrier_init(&barrier, 2, 0), 0);
}

static void use_barrier(void)
{
	CHECK(ipcwait_barrier_wait(&barrier) >= 0);
	CHECK(ipcwait_barrier_wait_until(&barrier, later()) >= 0);
}

static void arrive(void)
{
	int r = ipcwait_barrier_wait_until(&barrier, soon());

	CHECK(r >= 0 || r == -ETIMEDOUT);
}

static void end_barrier(void)
{
	CHECK_EQ(ipcwait_barrier_fini(&barrier), 0);
}

static struct ipcwait_latch latch;

static void init_latch(void)
{
	CHECK_EQ(ipcwait_latch_init(&latch, 3, 0), 0);
}

static void use_latches(void)
{
	struct ipcwait_latch own;

	CHECK_EQ(ipcwait_latch_wait(&latch), 0);
	CHECK_EQ(ipcwait_latch_wait_until(&latch, later()), 0);
	CHECK_EQ(ipcwait_latch_trywait(&latch), 0);
	CHECK_EQ(ipcwait_latch_count(&latch), 0);
	CHECK_EQ(ipcwait_latch_init(&own, 1, 0), 0);
	CHECK_EQ(ipcwait_latch_arrive_and_wait(&own), 0);
	CHECK_EQ(ipcwait_latch_fini(&own), 0);
}

static void count_down(void)
{
	matrix_pause();
	if (ipcwait_latch_count(&latch))
		CHECK_EQ(ipcwait_latch_count_down(&latch, 1), 0);
}

static void end_latch(void)
{
	CHECK_EQ(ipcwait_latch_fini(&latch), 0);
}

static struct ipcwait_once once;

static int do_once(void *unused)
{
	(void)unused;
	matrix_pause();
	return 0;
}

static void init_once(void)
{
	CHECK_EQ(ipcwait_once_init(&once, 0), 0);
}

/* Of the other thread: the function of a once is the program's, and may be one. */
static void use_once(void)
{
	while (!__atomic_load_n(&once.word.v, __ATOMIC_ACQUIRE))
		continue;
	CHECK_EQ(ipcwait_once_run(&once, do_once, NULL), 0);
}

static void run_once(void)
{
	CHECK_EQ(ipcwait_once_run(&once, do_once, NULL), 0);
	matrix_pause();
}

static void end_once(void)
{
	CHECK_EQ(ipcwait_once_fini(&once), 0);
}

static uint32_t word;
static struct ipcwait_window window;

static uint32_t word_now(void)
{
	return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

static void use_futex(void)
{
	struct ipcwait_futex_waiter set = { .word = &word };
	int r = ipcwait_futex_wait(&word, word_now(), later(), &window, 0);

	CHECK(r == 0 || r == -EAGAIN);
	r = ipcwait_futex_wait(&word, word_now(), soon(), &window, 0);
	CHECK(r == 0 || r == -EAGAIN || r == -ETIMEDOUT);
	set.expected = word_now();
	CHECK_EQ(ipcwait_futex_wait_any(&set, 1, later()), 0);
	ipcwait_window_stamp(&window);
	CHECK(ipcwait_futex_wake(&word, 1, 0) >= 0);
}

static void change_word(void)
{
	__atomic_fetch_add(&word, 1, __ATOMIC_RELEASE);
	CHECK(ipcwait_futex_wake(&word, UINT32_MAX, 0) >= 0);
	matrix_pause();
}

static int pipes[2], sockets[2], instance;

static void open_descriptors(void)
{
	struct epoll_event e = { .events = EPOLLIN };

	CHECK(pipe2(pipes, O_NONBLOCK) == 0 && fcntl(pipes[0], F_SETFL, 0) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	CHECK(fcntl(sockets[1], F_SETFL, O_NONBLOCK) == 0);
	instance = epoll_create1(0);
	CHECK(instance >= 0 && epoll_ctl(instance, EPOLL_CTL_ADD, pipes[0], &e) == 0);
}

static void use_descriptors(void)
{
	struct pollfd p = { .fd = pipes[0], .events = POLLIN };
	struct epoll_event e;
	char byte;

	CHECK_EQ(ipcwait_read(pipes[0], &byte, 1, NULL), 1);
	CHECK_EQ(ipcwait_recv(sockets[0], &byte, 1, 0, NULL), 1);
	CHECK_EQ(ipcwait_poll(&p, 1, later(), NULL), 1);
	CHECK_EQ(ipcwait_epoll_wait(instance, &e, 1, later(), NULL), 1);
}

static void fill_descriptors(void)
{
	matrix_pause();
	(void)!write(pipes[1], "x", 1);
	(void)!write(sockets[1], "x", 1);
}

/* Not before the other sleeps, as a rule. */
static void fill_later(void)
{
	for (int i = 0; i < 5; i++)
		matrix_pause();
	fill_descriptors();
}

/* With descriptors, which the library's thread watches, and without. */
static void use_wait_any(void)
{
	struct pollfd p = { .fd = sockets[0], .events = POLLIN };
	struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_SEM, .object = &sem },
		{ .type = IPCWAIT_WAITABLE_EVENT, .object = &event },
		{ .type = IPCWAIT_WAITABLE_FD, .object = &p },
	};

	CHECK_EQ(ipcwait_wait_any(set, 2, soon(), NULL), -ETIMEDOUT);
	CHECK_EQ(ipcwait_wait_any(set, 3, later(), NULL), 2);
}

static void use_settings(void)
{
	const struct ipcwait_policy policy = { .preset = IPCWAIT_ADAPTIVE };
	struct ipcwait_object_stats of_object;
	struct ipcwait_region region = { 0 };
	struct ipcwait_stats of_all;
	char text[512];

	CHECK_EQ(ipcwait_policy_set_default(&policy), 0);
	CHECK_EQ(ipcwait_window_set_preset(&window, IPCWAIT_SPIN), 0);
	CHECK_EQ(ipcwait_object_set_name(&window, "matrix"), 0);
	(void)ipcwait_explain(&window, text, sizeof(text));
	CHECK(ipcwait_stats_get(&of_all, sizeof(of_all)) > 0);
	(void)ipcwait_object_stats_get(&window, &of_object, sizeof(of_object));
	CHECK_EQ(ipcwait_region_attach(&region), 0);
	CHECK_EQ(ipcwait_region_layout(&region), IPCWAIT_LAYOUT);
}

const struct matrix_row matrix_rows[] = {
	{ "ipcwait_version ipcwait_now_ns ipcwait_deadline_in_ns", .act = use_base },
	{ "ipcwait_awake_begin ipcwait_awake_end", .act = use_awake },
	{ "ipcwait_calibration_get ipcwait_calibration_path", .act = use_calibration },
	{ "ipcwait_calibration_save", .act = save_calibration },
	{ "ipcwait_calibrate", .act = calibrate, .slow = true },
	{ "ipcwait_sem_init ipcwait_sem_fini ipcwait_sem_wait ipcwait_sem_wait_until "
	  "ipcwait_sem_trywait ipcwait_sem_post ipcwait_sem_post_n ipcwait_sem_value",
	  .act = use_sem, .help = post },
	{ "ipcwait_mutex_init ipcwait_mutex_fini ipcwait_mutex_lock "
	  "ipcwait_mutex_lock_until ipcwait_mutex_trylock ipcwait_mutex_unlock "
	  "ipcwait_mutex_consistent",
	  .begin = init_mutexes, .act = use_mutexes, .help = hold_mutexes,
	  .end = end_mutexes },
	{ "ipcwait_cond_init ipcwait_cond_fini ipcwait_cond_wait ipcwait_cond_wait_until "
	  "ipcwait_cond_signal ipcwait_cond_broadcast",
	  .act = use_cond, .help = broadcast },
	{ "ipcwait_event_init ipcwait_event_fini ipcwait_event_wait "
	  "ipcwait_event_wait_until ipcwait_event_trywait ipcwait_event_set "
	  "ipcwait_event_reset ipcwait_event_is_set",
	  .act = use_event, .help = set_event },
	{ "ipcwait_eventcount_init ipcwait_eventcount_fini ipcwait_eventcount_prepare "
	  "ipcwait_eventcount_cancel ipcwait_eventcount_commit ipcwait_eventcount_notify "
	  "ipcwait_eventcount_notify_all",
	  .act = use_eventcount, .help = notify },
	{ "ipcwait_rwlock_init ipcwait_rwlock_fini ipcwait_rwlock_rdlock "
	  "ipcwait_rwlock_rdlock_until ipcwait_rwlock_tryrdlock ipcwait_rwlock_rdunlock "
	  "ipcwait_rwlock_wrlock ipcwait_rwlock_wrlock_until ipcwait_rwlock_trywrlock "
	  "ipcwait_rwlock_wrunlock ipcwait_rwlock_unlock",
	  .act = use_rwlock, .help = hold_rwlock },
	{ "ipcwait_barrier_init ipcwait_barrier_fini ipcwait_barrier_wait "
	  "ipcwait_barrier_wait_until",
	  .begin = init_barrier, .act = use_barrier, .help = arrive, .end = end_barrier },
	{ "ipcwait_latch_init ipcwait_latch_fini ipcwait_latch_wait "
	  "ipcwait_latch_wait_until ipcwait_latch_trywait ipcwait_latch_count "
	  "ipcwait_latch_count_down ipcwait_latch_arrive_and_wait",
	  .begin = init_latch, .act = use_latches, .help = count_down, .end = end_latch },
	{ "ipcwait_once_init ipcwait_once_fini ipcwait_once_run", .begin = init_once,
	  .act = use_once, .help = run_once, .end = end_once },
	{ "ipcwait_futex_wait ipcwait_futex_wait_any ipcwait_futex_wake "
	  "ipcwait_window_stamp",
	  .act = use_futex, .help = change_word },
	{ "ipcwait_read ipcwait_recv ipcwait_poll ipcwait_epoll_wait",
	  .begin = open_descriptors, .act = use_descriptors, .help = fill_descriptors },
	{ "ipcwait_wait_any", .begin = open_descriptors, .act = use_wait_any,
	  .help = fill_later },
	{ "ipcwait_policy_set_default ipcwait_window_set_preset ipcwait_object_set_name "
	  "ipcwait_explain ipcwait_stats_get ipcwait_object_stats_get "
	  "ipcwait_region_attach ipcwait_region_layout",
	  .act = use_settings },
	{ 0 },
};
