/* SPDX-License-Identifier: MIT */
/* <ipcwait/rwlock.h> in one thread: arguments, limits, results, deadlines, misuse. */
#include <errno.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/rwlock_word.h"

#define MAX   IPCWAIT_RWLOCK_READERS_MAX
#define LATER ipcwait_deadline_in_ns(INT64_C(1000000))

static struct ipcwait_rwlock l;

static int fresh_lock(void **state)
{
	(void)state;
	assert_int_equal(ipcwait_rwlock_init(&l, 0), 0);
	errno = 4711;
	return 0;
}

static int errno_is_untouched(void **state)
{
	(void)state;
	return errno == 4711 ? 0 : -1;
}

static void test_init(void **state)
{
	static const struct ipcwait_rwlock named = IPCWAIT_RWLOCK_INIT;
	struct ipcwait_rwlock two[2], before[2];

	(void)state;
	memset(&l, 0x5a, sizeof(l));
	assert_int_equal(ipcwait_rwlock_init(&l, 0), 0);
	assert_memory_equal(&l, &(struct ipcwait_rwlock){ 0 }, sizeof(l));
	assert_memory_equal(&l, &named, sizeof(l));
	assert_int_equal(ipcwait_rwlock_init(&l, IPCWAIT_PRIVATE), 0);
	assert_int_equal(l.flags, IPCWAIT_PRIVATE);
	memset(two, 0x5a, sizeof(two));
	memcpy(before, two, sizeof(two));
	assert_int_equal(ipcwait_rwlock_init(NULL, 0), -EINVAL);
	for (unsigned bit = 1; bit < 32; bit++)
		assert_int_equal(ipcwait_rwlock_init(&two[0], 1u << bit), -EINVAL);
	assert_int_equal(ipcwait_rwlock_init(&two[0], UINT32_MAX), -EINVAL);
	for (unsigned offset = 1; offset < 8; offset++)
		assert_int_equal(ipcwait_rwlock_init((void *)((char *)two + offset), 0),
				 -EINVAL);
	assert_memory_equal(two, before, sizeof(two));
}

