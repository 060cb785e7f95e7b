/* SPDX-License-Identifier: MIT */
/* Descriptors in ipcwait_wait_any() with the kernel that there is: every documented result, and
 * threads that are woken for a descriptor or for what stands beside one. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/task.h"

#define MOST   IPCWAIT_WAIT_ANY_MAX
#define LATER  ipcwait_deadline_in_ns(INT64_C(2000000))
#define ROUNDS 3000

static int pipes[2], sockets[2], event;
static struct ipcwait_sem sem;
static struct pollfd of_pipe, of_socket;
static struct ipcwait_waitable set[3];
static char byte;

static struct ipcwait_waitable waitable(struct pollfd *p)
{
	return (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_FD, .object = p };
}

static int setup(void **state)
{
	(void)state;
	check_watchdog(60);
	memset(&sem, 0, sizeof(sem));
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	event = eventfd(0, EFD_NONBLOCK);
	assert_true(event >= 0);
	of_pipe = (struct pollfd){ .fd = pipes[0], .events = POLLIN };
	of_socket = (struct pollfd){ .fd = sockets[0], .events = POLLIN };
	set[0] = waitable(&of_pipe);
	set[1] = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM, .object = &sem };
	set[2] = waitable(&of_socket);
	errno = 4711;
	return 0;
}

static int teardown(void **state)
{
	int r = errno == 4711 ? 0 : -1;

	(void)state;
	for (int i = 0; i < 2; i++) {
		(void)close(pipes[i]);
		(void)close(sockets[i]);
	}
	(void)close(event);
	return r;
}

static void put(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void get(int fd)
{
	assert_int_equal(read(fd, &byte, 1), 1);
}

static void refused(struct ipcwait_waitable bad)
{
	struct ipcwait_waitable with[] = { set[1], bad };

	assert_int_equal(ipcwait_sem_post(&sem), 0);
	assert_int_equal(ipcwait_wait_any(with, 2, LATER, NULL), -EINVAL);
	assert_int_equal(ipcwait_wait_any(&bad, 1, 0, NULL), -EINVAL);
	assert_int_equal(ipcwait_sem_trywait(&sem), 0);
}

static void test_bad_input(void **state)
{
	_Alignas(8) char bytes[32] = { 0 };
	struct pollfd none = { .fd = -1, .events = POLLIN };
	struct ipcwait_waitable bad = waitable(NULL);

	(void)state;
	refused(bad);
	for (unsigned offset = 1; offset < _Alignof(struct pollfd); offset++)
		refused(waitable((struct pollfd *)(void *)(bytes + offset)));
	refused(waitable(&none));
	none.fd = INT32_MIN;
	refused(waitable(&none));
	bad = waitable(&of_pipe);
	for (unsigned flag = 1; flag; flag <<= 1) {
		bad.flags = flag;
		refused(bad);
	}
	bad = waitable(&of_pipe);
	bad.type = (enum ipcwait_waitable_type)(IPCWAIT_WAITABLE_FD + 1);
	refused(bad);
}

static void test_what_is_there(void **state)
{
	(void)state;
	put(sockets[1], "a");
	of_pipe.revents = of_socket.revents = 0x55;
	assert_int_equal(ipcwait_wait_any(set, 3, IPCWAIT_FOREVER, NULL), 2);
	assert_int_equal(of_socket.revents, POLLIN);
	assert_int_equal(of_pipe.revents, 0);
	/* Nothing is taken, and the deadline does not matter. */
	assert_int_equal(ipcwait_wait_any(set, 3, INT64_MIN, NULL), 2);
	assert_int_equal(ipcwait_sem_post(&sem), 0);
	assert_int_equal(ipcwait_wait_any(set, 3, 0, NULL), 1);
	put(pipes[1], "b");
	assert_int_equal(ipcwait_wait_any(set, 3, 0, NULL), 0);
	assert_int_equal(of_pipe.revents, POLLIN);
	get(pipes[0]);
	get(sockets[0]);
	of_socket.events = POLLIN | POLLOUT;
	assert_int_equal(ipcwait_wait_any(set, 3, 0, NULL), 2);
	assert_int_equal(of_socket.revents, POLLOUT);
}

