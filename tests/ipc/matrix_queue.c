/* SPDX-License-Identifier: MIT */
/* Rows of lib/queue, and fork(2), in which the library takes part. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "matrix.h"

#define LONG_NS  INT64_C(100000000000)
#define SHORT_NS INT64_C(300000)

/* Elements until several segments are used up. */
#define MANY 2000

static int64_t later(void)
{
	return ipcwait_deadline_in_ns(LONG_NS);
}

static int64_t soon(void)
{
	return ipcwait_deadline_in_ns(SHORT_NS);
}

static struct ipcwait_pool *pool;

static void use_pool(void)
{
	struct ipcwait_pool_params params = { .elem_size = 1024 };
	struct ipcwait_pool_stats st;
	static void *elem[200];

	CHECK_EQ(ipcwait_pool_create(&params, &pool), 0);
	for (int i = 0; i < 200; i++)
		CHECK((elem[i] = ipcwait_pool_get(pool)) != NULL);
	for (int i = 0; i < 200; i++)
		ipcwait_pool_put(pool, elem[i]);
	CHECK(ipcwait_pool_stats_get(pool, &st, sizeof(st)) > 0);
	(void)ipcwait_pool_trim(pool);
	ipcwait_pool_destroy(pool);
}

/* One is the helper's, whose sections are waited for; one is fed by it. */
static struct ipcwait_queue *others, *fed;

static struct ipcwait_queue *make_queue(void)
{
	struct ipcwait_queue_params params = { .elem_size = 8 };
	struct ipcwait_queue *q = ipcwait_queue_create(&params);

	CHECK(ipcwait_queue_params_check(&params) == 0 && q != NULL);
	return q;
}

static void make_queues(void)
{
	others = make_queue();
	fed = make_queue();
}

static void fill_and_empty(struct ipcwait_queue *q)
{
	uint64_t x = 1;

	for (int i = 0; i < MANY; i++)
		CHECK_EQ(ipcwait_queue_push(q, &x), 0);
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(ipcwait_queue_trypop(q, &x), 0);
}

static void use_queues(void)
{
	struct ipcwait_queue *own = make_queue();
	struct ipcwait_queue_stats st;
	uint64_t x[2] = { 1, 2 }, lo, hi;

	CHECK_EQ(ipcwait_queue_pop(fed, x), 0);
	CHECK_EQ(ipcwait_queue_pop_until(fed, x, later()), 0);
	CHECK_EQ(ipcwait_queue_pop_n_until(fed, x, 1, later()), 1);
	CHECK_EQ(ipcwait_queue_pop_until(own, x, soon()), -ETIMEDOUT);
	CHECK_EQ(ipcwait_queue_push_n(own, x, 2), 2);
	CHECK_EQ(ipcwait_queue_pop_n(own, x, 2), 2);
	fill_and_empty(own);
	(void)ipcwait_queue_trim(own);
	CHECK_EQ(ipcwait_queue_length(own, &lo, &hi), 0);
	CHECK(ipcwait_queue_stats_get(own, &st, sizeof(st)) > 0);
	CHECK_EQ(ipcwait_queue_close(own), 0);
	ipcwait_queue_destroy(own);
}

static void feed_queues(void)
{
	uint64_t x = 1;

	CHECK_EQ(ipcwait_queue_push(fed, &x), 0);
	fill_and_empty(others);
}

/* Nobody hangs who uses queues, or forks, afterwards. */
static void end_queues(void)
{
	pid_t child;

	fill_and_empty(others);
	(void)ipcwait_queue_trim(others);
	child = fork();
	CHECK(child >= 0);
	if (!child)
		_exit(0);
	CHECK_EQ(check_reap(child), 0);
	ipcwait_queue_destroy(others);
	ipcwait_queue_destroy(fed);
}

static struct ipcwait_spsc *to, *from;

static struct ipcwait_spsc *make_spsc(uint64_t capacity)
{
	struct ipcwait_spsc_params params = { .elem_size = 8, .capacity = capacity };
	struct ipcwait_spsc *q = ipcwait_spsc_create(&params);

	CHECK(ipcwait_spsc_params_check(&params) == 0 && q != NULL);
	return q;
}

static void make_spscs(void)
{
	to = make_spsc(2);
	from = make_spsc(2);
}