static void test_many_readers(void **state)
{
	(void)state;
	assert_int_equal(ipcwait_rwlock_rdlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_tryrdlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_rdlock_until(&l, 0), 0);
	assert_int_equal(rwlock_word(&l), WORD(3, 0, 0));
	assert_int_equal(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	assert_int_equal(ipcwait_rwlock_wrlock_until(&l, 0), -ETIMEDOUT);
	assert_int_equal(ipcwait_rwlock_wrlock_until(&l, LATER), -ETIMEDOUT);
	assert_int_equal(rwlock_word(&l), WORD(3, 0, 0));
	assert_int_equal(ipcwait_rwlock_rdunlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_unlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	assert_int_equal(ipcwait_rwlock_rdunlock(&l), 0);
	assert_int_equal(rwlock_word(&l), 0);
	assert_int_equal(ipcwait_rwlock_trywrlock(&l), 0);
}

static void test_one_writer(void **state)
{
	(void)state;
	for (int way = 0; way < 3; way++) {
		assert_int_equal(way == 0   ? ipcwait_rwlock_wrlock(&l)
				 : way == 1 ? ipcwait_rwlock_trywrlock(&l)
					    : ipcwait_rwlock_wrlock_until(&l, -1),
				 0);
		assert_int_equal(rwlock_word(&l), WORD_WRITER);
		assert_int_equal(ipcwait_rwlock_tryrdlock(&l), -EBUSY);
		assert_int_equal(ipcwait_rwlock_trywrlock(&l), -EBUSY);
		assert_int_equal(ipcwait_rwlock_rdlock_until(&l, 0), -ETIMEDOUT);
		assert_int_equal(ipcwait_rwlock_wrlock_until(&l, 0), -ETIMEDOUT);
		assert_int_equal(ipcwait_rwlock_rdlock_until(&l, LATER), -ETIMEDOUT);
		assert_int_equal(ipcwait_rwlock_wrlock_until(&l, LATER), -ETIMEDOUT);
		/* A wait that failed leaves nothing behind. */
		assert_int_equal(rwlock_word(&l), WORD_WRITER);
		assert_int_equal(way == 2 ? ipcwait_rwlock_unlock(&l)
					  : ipcwait_rwlock_wrunlock(&l),
				 0);
		assert_int_equal(rwlock_word(&l), 0);
	}
}

static void test_as_many_readers_as_fit(void **state)
{
	(void)state;
	rwlock_fabricate(&l, WORD(MAX - 1, 0, 0));
	assert_int_equal(ipcwait_rwlock_rdlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_rdlock(&l), -EAGAIN);
	assert_int_equal(ipcwait_rwlock_tryrdlock(&l), -EAGAIN);
	assert_int_equal(ipcwait_rwlock_rdlock_until(&l, LATER), -EAGAIN);
	assert_int_equal(ipcwait_rwlock_rdlock_until(&l, 0), -EAGAIN);
	assert_int_equal(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	assert_int_equal(rwlock_word(&l), WORD(MAX, 0, 0));
	assert_int_equal(ipcwait_rwlock_rdunlock(&l), 0);
	assert_int_equal(rwlock_word(&l), WORD(MAX - 1, 0, 0));
}

/* Readers pass sleeping writers, but not an overdue writer. */
static void test_reading_beside_sleepers(void **state)
{
	static const uint64_t open[] = {
		WORD(0, 1, 0) | WORD_WAKE,  WORD(1, 1, 0),
		WORD(1, 1, 0) | WORD_QUIET, WORD(1, 2, 3) | WORD_RWAKE,
		WORD(1, 2, 3) | WORD_TURN,  WORD(1, 2, 3) | WORD_TURN | WORD_URGENT
	};
	static const uint64_t shut[] = { WORD(1, 1, 0) | WORD_URGENT,
					 WORD(1, 1, 1) | WORD_URGENT | WORD_RWAKE,
					 WORD(0, 1, 1) | WORD_URGENT | WORD_RURGENT };

	(void)state;
	for (unsigned i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
		rwlock_fabricate(&l, open[i]);
		assert_int_equal(ipcwait_rwlock_rdlock(&l), 0);
		assert_int_equal(ipcwait_rwlock_tryrdlock(&l), 0);
		assert_int_equal(ipcwait_rwlock_rdlock_until(&l, 0), 0);
		assert_int_equal(rwlock_word(&l), open[i] + WORD(3, 0, 0));
	}
	/* Nobody takes these sleepers for dead. */
	assert_int_equal(ipcwait_rwlock_init(&l, IPCWAIT_PRIVATE), 0);
	for (unsigned i = 0; i < sizeof(shut) / sizeof(shut[0]); i++) {
		rwlock_fabricate(&l, shut[i]);
		assert_int_equal(ipcwait_rwlock_tryrdlock(&l), -EBUSY);
		assert_int_equal(ipcwait_rwlock_rdlock_until(&l, 0), -ETIMEDOUT);
		assert_int_equal(rwlock_word(&l), shut[i]);
	}
}

/* A thread gives way to NEXT only while it looks. It does not sleep or fail because of NEXT. */
static void test_next_gives_way(void **state)
{
	(void)state;
	for (int way = 0; way < 6; way++) {
		rwlock_fabricate(&l, WORD(0, 1, 0) | WORD_NEXT);
		assert_int_equal(way == 0   ? ipcwait_rwlock_rdlock(&l)
				 : way == 1 ? ipcwait_rwlock_tryrdlock(&l)
				 : way == 2 ? ipcwait_rwlock_rdlock_until(&l, 0)
				 : way == 3 ? ipcwait_rwlock_wrlock(&l)
				 : way == 4 ? ipcwait_rwlock_trywrlock(&l)
					    : ipcwait_rwlock_wrlock_until(&l, 0),
				 0);
		assert_int_equal(rwlock_word(&l), way < 3 ? WORD(1, 1, 0) : WRITTEN(1, 0));
	}
}

/* Nobody holds it so, and the word stays as it is. */
static void test_unlocking_what_is_not_locked(void **state)
{
	static const uint64_t unread[] = { 0,
					   WORD_WRITER,
					   WRITTEN(2, 3),
					   WORD(0, 1, 0) | WORD_WAKE,
					   WORD(0, 1, 1) | WORD_RWAKE,
					   WORD(0, 1, 0) | WORD_NEXT | WORD_QUIET };
	static const uint64_t unwritten[] = { 0,
					      WORD(1, 0, 0),
					      WORD(MAX, 0, 0),
					      WORD(7, 1, 0),
					      WORD(0, 1, 1) | WORD_TURN,
					      WORD(0, 1, 0) | WORD_NEXT | WORD_QUIET };

	(void)state;
	for (unsigned i = 0; i < sizeof(unread) / sizeof(unread[0]); i++) {
		rwlock_fabricate(&l, unread[i]);
		assert_int_equal(ipcwait_rwlock_rdunlock(&l), -EPERM);
		assert_int_equal(rwlock_word(&l), unread[i]);
	}
	for (unsigned i = 0; i < sizeof(unwritten) / sizeof(unwritten[0]); i++) {
		rwlock_fabricate(&l, unwritten[i]);
		assert_int_equal(ipcwait_rwlock_wrunlock(&l), -EPERM);
		assert_int_equal(rwlock_word(&l), unwritten[i]);
	}
	rwlock_fabricate(&l, 0);
	assert_int_equal(ipcwait_rwlock_unlock(&l), -EPERM);
	assert_int_equal(rwlock_word(&l), 0);
}

static void test_deadline_is_kept(void **state)
{
	(void)state;
	assert_int_equal(ipcwait_rwlock_wrlock(&l), 0);
	for (int64_t ns = 1; ns <= 10000000; ns *= 10) {
		int64_t deadline = ipcwait_deadline_in_ns(ns);

		assert_int_equal(ipcwait_rwlock_rdlock_until(&l, deadline), -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline);
		deadline = ipcwait_deadline_in_ns(ns);
		assert_int_equal(ipcwait_rwlock_wrlock_until(&l, deadline), -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline);
	}
	assert_int_equal(rwlock_word(&l), WORD_WRITER);
}

static void test_deadlines_that_are_none(void **state)
{
	const int64_t any[] = { INT64_MIN, -1, 0, 1, IPCWAIT_FOREVER - 1, IPCWAIT_FOREVER };

	(void)state;
	for (unsigned i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
		assert_int_equal(ipcwait_rwlock_rdlock_until(&l, any[i]), 0);
		assert_int_equal(ipcwait_rwlock_rdunlock(&l), 0);
		assert_int_equal(ipcwait_rwlock_wrlock_until(&l, any[i]), 0);
		assert_int_equal(ipcwait_rwlock_wrunlock(&l), 0);
	}
}

static void assert_finished(void)
{
	assert_int_equal(ipcwait_rwlock_fini(&l), -EINVAL);
	assert_int_equal(ipcwait_rwlock_rdlock(&l), -EINVAL);
	assert_int_equal(ipcwait_rwlock_tryrdlock(&l), -EINVAL);
	assert_int_equal(ipcwait_rwlock_rdlock_until(&l, 0), -EINVAL);
	assert_int_equal(ipcwait_rwlock_wrlock(&l), -EINVAL);
	assert_int_equal(ipcwait_rwlock_trywrlock(&l), -EINVAL);
	assert_int_equal(ipcwait_rwlock_wrlock_until(&l, IPCWAIT_FOREVER), -EINVAL);
	assert_int_equal(ipcwait_rwlock_rdunlock(&l), -EINVAL);
	assert_int_equal(ipcwait_rwlock_wrunlock(&l), -EINVAL);
	assert_int_equal(ipcwait_rwlock_unlock(&l), -EINVAL);
}

static void test_fini(void **state)
{
	static const uint64_t busy[] = { WORD(1, 0, 0), WORD_WRITER,  WORD(0, 1, 0),
					 WORD(0, 0, 1), WORD_SPINNER, WORD_RWAKE,
					 WORD_WAKE,     WORD_RURGENT, WORD_URGENT,
					 WORD_NEXT,     WORD_QUIET };

	(void)state;
	assert_int_equal(ipcwait_rwlock_fini(NULL), -EINVAL);
	for (unsigned i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
		rwlock_fabricate(&l, busy[i]);
		assert_int_equal(ipcwait_rwlock_fini(&l), -EBUSY);
		assert_int_equal(rwlock_word(&l), busy[i]);
	}
	/* What a roll call has left is nobody. */
	rwlock_fabricate(&l, WORD_EPOCH);
	assert_int_equal(ipcwait_rwlock_fini(&l), 0);
	assert_finished();
	assert_int_equal(ipcwait_rwlock_init(&l, IPCWAIT_PRIVATE), 0);
	assert_int_equal(ipcwait_rwlock_wrlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_wrunlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_fini(&l), 0);
	assert_finished();
}

/* Within one line, so that no CPU refuses the access. */
static void test_misaligned(void **state)
{
	_Alignas(64) char bytes[128] = { 0 };
	struct ipcwait_rwlock *m = (struct ipcwait_rwlock *)(void *)(bytes + 4);

	(void)state;
	assert_int_equal(ipcwait_rwlock_fini(m), -EINVAL);
	assert_int_equal(ipcwait_rwlock_rdlock_until(m, LATER), -EINVAL);
	assert_int_equal(ipcwait_rwlock_wrlock_until(m, LATER), -EINVAL);
	assert_int_equal(ipcwait_rwlock_rdlock_until(NULL, LATER), -EINVAL);
	assert_int_equal(ipcwait_rwlock_wrlock_until(NULL, LATER), -EINVAL);
#if IW_TEST_MISALIGNED
	/* A writer beside a sleeper leads every call into the library. */
	bytes[4] = 1;
	bytes[11] = (char)0x80;
	assert_int_equal(ipcwait_rwlock_rdlock(m), -EINVAL);
	assert_int_equal(ipcwait_rwlock_tryrdlock(m), -EINVAL);
	assert_int_equal(ipcwait_rwlock_wrlock(m), -EINVAL);
	assert_int_equal(ipcwait_rwlock_trywrlock(m), -EINVAL);
	assert_int_equal(ipcwait_rwlock_rdunlock(m), -EINVAL);
	assert_int_equal(ipcwait_rwlock_wrunlock(m), -EINVAL);
	bytes[4] = bytes[11] = 0;
#endif
	for (unsigned i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0);
}

static void test_epochs_change_nothing(void **state)
{
	(void)state;
	rwlock_fabricate(&l, WORD_EPOCH);
	assert_int_equal(ipcwait_rwlock_rdlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_tryrdlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	assert_int_equal(ipcwait_rwlock_rdunlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_unlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_wrlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_tryrdlock(&l), -EBUSY);
	assert_int_equal(ipcwait_rwlock_unlock(&l), 0);
	assert_int_equal(rwlock_word(&l), WORD_EPOCH);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh_lock, errno_is_untouched)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_init),
		TEST(test_many_readers),
		TEST(test_one_writer),
		TEST(test_as_many_readers_as_fit),
		TEST(test_reading_beside_sleepers),
		TEST(test_next_gives_way),
		TEST(test_unlocking_what_is_not_locked),
		TEST(test_deadline_is_kept),
		TEST(test_deadlines_that_are_none),
		TEST(test_fini),
		TEST(test_misaligned),
		TEST(test_epochs_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
