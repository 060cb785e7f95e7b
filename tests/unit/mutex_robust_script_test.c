/* SPDX-License-Identifier: MIT */
/* Robust mutexes over a scripted kernel: when an owner is taken for dead, and what follows. */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/mutex_word.h"

#define MS INT64_C(1000000)

/* Who has the mutex at first. */
#define OTHER_ID    2000
#define OTHER_BIRTH (FAKE_BIRTH + 1)

/* Of a thread that could not read its own. */
#define DRAWN (IW_BIRTH_BEGAN + 1 + IW_BIRTH_DRAWN + 9)

#define OTHERS(sleepers) (MUTEX_WORD_CHECKED | MUTEX_WORD(OTHER_ID, 0, sleepers))
#define MINE(sleepers)   (MUTEX_WORD_CHECKED | MUTEX_WORD(FAKE_ID, 0, sleepers))

static struct ipcwait_mutex m;

/* A mutex of another thread, about whom the kernel says @life. Nobody spins. */
static void world(enum iw_life life, unsigned sleepers)
{
	fake_reset();
	CHECK_EQ(ipcwait_mutex_init(&m, IPCWAIT_ROBUST), 0);
	CHECK_EQ(ipcwait_window_set_preset(&m.window, IPCWAIT_BLOCK), 0);
	mutex_fabricate(&m, OTHERS(sleepers));
	m.note.v = OTHER_BIRTH;
	fake.life = life;
	errno = 4711;
}

static void left(uint64_t word, unsigned waits, unsigned wakes)
{
	CHECK_EQ(mutex_word(&m), word);
	CHECK_EQ(fake.waits, waits);
	CHECK_EQ(fake.wakes, wakes);
	CHECK_EQ(errno, 4711);
}

static void as_other(int (*call)(struct ipcwait_mutex *))
{
	fake.id = OTHER_ID;
	fake.birth = OTHER_BIRTH;
	CHECK_EQ(call(&m), 0);
	fake.id = FAKE_ID;
	fake.birth = FAKE_BIRTH;
}

static const struct fake_step two_alarms[] = {
	{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
	{ .result = -ETIMEDOUT, .sleep_ns = 2 * MS },
};

static void test_burial(void **state)
{
	(void)state;
	world(IW_DEAD, 3);
	CHECK_EQ(ipcwait_mutex_trylock(&m), -EBUSY);
	FAKE_SCRIPT(two_alarms);
	CHECK_EQ(ipcwait_mutex_lock(&m), -EOWNERDEAD);
	left(MINE(3) | MUTEX_WORD_DIED, 2, 0);
	CHECK_EQ(m.note.v, FAKE_BIRTH);
	CHECK_EQ(ipcwait_mutex_consistent(&m), 0);
	left(MINE(3), 2, 0);
}

/* A wait that is too short for alarms finds out at its end. */
static void test_burial_at_the_deadline(void **state)
{
	(void)state;
	world(IW_DEAD, 3);
	FAKE_SCRIPT(two_alarms);
	CHECK_EQ(ipcwait_mutex_lock_until(&m, fake.now_ns + MS), -EOWNERDEAD);
	left(MINE(3) | MUTEX_WORD_DIED, 1, 0);
	CHECK_EQ(m.note.v, FAKE_BIRTH);
	/* So does one that has none left. */
	world(IW_DEAD, 3);
	CHECK_EQ(ipcwait_mutex_lock_until(&m, 0), -EOWNERDEAD);
	left(MINE(3) | MUTEX_WORD_DIED, 0, 0);
}

/* Nobody who comes is counted among the sleepers: 65535 have been killed. */
static int look_again(const struct fake_call *call)
{
	CHECK(call->word != (const uint32_t *)&m.word);
	fake.now_ns = call->deadline_ns;
	/* A look a millisecond, and one for a death in five at most. */
	CHECK(fake.waits < 400);
	CHECK(fake.life_readings <= 1 + fake.waits / 5);
	return -ETIMEDOUT;
}

static void test_burial_where_no_more_fit(void **state)
{
	(void)state;
	world(IW_DEAD, 65535);
	fake.on_wait = look_again;
	CHECK_EQ(ipcwait_mutex_lock(&m), -EOWNERDEAD);
	CHECK_EQ(mutex_word(&m), MINE(65535) | MUTEX_WORD_DIED);
	CHECK_EQ(m.note.v, FAKE_BIRTH);
}

static void test_no_burial_without_proof(void **state)
{
	static const enum iw_life lives[] = { IW_ALIVE, IW_UNKNOWN };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		world(lives[i], 3);
		FAKE_SCRIPT(two_alarms);
		CHECK_EQ(ipcwait_mutex_lock_until(&m, fake.now_ns + 6 * MS), -ETIMEDOUT);
		left(OTHERS(3), 2, 0);
		CHECK(fake.life_readings > 0);
		CHECK_EQ(m.note.v, OTHER_BIRTH);
	}
}

/* Id and birth that are not of one thread would be a false proof. */
static void change_owner(void)
{
	mutex_fabricate(&m, mutex_word(&m) + (UINT64_C(1) << 32));
	m.note.v++;
}

static void change_birth(void)
{
	m.note.v++;
}

static void free_it(void)
{
	CHECK_EQ(fake.life_readings, 0);
	mutex_fabricate(&m, mutex_word(&m) & ~MUTEX_WORD_OWNERS);
}

static void test_owners_that_change(void **state)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS, .meanwhile = change_owner },
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS, .meanwhile = change_birth },
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS, .meanwhile = change_owner },
		{ .result = -ETIMEDOUT, .meanwhile = free_it },
	};

	(void)state;
	world(IW_DEAD, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	left(MINE(0), 4, 0);
}

