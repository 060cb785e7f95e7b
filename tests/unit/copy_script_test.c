/* SPDX-License-Identifier: MIT */
/*
 * Copies of private objects in a child of fork(2), over a scripted kernel: notes in all states.
 * (With real forks: tests/ipc/fork_waiters_test.c.)
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/gates_word.h"

#define US INT64_C(1000)

/* As in lib/sync/copy.h. */
#define BUSY   0x80000000u
#define PARENT (FAKE_GENERATION - 1)

#define PARTIES 3
#define ONE     BARRIER_WORD(4, 1, 0)
#define PHANTOM (BARRIER_WORD(4, 2, 1) | BARRIER_SLEEPS)

/* In a reader-writer lock's note: what writers have learned, and the rest. */
#define LEARNED    0xabcd3015u
#define RW_NOTE(n) ((uint32_t)(n) << 6)
#define RW_BUSY    0x800u

static struct ipcwait_barrier b;

static void world(uint32_t generation, uint32_t note, unsigned flags)
{
	fake_reset();
	fake.generation = generation;
	CHECK_EQ(ipcwait_barrier_init(&b, PARTIES, flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&b.window, IPCWAIT_BLOCK), 0);
	gate_fabricate(&b.word, PHANTOM);
	b.reserved = note;
}

/* Whoever has arrived is the only one. */
static void begins_anew(uint32_t note)
{
	world(FAKE_GENERATION, note, IPCWAIT_PRIVATE);
	CHECK_EQ(ipcwait_barrier_wait_until(&b, 0), -ETIMEDOUT);
	CHECK_EQ(gate_word(&b.word), BARRIER_WORD(4, 0, 0));
	CHECK_EQ(b.reserved, FAKE_GENERATION);
}

static void of_another_process(void)
{
	begins_anew(0);
	begins_anew(PARENT);
	/* It had forked, in a signal handler or another thread, while one was at it. */
	begins_anew(PARENT | BUSY);
	begins_anew(FAKE_GENERATION + 1);
}

static void counts_them(uint32_t generation, uint32_t note, unsigned flags)
{
	world(generation, note, flags);
	CHECK_EQ(ipcwait_barrier_wait_until(&b, 0), IPCWAIT_BARRIER_SERIAL);
	CHECK_EQ(b.reserved, note);
}

static void of_this_process(void)
{
	counts_them(FAKE_GENERATION, FAKE_GENERATION, IPCWAIT_PRIVATE);
}

static void where_nobody_can_tell(void)
{
	counts_them(0, 0, IPCWAIT_PRIVATE);
	counts_them(FAKE_GENERATION, 0, 0);
}

static void another_is_done(void)
{
	gate_fabricate(&b.word, ONE);
	b.reserved = FAKE_GENERATION;
}

/* The other one is waited for, and what has come after it stays. */
static void another_is_at_it(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 100 * US },
		{ .result = -ETIMEDOUT, .sleep_ns = 100 * US, .meanwhile = another_is_done }
	};

	world(FAKE_GENERATION, FAKE_GENERATION | BUSY, IPCWAIT_PRIVATE);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_barrier_wait_until(&b, 0), -ETIMEDOUT);
	CHECK_EQ(gate_word(&b.word), ONE);
	CHECK_EQ(fake.waits, 2);
}

/* Its note is shared with what writers have learned. */
static void reader_writer_lock(void)
{
	static const uint32_t notes[] = { 0, RW_NOTE(PARENT), RW_NOTE(PARENT) | RW_BUSY };
	struct ipcwait_rwlock l;

	for (unsigned i = 0; i < 3; i++) {
		fake_reset();
		fake.generation = FAKE_GENERATION;
		CHECK_EQ(ipcwait_rwlock_init(&l, IPCWAIT_PRIVATE), 0);
		/* A writer sleeps, and is overdue, so that a reader has to ask. */
		l.word.v = UINT64_C(1) << 15 | UINT64_C(1) << 61;
		l.note.v = LEARNED | notes[i];
		CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), 0);
		CHECK_EQ(l.note.v, LEARNED | RW_NOTE(FAKE_GENERATION));
		CHECK_EQ(ipcwait_rwlock_rdunlock(&l), 0);
		CHECK_EQ(ipcwait_rwlock_fini(&l), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(of_another_process),    CHILD_TEST(of_this_process),
		CHILD_TEST(where_nobody_can_tell), CHILD_TEST(another_is_at_it),
		CHILD_TEST(reader_writer_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
