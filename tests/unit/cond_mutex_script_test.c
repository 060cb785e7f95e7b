/* SPDX-License-Identifier: MIT */
/* Condition variables over a scripted kernel: what becomes of the mutex, of whatever kind. */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/cond_word.h"
#include "common/fake_os.h"

static struct ipcwait_cond c;
static struct ipcwait_mutex m;

/* A fresh world, where nobody spins. */
static void world(unsigned mutex_flags)
{
	fake_reset();
	CHECK_EQ(ipcwait_mutex_init(&m, mutex_flags), 0);
	CHECK_EQ(ipcwait_cond_init(&c, 0), 0);
	CHECK_EQ(ipcwait_window_set_preset(&c.window, IPCWAIT_BLOCK), 0);
}

/* What other threads do while the waiter sleeps. */
static void signal_it(void)
{
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
}

static void use_the_mutex(void)
{
	CHECK_EQ(ipcwait_mutex_trylock(&m), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
}

static void mutexes_of_all_kinds(void)
{
	static const unsigned kinds[] = { 0,
					  IPCWAIT_PRIVATE,
					  IPCWAIT_ERRORCHECK,
					  IPCWAIT_RECURSIVE,
					  IPCWAIT_ROBUST,
					  IPCWAIT_ROBUST | IPCWAIT_ERRORCHECK };
	const struct fake_step script[] = { { .meanwhile = use_the_mutex },
					    { .meanwhile = signal_it } };

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		world(kinds[i]);
		CHECK_EQ(ipcwait_mutex_lock(&m), 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_cond_wait(&c, &m), 0);
		CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
		CHECK_EQ(ipcwait_mutex_unlock(&m), -EPERM);
	}
}

/* All levels are unlocked, and locked again. */
static void recursive_mutex(void)
{
	const struct fake_step script[] = { { .meanwhile = use_the_mutex },
					    { .meanwhile = signal_it } };

	world(IPCWAIT_RECURSIVE);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_cond_wait(&c, &m), 0);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&m), -EPERM);
}

/* Nothing is left of a wait whose mutex the caller does not own. */
static void mutex_is_not_owned(void)
{
	static const unsigned kinds[] = { 0, IPCWAIT_ERRORCHECK, IPCWAIT_RECURSIVE,
					  IPCWAIT_ROBUST };

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		world(kinds[i]);
		CHECK_EQ(ipcwait_cond_wait(&c, &m), -EPERM);
		CHECK_EQ(ipcwait_cond_wait_until(&c, &m, 0), -EPERM);
		CHECK_EQ(cond_tickets(&c), 0);
		CHECK_EQ(cond_inside(&c), 0);
		CHECK_EQ(ipcwait_cond_signal(&c), 0);
		CHECK_EQ(fake.waits + fake.wakes, 0);
		CHECK_EQ(ipcwait_cond_fini(&c), 0);
		if (!kinds[i])
			continue;
		/* Nor one that somebody else owns. */
		CHECK_EQ(ipcwait_mutex_lock(&m), 0);
		fake.id++;
		CHECK_EQ(ipcwait_cond_init(&c, 0), 0);
		CHECK_EQ(ipcwait_cond_wait(&c, &m), -EPERM);
		fake.id--;
		CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
	}
}

/* The mutex is lost meanwhile: the wait says so, and does not own it. */
static void lose_the_mutex(void)
{
	m.word.v |= UINT64_C(1) << 56;
}

static void owner_dies(void)
{
	m.word.v |= UINT64_C(1) << 55;
	signal_it();
}

static void robust_mutex(void)
{
	const struct fake_step dies[] = { { .meanwhile = owner_dies } };
	const struct fake_step lost[] = { { .meanwhile = lose_the_mutex },
					  { .result = -ETIMEDOUT } };

	world(IPCWAIT_ROBUST);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	FAKE_SCRIPT(dies);
	CHECK_EQ(ipcwait_cond_wait(&c, &m), -EOWNERDEAD);
	CHECK_EQ(ipcwait_mutex_consistent(&m), 0);
	FAKE_SCRIPT(lost);
	CHECK_EQ(ipcwait_cond_wait_until(&c, &m, fake.now_ns + 1000000), -ENOTRECOVERABLE);
	CHECK_EQ(ipcwait_mutex_unlock(&m), -EPERM);
	CHECK_EQ(cond_inside(&c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(mutexes_of_all_kinds),
		CHILD_TEST(recursive_mutex),
		CHILD_TEST(mutex_is_not_owned),
		CHILD_TEST(robust_mutex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