static void use_spscs(void)
{
	struct ipcwait_spsc *own = make_spsc(0);
	uint64_t x[2] = { 1, 2 }, lo, hi;
	size_t n = 1;

	for (int i = 0; i < 4; i++)
		CHECK_EQ(ipcwait_spsc_push_until(to, x, later()), 0);
	CHECK_EQ(ipcwait_spsc_pop(from, x), 0);
	CHECK_EQ(ipcwait_spsc_pop_until(from, x, later()), 0);
	CHECK_EQ(ipcwait_spsc_pop_until(own, x, soon()), -ETIMEDOUT);
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(ipcwait_spsc_push(own, x), 0);
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(ipcwait_spsc_trypop(own, x), 0);
	CHECK_EQ(ipcwait_spsc_push_n(own, x, 2), 2);
	CHECK_EQ(ipcwait_spsc_pop_n(own, x, 2), 2);
	CHECK(ipcwait_spsc_reserve(own, &n) && n == 1);
	CHECK_EQ(ipcwait_spsc_commit(own, 1), 0);
	CHECK(ipcwait_spsc_peek(own, &n) && n == 1);
	CHECK_EQ(ipcwait_spsc_release(own, 1), 0);
	CHECK_EQ(ipcwait_spsc_length(own, &lo, &hi), 0);
	(void)ipcwait_spsc_trim(own);
	CHECK_EQ(ipcwait_spsc_close(own), 0);
	ipcwait_spsc_destroy(own);
}

static void serve_spscs(void)
{
	uint64_t x = 1;

	(void)!ipcwait_spsc_trypop(to, &x);
	(void)!ipcwait_spsc_push(from, &x);
	matrix_pause();
}

static void end_spscs(void)
{
	ipcwait_spsc_destroy(to);
	ipcwait_spsc_destroy(from);
}

static struct ipcwait_channel *out, *in, *meeting, *watched;

static struct ipcwait_channel *make_channel(uint64_t capacity)
{
	struct ipcwait_channel_params params = { .elem_size = 8, .capacity = capacity };
	struct ipcwait_channel *ch = ipcwait_channel_create(&params);

	CHECK(ipcwait_channel_params_check(&params) == 0 && ch != NULL);
	return ch;
}

static void make_channels(void)
{
	out = make_channel(1);
	in = make_channel(1);
	meeting = make_channel(0);
	watched = make_channel(4);
	CHECK(ipcwait_channel_eventfd(watched) >= 0);
}

static void use_eventfd(void)
{
	struct pollfd p = { .fd = ipcwait_channel_eventfd(watched), .events = POLLIN };
	struct ipcwait_channel *own = make_channel(1);
	uint64_t x = 1;

	CHECK_EQ(ipcwait_channel_tryrecv(watched, &x), -EAGAIN);
	CHECK_EQ(ipcwait_channel_send(watched, &x), 0);
	CHECK_EQ(ipcwait_poll(&p, 1, 0, NULL), 1);
	CHECK_EQ(ipcwait_channel_tryrecv(watched, &x), 0);
	CHECK_EQ(ipcwait_channel_tryrecv(watched, &x), -EAGAIN);
	CHECK_EQ(ipcwait_channel_trysend(watched, &x), 0);
	CHECK_EQ(ipcwait_poll(&p, 1, 0, NULL), 1);
	CHECK(ipcwait_channel_eventfd(own) >= 0);
	CHECK_EQ(ipcwait_channel_close(own), 0);
	ipcwait_channel_destroy(own);
}

static void use_channels(void)
{
	uint64_t x[2] = { 1, 2 }, lo, hi;
	struct ipcwait_channel_case cases[] = {
		{ .channel = in, .op = IPCWAIT_CHANNEL_RECV, .elem = x },
		{ .channel = meeting, .op = IPCWAIT_CHANNEL_SEND, .elem = x },
	};

	CHECK_EQ(ipcwait_channel_send(out, x), 0);
	CHECK_EQ(ipcwait_channel_send_until(out, x, later()), 0);
	CHECK_EQ(ipcwait_channel_send_n(out, x, 2, later()), 2);
	CHECK_EQ(ipcwait_channel_recv(in, x), 0);
	CHECK_EQ(ipcwait_channel_recv_until(in, x, later()), 0);
	CHECK_EQ(ipcwait_channel_recv_n(in, x, 1, later()), 1);
	CHECK_EQ(ipcwait_channel_send(meeting, x), 0);
	CHECK(ipcwait_channel_select(cases, 2, later()) >= 0);
	CHECK_EQ(ipcwait_channel_length(out, &lo, &hi), 0);
	CHECK_EQ(ipcwait_channel_elem_size(out), 8);
	use_eventfd();
}

static void serve_channels(void)
{
	uint64_t x = 1;

	(void)!ipcwait_channel_tryrecv(out, &x);
	(void)!ipcwait_channel_trysend(in, &x);
	(void)!ipcwait_channel_recv_until(meeting, &x, soon());
}