static void test_ends(void **state)
{
	(void)state;
	assert_int_equal(close(pipes[1]), 0);
	assert_int_equal(ipcwait_wait_any(set, 3, IPCWAIT_FOREVER, NULL), 0);
	assert_int_equal(of_pipe.revents, POLLHUP);
	/* What poll(2) reports unasked. */
	of_pipe.events = 0;
	assert_int_equal(ipcwait_wait_any(set, 3, IPCWAIT_FOREVER, NULL), 0);
	assert_int_equal(of_pipe.revents, POLLHUP);
	pipes[1] = dup(event);
	of_pipe.fd = 1 << 20;
	assert_int_equal(ipcwait_wait_any(set, 3, IPCWAIT_FOREVER, NULL), 0);
	assert_int_equal(of_pipe.revents, POLLNVAL);
	of_pipe.fd = pipes[1];
	of_pipe.events = POLLIN;
	assert_int_equal(shutdown(sockets[1], SHUT_WR), 0);
	assert_int_equal(ipcwait_wait_any(set, 3, IPCWAIT_FOREVER, NULL), 2);
	assert_int_equal(of_socket.revents, POLLIN);
}

static void test_kinds(void **state)
{
	struct pollfd file = { .fd = open("/proc/self/exe", O_RDONLY), .events = POLLIN };
	struct pollfd count = { .fd = event, .events = POLLIN };
	struct ipcwait_waitable both[] = { waitable(&count), waitable(&file) };
	uint64_t one = 1;

	(void)state;
	assert_true(file.fd >= 0);
	assert_int_equal(ipcwait_wait_any(both, 2, IPCWAIT_FOREVER, NULL), 1);
	assert_int_equal(file.revents, POLLIN);
	assert_int_equal(ipcwait_wait_any(both, 1, LATER, NULL), -ETIMEDOUT);
	assert_int_equal(write(event, &one, sizeof(one)), sizeof(one));
	assert_int_equal(ipcwait_wait_any(both, 2, IPCWAIT_FOREVER, NULL), 0);
	assert_int_equal(count.revents, POLLIN);
	(void)close(file.fd);
}

static void test_deadlines(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	for (int i = 0; i < 20; i++) {
		int64_t deadline_ns = LATER;
		unsigned n = 1 + (unsigned)i % 3;

		assert_int_equal(ipcwait_wait_any(set, n, deadline_ns, i % 2 ? &w : NULL),
				 -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline_ns);
		assert_int_equal(of_pipe.revents, 0);
	}
	assert_int_equal(ipcwait_wait_any(set, 3, -1, NULL), -ETIMEDOUT);
	assert_int_equal(ipcwait_sem_fini(&sem), 0);
}

/* One call, in a thread of its own. */
struct waiter {
	pthread_t thread;
	const struct ipcwait_waitable *set;
	unsigned n;
	int64_t deadline_ns;
	struct ipcwait_window w;
	int id;
	int result;
};

static void *wait_once(void *arg)
{
	struct waiter *me = arg;

	__atomic_store_n(&me->id, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	errno = 4711;
	me->result = ipcwait_wait_any(me->set, me->n, me->deadline_ns, &me->w);
	CHECK_EQ(errno, 4711);
	return NULL;
}

/* It does not spin: a sleep that is seen is the wait's, and may only be its last look. */
static void start(struct waiter *me, const struct ipcwait_waitable *s, unsigned n)
{
	*me = (struct waiter){ .set = s, .n = n, .deadline_ns = IPCWAIT_FOREVER };
	assert_int_equal(ipcwait_window_set_preset(&me->w, IPCWAIT_BLOCK), 0);
	assert_int_equal(pthread_create(&me->thread, NULL, wait_once, me), 0);
}

static bool is_asleep(void *arg)
{
	int id = __atomic_load_n(&((struct waiter *)arg)->id, __ATOMIC_ACQUIRE);

	return id && task_sleeps(id);
}

static void start_to_sleep(struct waiter *me, const struct ipcwait_waitable *s, unsigned n)
{
	start(me, s, n);
	assert_true(check_eventually(is_asleep, me));
}

static int result(struct waiter *me)
{
	assert_int_equal(pthread_join(me->thread, NULL), 0);
	return me->result;
}

/* For each object of the set, in any order of them. */
static void test_woken(void **state)
{
	struct waiter me;

	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		struct ipcwait_waitable s[3];
		unsigned what = round % 3;

		for (unsigned i = 0; i < 3; i++)
			s[i] = set[(i + round / 3) % 3];
		start_to_sleep(&me, s, 3);
		if (what == 1)
			assert_int_equal(ipcwait_sem_post(&sem), 0);
		else
			put(what ? sockets[1] : pipes[1], "x");
		assert_int_equal((result(&me) + (int)round / 3) % 3, what);
		if (what != 1)
			get(what ? sockets[0] : pipes[0]);
	}
	assert_int_equal(ipcwait_sem_value(&sem), 0);
	assert_int_equal(ipcwait_sem_fini(&sem), 0);
}

