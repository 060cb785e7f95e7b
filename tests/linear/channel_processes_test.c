/* SPDX-License-Identifier: MIT */
/*
 * What processes do to a channel between them, by the checker of queues; the history is in memory
 * that they share. An attempt that found nothing, or no room, is left out of the history where it
 * may be early: while another process is in the middle of putting in or taking out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ipcwait/channel_shared.h>

#include "common/check.h"
#include "common/cmocka_all.h"
#include "linear/queue_check.h"

#define OPS           60000
#define PROCESSES_MAX 4
#define SOON          20000 /* ns */

/* In memory that all of them share. */
static struct shared {
	struct history all, part[PROCESSES_MAX];
	struct history_op ops[2 * OPS];
	unsigned ready;
} * shared;

static int fd;
static uint64_t run_seed;
static unsigned processes;

static int64_t do_op(struct ipcwait_channel *ch, unsigned code, int64_t arg, bool tries)
{
	int64_t value = arg, deadline = ipcwait_deadline_in_ns(SOON), r;

	if (code == QUEUE_CLOSE)
		return ipcwait_channel_close(ch);
	if (code == QUEUE_SEND)
		r = tries ? ipcwait_channel_trysend(ch, &value)
			  : ipcwait_channel_send_until(ch, &value, deadline);
	else
		r = tries ? ipcwait_channel_tryrecv(ch, &value)
			  : ipcwait_channel_recv_until(ch, &value, deadline);
	return r || code == QUEUE_SEND ? r : value;
}

static int64_t record(struct history *h, struct ipcwait_channel *ch, unsigned id,
		      unsigned code, int64_t arg, bool tries)
{
	struct history_op *op = history_call(h, id, code, arg);
	int64_t r = do_op(ch, code, arg, tries);

	if (r == -EAGAIN || r == -ETIMEDOUT)
		h->count--;
	else
		history_return(h, op, r);
	return r;
}

/* They begin together: the first would be done before the last has attached. */
static void meet(void)
{
	(void)__atomic_add_fetch(&shared->ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) < processes)
		(void)usleep(10);
}

/* Number 0 only receives, number 1 only sends and closes half way, if @closes; others do both. */
static void use(unsigned id, bool closes)
{
	uint64_t seed = run_seed + id * 7919;
	size_t n = OPS / processes;
	struct ipcwait_channel *ch;

	CHECK_EQ(ipcwait_channel_attach(fd, &ch), 0);
	meet();
	for (size_t i = 0; i < n; i++) {
		uint64_t r = check_random(&seed) >> 16;
		bool sends = id == 1 || (id > 1 && r & 1);

		if (closes && id == 1 && i == n / 2)
			(void)record(&shared->part[id], ch, id, QUEUE_CLOSE, 0, false);
		(void)record(&shared->part[id], ch, id, sends ? QUEUE_SEND : QUEUE_RECV,
			     sends ? (int64_t)(id * n + i) : 0, r >> 8 & 1);
	}
	ipcwait_channel_destroy(ch);
}

static pid_t begin(unsigned id, bool closes)
{
	pid_t child;

	(void)fflush(NULL);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		check_watchdog(200);
		use(id, closes);
		_exit(0);
	}
	return child;
}

static struct ipcwait_channel *make(uint64_t capacity)
{
	const struct ipcwait_channel_params params = { .elem_size = sizeof(int64_t),
						       .capacity = capacity };
	struct ipcwait_channel *ch;

	fd = memfd_create("channel_processes_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(fd >= 0);
	CHECK_EQ(ipcwait_channel_create_shared(fd, &params, &ch), 0);
	return ch;
}

/* What is left, and that nothing is, which is exact as nobody else is there. */
static void drain(struct ipcwait_channel *ch)
{
	struct history_op *op;

	do {
		op = history_call(&shared->all, PROCESSES_MAX, QUEUE_RECV, 0);
		history_return(&shared->all, op, do_op(ch, QUEUE_RECV, 0, true));
	} while (op->result >= 0);
}

static void check(uint64_t capacity, unsigned n, bool closes)
{
	const struct queue_rules rules = { .capacity = (int64_t)capacity };
	struct ipcwait_channel *ch = make(capacity);
	pid_t child[PROCESSES_MAX];
	struct queue_result r;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	run_seed = check_seed();
	processes = n;
	history_begin(&shared->all, shared->ops, 2 * OPS);
	history_split(&shared->all, shared->part, n);
	for (unsigned i = 0; i < n; i++)
		child[i] = begin(i, closes);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(check_reap(child[i]), 0);
	history_join(&shared->all, shared->part, n);
	drain(ch);
	r = queue_check(shared->all.ops, shared->all.count, &rules);
	printf("# capacity %u, %u processes: %zu operations: ", (unsigned)capacity, n,
	       shared->all.count);
	queue_print(stdout, &r, shared->all.ops);
	assert_int_equal(r.flaw, QUEUE_SOUND);
	assert_true(shared->all.count > OPS / 20);
	ipcwait_channel_destroy(ch);
	(void)close(fd);
	(void)munmap(shared, sizeof(*shared));
}

static void test_one_to_one(void **state)
{
	(void)state;
	check(1, 2, false);
	check(64, 2, true);
}

static void test_several(void **state)
{
	(void)state;
	check(1, 4, false);
	check(3, 4, true);
	check(64, 4, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_to_one),
		cmocka_unit_test(test_several),
	};

	check_watchdog(200);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