static void end_channels(void)
{
	struct pollfd p = { .fd = ipcwait_channel_eventfd(watched), .events = POLLIN };

	CHECK_EQ(ipcwait_poll(&p, 1, 0, NULL), 1);
	ipcwait_channel_destroy(out);
	ipcwait_channel_destroy(in);
	ipcwait_channel_destroy(meeting);
	ipcwait_channel_destroy(watched);
}

static int memory;

static void make_memory(void)
{
	memory = memfd_create("matrix", MFD_CLOEXEC);
	CHECK(memory >= 0);
}

static void use_shared_channel(void)
{
	struct ipcwait_channel_params params = { .elem_size = 8, .capacity = 1 };
	struct ipcwait_channel_shared_stats st;
	struct ipcwait_channel *a, *b;
	uint64_t x = 1;

	CHECK_EQ(ipcwait_channel_create_shared(memory, &params, &a), 0);
	CHECK_EQ(ipcwait_channel_attach(memory, &b), 0);
	CHECK_EQ(ipcwait_channel_send(a, &x), 0);
	CHECK_EQ(ipcwait_channel_send_until(a, &x, soon()), -ETIMEDOUT);
	CHECK_EQ(ipcwait_channel_recv(b, &x), 0);
	CHECK_EQ(ipcwait_channel_recv_until(b, &x, soon()), -ETIMEDOUT);
	CHECK(ipcwait_channel_shared_stats_get(a, &st, sizeof(st)) > 0);
	CHECK_EQ(ipcwait_channel_close(a), 0);
	ipcwait_channel_destroy(b);
	ipcwait_channel_destroy(a);
}

/* Children are not waited for: wait(2) is a cancellation point. */
static void make_queues_for_fork(void)
{
	CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
	make_queues();
	fill_and_empty(others);
}

static void use_fork(void)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child)
		_exit(0);
}

static void end_fork(void)
{
	CHECK(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
	end_queues();
}

const struct matrix_row matrix_queue_rows[] = {
	{ "ipcwait_pool_create ipcwait_pool_destroy ipcwait_pool_get ipcwait_pool_put "
	  "ipcwait_pool_trim ipcwait_pool_stats_get",
	  .act = use_pool },
	{ "ipcwait_queue_create ipcwait_queue_destroy ipcwait_queue_params_check "
	  "ipcwait_queue_push ipcwait_queue_push_n ipcwait_queue_trypop "
	  "ipcwait_queue_pop ipcwait_queue_pop_until ipcwait_queue_pop_n "
	  "ipcwait_queue_pop_n_until ipcwait_queue_length ipcwait_queue_stats_get "
	  "ipcwait_queue_trim ipcwait_queue_close",
	  .begin = make_queues, .act = use_queues, .help = feed_queues, .end = end_queues },
	{ "ipcwait_spsc_create ipcwait_spsc_destroy ipcwait_spsc_params_check "
	  "ipcwait_spsc_push ipcwait_spsc_push_until ipcwait_spsc_push_n "
	  "ipcwait_spsc_trypop ipcwait_spsc_pop ipcwait_spsc_pop_until ipcwait_spsc_pop_n "
	  "ipcwait_spsc_reserve ipcwait_spsc_commit ipcwait_spsc_peek "
	  "ipcwait_spsc_release ipcwait_spsc_length ipcwait_spsc_trim ipcwait_spsc_close",
	  .begin = make_spscs, .act = use_spscs, .help = serve_spscs, .end = end_spscs },
	{ "ipcwait_channel_create ipcwait_channel_destroy ipcwait_channel_params_check "
	  "ipcwait_channel_send ipcwait_channel_trysend ipcwait_channel_send_until "
	  "ipcwait_channel_send_n ipcwait_channel_recv ipcwait_channel_tryrecv "
	  "ipcwait_channel_recv_until ipcwait_channel_recv_n ipcwait_channel_select "
	  "ipcwait_channel_close ipcwait_channel_length ipcwait_channel_elem_size "
	  "ipcwait_channel_eventfd",
	  .begin = make_channels, .act = use_channels, .help = serve_channels,
	  .end = end_channels },
	{ "ipcwait_channel_create_shared ipcwait_channel_attach "
	  "ipcwait_channel_shared_stats_get",
	  .begin = make_memory, .act = use_shared_channel },
	{ "fork", .begin = make_queues_for_fork, .act = use_fork, .help = feed_queues,
	  .end = end_fork },
	{ 0 },
};
