/* SPDX-License-Identifier: MIT */
/* <ipcwait/rwlock.h> with threads, each test private and shared: who gets in when, and signals. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/rwlock_word.h"

#define FAR_NS INT64_C(3600000000000)

static struct ipcwait_rwlock l;
static int order; /* how many have got in */

struct party {
	bool writes;
	int64_t deadline_ns;
	pthread_t thread;
	int result;
	int place; /* in the order of those who got in */
	int in;    /* has the lock */
	int leave; /* may give it back */
	int ended; /* is over */
};

static int begin(unsigned flags)
{
	check_watchdog(60);
	__atomic_store_n(&order, 0, __ATOMIC_RELAXED);
	return ipcwait_rwlock_init(&l, flags);
}

static int shared(void **state)
{
	(void)state;
	return begin(0);
}

static int private(void **state)
{
	(void)state;
	return begin(IPCWAIT_PRIVATE);
}

static bool is_set(void *arg)
{
	return __atomic_load_n((int *)arg, __ATOMIC_ACQUIRE);
}

static void *take_part(void *arg)
{
	struct party *p = arg;

	errno = 4711;
	p->result = p->writes ? ipcwait_rwlock_wrlock_until(&l, p->deadline_ns)
			      : ipcwait_rwlock_rdlock_until(&l, p->deadline_ns);
	if (p->result == 0) {
		p->place = __atomic_add_fetch(&order, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&p->in, 1, __ATOMIC_RELEASE);
		CHECK(check_eventually(is_set, &p->leave));
		CHECK_EQ(ipcwait_rwlock_unlock(&l), 0);
	}
	CHECK_EQ(errno, 4711);
	__atomic_store_n(&p->ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void start(struct party *p, bool writes, int64_t deadline_ns)
{
	*p = (struct party){ .writes = writes, .deadline_ns = deadline_ns };
	CHECK_EQ(pthread_create(&p->thread, NULL, take_part, p), 0);
}

static void await_in(struct party *p)
{
	CHECK(check_eventually(is_set, &p->in));
}

static void let_leave(struct party *p)
{
	__atomic_store_n(&p->leave, 1, __ATOMIC_RELEASE);
}

static int join(struct party *p)
{
	let_leave(p);
	CHECK_EQ(pthread_join(p->thread, NULL), 0);
	return p->result;
}

static bool announced(void *arg)
{
	const uint64_t *want = arg;
	uint64_t w = rwlock_word(&l);

	return word_wsleepers(w) == word_wsleepers(*want) &&
	       word_rsleepers(w) == word_rsleepers(*want);
}

static void await_sleepers(unsigned writers, unsigned readers)
{
	uint64_t want = WORD(0, writers, readers);

	CHECK(check_eventually(announced, &want));
}

/*
 * Where the lock is shared, and a waiter that was woken does not run for 5 ms (DOUBT_NS), another
 * may call the roll: EPOCH changes, and the next thread that asks gets in. That is seen here.
 */
static bool roll_was_called(void)
{
	return rwlock_word(&l) & WORD_EPOCH;
}

static uint64_t word_now(void)
{
	return rwlock_word(&l) & ~WORD_EPOCH;
}

static void test_readers_together(void **state)
{
	struct party p[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		start(&p[i], false, IPCWAIT_FOREVER);
	for (int i = 0; i < 4; i++)
		await_in(&p[i]);
	assert_int_equal(word_now(), WORD(4, 0, 0));
	for (int i = 0; i < 4; i++)
		assert_int_equal(join(&p[i]), 0);
	assert_int_equal(word_now(), 0);
}

static bool is_marked(void *arg)
{
	return rwlock_word(&l) & *(const uint64_t *)arg;
}

/* @mark is URGENT or RURGENT: wait until a writer, or a reader, is overdue. */
static void await_overdue(uint64_t mark)
{
	CHECK(check_eventually(is_marked, &mark));
}

/* A new reader waits for a sleeping writer only if the writer is overdue. */
static void test_readers_pass_a_writer(void **state)
{
	struct party first, writer;
	int r;

	(void)state;
	start(&first, false, IPCWAIT_FOREVER);
	await_in(&first);
	start(&writer, true, IPCWAIT_FOREVER);
	await_sleepers(1, 0);
	r = ipcwait_rwlock_tryrdlock(&l);
	if (r == 0)
		assert_int_equal(ipcwait_rwlock_rdunlock(&l), 0);
	else
		assert_true(r == -EBUSY && rwlock_word(&l) & WORD_URGENT);
	assert_int_equal(join(&first), 0);
	assert_int_equal(join(&writer), 0);
	assert_int_equal(word_now(), 0);
}

/* The writer waits for the first reader, and the new reader for the writer. */
static void test_an_overdue_writer_keeps_new_readers_out(void **state)
{
	struct party first, writer, second;

	(void)state;
	start(&first, false, IPCWAIT_FOREVER);
	await_in(&first);
	start(&writer, true, IPCWAIT_FOREVER);
	await_overdue(WORD_URGENT);
	assert_int_equal(ipcwait_rwlock_tryrdlock(&l), -EBUSY);
	start(&second, false, ipcwait_deadline_in_ns(FAR_NS));
	let_leave(&second);
	await_sleepers(1, 1);
	assert_int_equal(join(&first), 0);
	await_in(&writer);
	assert_int_equal(ipcwait_rwlock_fini(&l), -EBUSY);
	assert_int_equal(join(&writer), 0);
	assert_int_equal(join(&second), 0);
	if (!roll_was_called()) {
		assert_int_equal(writer.place, 2);
		assert_int_equal(second.place, 3);
	}
	assert_int_equal(word_now(), 0);
}

/* If a reader is overdue, all readers that sleep at an unlock go before the next writer. */
static void test_readers_have_the_turn(void **state)
{
	struct party p[3], writer;

	(void)state;
	assert_int_equal(ipcwait_rwlock_wrlock(&l), 0);
	start(&writer, true, IPCWAIT_FOREVER);
	let_leave(&writer);
	await_sleepers(1, 0);
	for (int i = 0; i < 3; i++)
		start(&p[i], false, IPCWAIT_FOREVER);
	await_sleepers(1, 3);
	await_overdue(WORD_RURGENT);
	assert_int_equal(ipcwait_rwlock_wrunlock(&l), 0);
	for (int i = 0; i < 3; i++)
		await_in(&p[i]);
	assert_int_equal(word_readers(rwlock_word(&l)), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(join(&p[i]), 0);
	assert_int_equal(join(&writer), 0);
	for (int i = 0; i < 3 && !roll_was_called(); i++)
		assert_in_range(p[i].place, 1, 3);
	assert_int_equal(word_now(), 0);
}

/* All waiters get in, in any order, and leave nothing behind. */
static void test_all_at_once(void **state)
{
	struct party p[6];

	(void)state;
	assert_int_equal(ipcwait_rwlock_wrlock(&l), 0);
	for (int i = 0; i < 6; i++) {
		start(&p[i], i % 2, IPCWAIT_FOREVER);
		let_leave(&p[i]);
	}
	await_sleepers(3, 3);
	assert_int_equal(ipcwait_rwlock_wrunlock(&l), 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(join(&p[i]), 0);
	assert_int_equal(word_now(), 0);
}

static void test_writers_one_by_one(void **state)
{
	struct party p[3];

	(void)state;
	assert_int_equal(ipcwait_rwlock_wrlock(&l), 0);
	for (int i = 0; i < 3; i++)
		start(&p[i], true, IPCWAIT_FOREVER);
	await_sleepers(3, 0);
	for (int i = 0; i < 3; i++)
		let_leave(&p[i]);
	assert_int_equal(ipcwait_rwlock_wrunlock(&l), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(join(&p[i]), 0);
	assert_int_equal(word_now(), 0);
}

static bool is_overdue_or_gave_up(void *arg)
{
	struct party *p = arg;

	return is_set(&p->ended) || rwlock_word(&l) & WORD_URGENT;
}

/* The reader behind it gets in beside the one who reads. */
static void test_a_writer_gives_up(void **state)
{
	struct party writer, reader;

	(void)state;
	assert_int_equal(ipcwait_rwlock_rdlock(&l), 0);
	start(&writer, true, ipcwait_deadline_in_ns(1000000000));
	CHECK(check_eventually(is_overdue_or_gave_up, &writer));
	start(&reader, false, IPCWAIT_FOREVER);
	assert_int_equal(join(&writer), -ETIMEDOUT);
	await_in(&reader);
	assert_int_equal(word_now(), WORD(2, 0, 0));
	assert_int_equal(join(&reader), 0);
	assert_int_equal(ipcwait_rwlock_rdunlock(&l), 0);
	assert_int_equal(word_now(), 0);
}

static void on_signal(int signal)
{
	(void)signal;
}

/* No handler ends a wait, whatever its flags. */
static void test_signals(void **state)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct party p[2];

	(void)state;
	assert_int_equal(ipcwait_rwlock_wrlock(&l), 0);
	for (int i = 0; i < 2; i++) {
		action.sa_flags = i ? SA_RESTART : 0;
		assert_int_equal(sigaction(i ? SIGUSR2 : SIGUSR1, &action, NULL), 0);
		start(&p[i], i, i ? ipcwait_deadline_in_ns(FAR_NS) : IPCWAIT_FOREVER);
	}
	await_sleepers(1, 1);
	for (int i = 0; i < 200; i++) {
		(void)nanosleep(&(struct timespec){ 0, 50000 }, NULL);
		assert_int_equal(
			pthread_kill(p[i / 2 % 2].thread, i % 2 ? SIGUSR1 : SIGUSR2), 0);
	}
	await_sleepers(1, 1);
	assert_int_equal(order, 0);
	assert_int_equal(ipcwait_rwlock_wrunlock(&l), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(join(&p[i]), 0);
	assert_int_equal(word_now(), 0);
}

#define BOTH(f)                                         \
	cmocka_unit_test_setup(f, shared),              \
	{                                               \
#f " (private)", f, private, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_readers_together),
		BOTH(test_readers_pass_a_writer),
		BOTH(test_an_overdue_writer_keeps_new_readers_out),
		BOTH(test_readers_have_the_turn),
		BOTH(test_all_at_once),
		BOTH(test_writers_one_by_one),
		BOTH(test_a_writer_gives_up),
		BOTH(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