/* It may have been about to unlock. */
static void unlock_it(void)
{
	as_other(ipcwait_mutex_unlock);
	CHECK_EQ(m.note.v, OTHER_BIRTH & ~IW_BIRTH_BEGAN);
}

static void test_an_owner_that_lives_after_all(void **state)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ .meanwhile = unlock_it },
	};

	(void)state;
	world(IW_DEAD, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	left(MINE(0), 2, 1);
	CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
	left(MUTEX_WORD_CHECKED, 2, 1);
}

/* Ids of one namespace mean nothing in another. */
static void test_another_namespace(void **state)
{
	(void)state;
	world(IW_DEAD, 0);
	fake.birth += IW_BIRTH_BEGAN + 1;
	CHECK_EQ(ipcwait_mutex_lock(&m), -ENOTSUP);
	CHECK_EQ(ipcwait_mutex_trylock(&m), -ENOTSUP);
	CHECK_EQ(ipcwait_mutex_lock_until(&m, 0), -ENOTSUP);
	left(OTHERS(0), 0, 0);
	/* Nor can anything be proven of one that is not known, or without a birth. */
	fake.birth = 7;
	CHECK_EQ(ipcwait_mutex_init(&m, IPCWAIT_ROBUST), -ENOTSUP);
	fake.birth = IW_BIRTH_BEGAN + 1;
	CHECK_EQ(ipcwait_mutex_init(&m, IPCWAIT_ROBUST), -ENOTSUP);
	fake.birth = DRAWN;
	CHECK_EQ(ipcwait_mutex_init(&m, IPCWAIT_ROBUST), -ENOTSUP);
	left(OTHERS(0), 0, 0);
}

/* The id of the dead owner is now the caller's. */
static void test_an_id_used_again(void **state)
{
	(void)state;
	world(IW_DEAD, 0);
	fake.id = OTHER_ID;
	CHECK_EQ(ipcwait_mutex_unlock(&m), -EPERM);
	CHECK_EQ(ipcwait_mutex_trylock(&m), -EBUSY);
	left(OTHERS(0), 0, 0);
}

/* The same, whatever the dead one has written down: the caller knows that it is another. */
static void test_an_id_used_again_and_no_birth(void **state)
{
	const uint32_t notes[] = { OTHER_BIRTH, OTHER_BIRTH & ~IW_BIRTH_BEGAN, DRAWN };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		world(IW_UNKNOWN, 0);
		CHECK_EQ(ipcwait_mutex_init(&m, IPCWAIT_ROBUST | IPCWAIT_RECURSIVE), 0);
		mutex_fabricate(&m, OTHERS(0));
		m.note.v = notes[i];
		fake.id = OTHER_ID;
		CHECK_EQ(ipcwait_mutex_trylock(&m), -EBUSY);
		CHECK_EQ(ipcwait_mutex_unlock(&m), -EPERM);
		CHECK_EQ(ipcwait_mutex_lock_until(&m, 0), -EOWNERDEAD);
		CHECK_EQ(m.note.v, FAKE_BIRTH);
		CHECK_EQ(ipcwait_mutex_lock(&m), 0);
		CHECK_EQ(ipcwait_mutex_consistent(&m), 0);
		CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
		CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
		left(MUTEX_WORD_CHECKED, 0, 0);
	}
}

/* It knows itself by what it has written, also when it has read its birth since. */
static void test_a_birth_read_late(void **state)
{
	(void)state;
	world(IW_ALIVE, 0);
	mutex_fabricate(&m, MUTEX_WORD_CHECKED);
	fake.birth = DRAWN;
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK_EQ(m.note.v, DRAWN);
	fake.drawn = DRAWN;
	fake.birth = FAKE_BIRTH;
	CHECK_EQ(ipcwait_mutex_lock(&m), -EDEADLK);
	CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK_EQ(m.note.v, FAKE_BIRTH);
	CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
	left(MUTEX_WORD_CHECKED, 0, 0);
}

/* Another has buried it first, and the next owner has written down its own birth. */
static void bury_first(void)
{
	CHECK_EQ(m.note.v, OTHER_BIRTH);
	mutex_fabricate(&m, MUTEX_WORD_CHECKED | MUTEX_WORD(OTHER_ID + 1, 0, 1) |
				    MUTEX_WORD_DIED);
	m.note.v = OTHER_BIRTH + 1;
}

static enum iw_life overtaken(uint32_t id, uint32_t birth)
{
	if (id == OTHER_ID && birth == (OTHER_BIRTH & ~IW_BIRTH_BEGAN))
		bury_first();
	return id == OTHER_ID ? IW_DEAD : IW_ALIVE;
}

static void test_a_late_burial(void **state)
{
	(void)state;
	world(IW_DEAD, 0);
	fake.on_life = overtaken;
	FAKE_SCRIPT(two_alarms);
	CHECK_EQ(ipcwait_mutex_lock_until(&m, fake.now_ns + 6 * MS), -ETIMEDOUT);
	CHECK_EQ(m.note.v, OTHER_BIRTH + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_burial),
		cmocka_unit_test(test_burial_at_the_deadline),
		cmocka_unit_test(test_burial_where_no_more_fit),
		cmocka_unit_test(test_no_burial_without_proof),
		cmocka_unit_test(test_owners_that_change),
		cmocka_unit_test(test_an_owner_that_lives_after_all),
		cmocka_unit_test(test_another_namespace),
		cmocka_unit_test(test_an_id_used_again),
		cmocka_unit_test(test_an_id_used_again_and_no_birth),
		cmocka_unit_test(test_a_birth_read_late),
		cmocka_unit_test(test_a_late_burial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