static void test_woken_by_ends(void **state)
{
	struct waiter me;

	(void)state;
	of_pipe.events = 0;
	start_to_sleep(&me, set, 3);
	assert_int_equal(close(pipes[1]), 0);
	assert_int_equal(result(&me), 0);
	assert_int_equal(of_pipe.revents, POLLHUP);
	pipes[1] = dup(event);
	of_socket.events = POLLRDHUP;
	start_to_sleep(&me, &set[1], 2);
	assert_int_equal(shutdown(sockets[1], SHUT_WR), 0);
	assert_int_equal(result(&me), 1);
	assert_int_equal(of_socket.revents, POLLRDHUP);
}

/* The kernel keeps one entry for both. */
static void test_twice(void **state)
{
	struct pollfd other = { .fd = sockets[0], .events = POLLRDHUP };
	struct ipcwait_waitable twice[] = { waitable(&other), set[1], set[2] };
	struct waiter me;

	(void)state;
	for (int i = 0; i < 10; i++) {
		start_to_sleep(&me, twice, 3);
		put(sockets[1], "x");
		assert_int_equal(result(&me), 2);
		assert_int_equal(of_socket.revents, POLLIN);
		get(sockets[0]);
	}
	of_socket.events = 0;
	start_to_sleep(&me, twice, 3);
	assert_int_equal(shutdown(sockets[1], SHUT_WR), 0);
	assert_int_equal(result(&me), 0);
}

/* Another epoll instance is a descriptor like any other. */
static void test_epoll(void **state)
{
	struct pollfd p = { .fd = epoll_create1(0), .events = POLLIN };
	struct ipcwait_waitable s[] = { set[1], waitable(&p) };
	struct epoll_event e = { .events = EPOLLIN };
	struct waiter me;

	(void)state;
	assert_int_equal(epoll_ctl(p.fd, EPOLL_CTL_ADD, pipes[0], &e), 0);
	start_to_sleep(&me, s, 2);
	put(pipes[1], "x");
	assert_int_equal(result(&me), 1);
	(void)close(p.fd);
}

/* Nothing is taken: both are told. */
static void test_two_threads(void **state)
{
	struct pollfd other = of_pipe;
	struct ipcwait_waitable s[] = { set[1], waitable(&other) };
	struct waiter a, b;

	(void)state;
	start_to_sleep(&a, set, 3);
	start_to_sleep(&b, s, 2);
	put(pipes[1], "x");
	assert_int_equal(result(&a), 0);
	assert_int_equal(result(&b), 1);
}

/* Closed while somebody waits for it, and alive by another number: nobody is woken for it later. */
static void test_closed_meanwhile(void **state)
{
	struct waiter me;
	int other;

	(void)state;
	start_to_sleep(&me, set, 3);
	other = dup(pipes[0]);
	assert_int_equal(close(pipes[0]), 0);
	assert_int_equal(ipcwait_sem_post(&sem), 0);
	/* What it was woken for comes first. If it looks before that, there is no descriptor. */
	if (result(&me) == 0) {
		assert_int_equal(of_pipe.revents, POLLNVAL);
		assert_int_equal(ipcwait_sem_trywait(&sem), 0);
	}
	assert_int_equal(ipcwait_sem_value(&sem), 0);
	put(pipes[1], "x");
	pipes[0] = other;
	for (int i = 0; i < 10; i++) {
		start_to_sleep(&me, &set[1], 2);
		assert_int_equal(ipcwait_sem_post(&sem), 0);
		assert_int_equal(result(&me), 0);
	}
}

static void test_many(void **state)
{
	static struct pollfd p[MOST];
	static struct ipcwait_waitable s[MOST];
	int fds[MOST][2];
	struct waiter me;

	(void)state;
	for (unsigned i = 0; i < MOST; i++) {
		assert_int_equal(pipe(fds[i]), 0);
		p[i] = (struct pollfd){ .fd = fds[i][0], .events = POLLIN };
		s[i] = waitable(&p[i]);
	}
	for (unsigned i = 0; i < MOST; i += 9) {
		start_to_sleep(&me, s, MOST);
		put(fds[i][1], "x");
		assert_int_equal(result(&me), i);
		get(fds[i][0]);
	}
	for (unsigned i = 0; i < MOST; i++)
		for (int k = 0; k < 2; k++)
			(void)close(fds[i][k]);
}

static volatile sig_atomic_t handled;

static void handle(int number)
{
	(void)number;
	handled++;
}

/* With SA_RESTART and without. */
static void test_signals(void **state)
{
	struct waiter me;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sigaction action = { .sa_handler = handle,
					    .sa_flags = i ? SA_RESTART : 0 };

		assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
		start_to_sleep(&me, set, 3);
		for (int k = 0; k < 50; k++) {
			assert_int_equal(pthread_kill(me.thread, SIGUSR1), 0);
			(void)usleep(100);
		}
		put(sockets[1], "x");
		assert_int_equal(result(&me), 2);
		get(sockets[0]);
	}
}

/* The partner answers by the way that it was asked. */
static void *answer(void *arg)
{
	struct ipcwait_sem *asked = arg;
	struct pollfd p = { .fd = sockets[1], .events = POLLIN };
	const struct ipcwait_waitable s[] = {
		{ .type = IPCWAIT_WAITABLE_SEM, .object = asked }, waitable(&p)
	};

	for (int i = 0; i < ROUNDS; i++) {
		int r = ipcwait_wait_any(s, 2, IPCWAIT_FOREVER, NULL);
		char text;

		CHECK(r >= 0);
		if (r == 0) {
			CHECK_EQ(ipcwait_sem_post(&sem), 0);
			continue;
		}
		CHECK_EQ(p.revents, POLLIN);
		CHECK_EQ(read(p.fd, &text, 1), 1);
		CHECK_EQ(write(p.fd, &text, 1), 1);
	}
	return NULL;
}

static void test_hand_offs(void **state)
{
	static struct ipcwait_sem asked;
	pthread_t partner;

	(void)state;
	assert_int_equal(pthread_create(&partner, NULL, answer, &asked), 0);
	for (int i = 0; i < ROUNDS; i++) {
		bool by_socket = i / 7 % 2;

		if (by_socket)
			put(sockets[0], "x");
		else
			assert_int_equal(ipcwait_sem_post(&asked), 0);
		assert_int_equal(ipcwait_wait_any(set, 3, IPCWAIT_FOREVER, NULL),
				 by_socket ? 2 : 1);
		if (by_socket)
			get(sockets[0]);
	}
	assert_int_equal(pthread_join(partner, NULL), 0);
	assert_int_equal(ipcwait_sem_fini(&sem), 0);
	assert_int_equal(ipcwait_sem_fini(&asked), 0);
}

#define TEST(f)         cmocka_unit_test_setup_teardown(f, setup, teardown)
#define THREADS_TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bad_input),
		TEST(test_what_is_there),
		TEST(test_ends),
		TEST(test_kinds),
		TEST(test_deadlines),
		TEST(test_woken),
		TEST(test_woken_by_ends),
		TEST(test_twice),
		TEST(test_epoll),
		TEST(test_two_threads),
		TEST(test_closed_meanwhile),
		TEST(test_many),
		THREADS_TEST(test_signals),
		TEST(test_hand_offs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
