/* SPDX-License-Identifier: MIT */
/*
 * Barrier and latch at every edge of their fields: each row of the tables in their headers
 * against numbers that are wide enough for whatever comes of it.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/edges.h"
#include "common/gates_word.h"

#define US   INT64_C(1000)
#define FROM EDGE_FROM

/* One wake of everybody, with a stamp before it, or neither. */
static void assert_woken(bool due, const void *object, const struct ipcwait_window *w,
			 uint32_t stamp, uint32_t flags)
{
	SAME(fake.wakes, due);
	SAME(w->stamp.v != stamp, due);
	if (!due)
		return;
	SAME(fake.wake.value, UINT32_MAX);
	SAME(fake.wake.word == object, true);
	SAME(fake.wake.private_, (flags & IPCWAIT_PRIVATE) != 0);
}

/* The barrier. */
#define ROUNDS  (INT64_C(1) << 32)
#define PARTIES IPCWAIT_BARRIER_PARTIES_MAX
#define LEAVING 65535

static struct ipcwait_barrier b;

struct rounds {
	int64_t round, sleeps, arrived, leaving;
};

static uint64_t pack_round(struct rounds m)
{
	SAME(m.round >= 0 && m.round < ROUNDS, true);
	SAME(m.arrived >= 0 && m.arrived <= PARTIES, true);
	SAME(m.leaving >= 0 && m.leaving <= LEAVING, true);
	return BARRIER_WORD(m.round, m.arrived, m.leaving) |
	       (m.sleeps ? BARRIER_SLEEPS : 0);
}

#define ALL_ROUNDS                                                                       \
	EDGES("round", 0, 1, 0x7fffffff, ROUNDS - 2, ROUNDS - 1), EDGES("sleeps", 0, 1), \
		EDGES("arrived", 0, 1, 2, 16383, 16384, PARTIES - 2, PARTIES - 1),       \
		EDGES("leaving", 0, 1, 2, 32767, 32768, LEAVING - 1, LEAVING,            \
		      FROM(LEAVING - 1), FROM(LEAVING))

/* The last one is as far from ARRIVED, the other way round. */
static bool legal_round(const int64_t *v, struct rounds *m)
{
	*m = (struct rounds){ v[0], v[1], v[2], v[3] };
	m->leaving = edge_value(v[3], -m->arrived);
	return m->leaving >= 0 && m->leaving + m->arrived <= LEAVING &&
	       (m->arrived || !m->sleeps);
}

static void barrier_world(struct rounds m, int64_t parties, unsigned flags)
{
	edge_world();
	b.flags = (uint16_t)flags;
	b.parties = (uint16_t)parties;
	ipcwait_window_stamp(&b.window);
	fake.now_ns += 500 * US;
	gate_fabricate(&b.word, pack_round(m));
}

/* Somebody arrives, as the last or not, and then gives up. */
static void arrive_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	struct rounds m;
	int64_t parties;
	bool last, due;
	uint32_t stamp;

	if (!legal_round(v, &m))
		return;
	parties = edge_value(v[4], m.arrived);
	if (parties <= m.arrived || parties > PARTIES)
		return;
	barrier_world(m, parties, v[5] ? IPCWAIT_PRIVATE : 0);
	stamp = b.window.stamp.v;
	edge_script(&b.word.v, steps, 1);
	last = m.arrived + 1 == parties;
	due = last && m.sleeps;
	SAME(ipcwait_barrier_wait(&b), last ? IPCWAIT_BARRIER_SERIAL : -ENOSYS);
	SAME(edge_sleeps, !last);
	if (last) {
		m = (struct rounds){ (m.round + 1) % ROUNDS, 0, 0, m.leaving + m.arrived };
	} else {
		m = (struct rounds){ m.round, 1, m.arrived + 1, m.leaving };
		SAME(edge_slept[0].word, pack_round(m));
		SAME(edge_slept[0].call.word == (const uint32_t *)&b.word, true);
		SAME(edge_slept[0].call.private_, v[5]);
		m.arrived--;
		m.sleeps = m.arrived > 0;
	}
	SAME(gate_word(&b.word), pack_round(m));
	assert_woken(due, &b, &b.window, stamp, b.flags);
}

static void barrier_arrive(void)
{
	static const struct edges axes[] = {
		ALL_ROUNDS,
		EDGES("parties", FROM(1), FROM(2), 1, 2, 3, 16384, PARTIES - 1, PARTIES),
		EDGES("private", 0, 1),
	};

	fake_reset();
	CHECK_EQ(EDGE_WALK(axes, arrive_one), 5 * 2 * 7 * 9 * 8 * 2);
}

/* A party that sleeps finds this: the round is over, or it sleeps again, or gives up. */
static void barrier_back_one(const int64_t *v)
{
	int64_t began = (v[0] + ROUNDS - v[4]) % ROUNDS;
	bool over = v[4] != 0;
	struct rounds m;

	if (!legal_round(v, &m) || (over ? !m.leaving : !m.arrived))
		return;
	const struct edge_step steps[] = {
		{ .result = (int)v[5], .changes = true, .word = pack_round(m) },
		{ .result = -ENOSYS },
	};

	barrier_world((struct rounds){ .round = began }, PARTIES, 0);
	edge_script(&b.word.v, steps, 2);
	SAME(ipcwait_barrier_wait(&b), over ? 0 : -ENOSYS);
	SAME(edge_sleeps, over || v[5] == -ENOSYS ? 1 : 2);
	if (edge_sleeps == 2) {
		m.sleeps = 1;
		SAME(edge_slept[1].word, pack_round(m));
	}
	if (over) {
		m.leaving--;
	} else {
		m.arrived--;
		m.sleeps = m.sleeps && m.arrived;
	}
	SAME(gate_word(&b.word), pack_round(m));
	SAME(fake.wakes, 0);
}

static void barrier_come_back(void)
{
	static const struct edges axes[] = {
		ALL_ROUNDS, EDGES("since", 0, 1, 2, 65536, ROUNDS / 2, ROUNDS - 1),
		EDGES("result", 0, -EAGAIN, -ENOSYS)
	};

	fake_reset();
	EDGE_WALK(axes, barrier_back_one);
}

/* It ends when nobody is inside, and waits for those on their way out. */
static void barrier_fini_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .changes = true } };
	struct rounds m;

	if (!legal_round(v, &m))
		return;
	CHECK_EQ(ipcwait_barrier_init(&b, 1, 0), 0);
	barrier_world(m, 1, 0);
	edge_script(&b.word.v, steps, 1);
	SAME(ipcwait_barrier_fini(&b), m.arrived ? -EBUSY : 0);
	SAME(b.flags == 0, m.arrived > 0);
	SAME(edge_sleeps <= (m.leaving && !m.arrived), true);
	SAME(m.arrived ? gate_word(&b.word) : 0, m.arrived ? pack_round(m) : 0);
	SAME(m.arrived || !barrier_leaving(gate_word(&b.word)), true);
}

static void barrier_fini(void)
{
	static const struct edges axes[] = { ALL_ROUNDS };

	fake_reset();
	EDGE_WALK(axes, barrier_fini_one);
}

/* The latch. */
#define COUNTS         IPCWAIT_LATCH_COUNT_MAX
#define LATCH_SLEEPERS INT64_C(0xffffffff)

static struct ipcwait_latch l;

struct counts {
	int64_t count, sleepers;
};

static uint64_t pack_count(struct counts m)
{
	SAME(m.count >= 0 && m.count <= COUNTS, true);
	SAME(m.sleepers >= 0 && m.sleepers <= LATCH_SLEEPERS, true);
	return LATCH_WORD(m.count, m.sleepers);
}

#define ALL_COUNTS                                                                   \
	EDGES("count", 0, 1, 2, 3, 65535, 65536, 0x3fffffff, 0x40000000, COUNTS - 1, \
	      COUNTS),                                                               \
		EDGES("sleepers", 0, 1, 2, 65535, 65536, 0x7fffffff, 0x80000000,     \
		      LATCH_SLEEPERS - 1, LATCH_SLEEPERS)

static void latch_world(struct counts m, unsigned flags)
{
	edge_world();
	l.flags = flags;
	ipcwait_window_stamp(&l.window);
	fake.now_ns += 500 * US;
	gate_fabricate(&l.word, pack_count(m));
}

static void count_down_one(const int64_t *v)
{
	struct counts m = { v[0], v[1] };
	int64_t n = edge_value(v[2], m.count);
	uint32_t stamp;
	bool due;

	if (n < 0 || (!m.count && m.sleepers))
		return;
	latch_world(m, v[3] ? IPCWAIT_PRIVATE : 0);
	stamp = l.window.stamp.v;
	SAME(ipcwait_latch_count(&l), m.count);
	SAME(ipcwait_latch_trywait(&l), m.count ? -EAGAIN : 0);
	SAME(ipcwait_latch_count_down(&l, (uint32_t)n), n > m.count ? -EOVERFLOW : 0);
	due = n == m.count && m.sleepers;
	if (n == m.count)
		m = (struct counts){ 0 };
	else if (n < m.count)
		m.count -= n;
	SAME(gate_word(&l.word), pack_count(m));
	assert_woken(due, &l, &l.window, stamp, l.flags);
}

static void latch_count_down(void)
{
	static const struct edges axes[] = {
		ALL_COUNTS,
		EDGES("n", 0, 1, 2, COUNTS, INT64_C(0x80000000), UINT32_MAX, FROM(-2),
		      FROM(-1), FROM(0), FROM(1)),
		EDGES("private", 0, 1),
	};

	fake_reset();
	CHECK_EQ(EDGE_WALK(axes, count_down_one), 10 * 9 * 10 * 2);
}

/* A waiter announces its sleep, finds that, and gives up. */
static void latch_wait_one(const int64_t *v)
{
	struct counts m = { v[0], v[1] }, before = { v[2], v[3] }, asleep = before;
	const bool arrives = v[5];

	if ((!m.count && m.sleepers) || (!before.count && before.sleepers) ||
	    before.sleepers == LATCH_SLEEPERS)
		return;
	const struct edge_step steps[] = {
		{ .result = (int)v[4], .changes = true, .word = pack_count(m) },
		{ .result = -ENOSYS },
	};
	int r;

	latch_world(before, v[6] ? IPCWAIT_PRIVATE : 0);
	edge_script(&l.word.v, steps, 2);
	r = arrives ? ipcwait_latch_arrive_and_wait(&l) : ipcwait_latch_wait(&l);
	if (before.count <= arrives) {
		SAME(r, arrives && !before.count ? -EOVERFLOW : 0);
		SAME(gate_word(&l.word), 0);
		SAME(edge_sleeps, 0);
		return;
	}
	asleep.count -= arrives;
	asleep.sleepers++;
	SAME(edge_slept[0].word, pack_count(asleep));
	SAME(edge_slept[0].call.private_, v[6]);
	SAME(r, m.count ? -ENOSYS : 0);
	SAME(edge_sleeps, !m.count || v[4] == -ENOSYS ? 1 : 2);
	SAME(edge_sleeps < 2 || edge_slept[1].word == pack_count(m), true);
	if (m.count && m.sleepers)
		m.sleepers--;
	SAME(gate_word(&l.word), pack_count(m));
	SAME(fake.wakes, 0);
}

static void latch_wait(void)
{
	static const struct edges axes[] = {
		ALL_COUNTS,
		EDGES("count before", 0, 1, 2, COUNTS),
		EDGES("sleepers before", 0, 1, 65535, 0x7fffffff, LATCH_SLEEPERS - 1),
		EDGES("result", 0, -EAGAIN, -ENOSYS),
		EDGES("arrives", 0, 1),
		EDGES("private", 0, 1),
	};

	fake_reset();
	EDGE_WALK(axes, latch_wait_one);
}

static void latch_fini_one(const int64_t *v)
{
	struct counts m = { v[0], v[1] };

	if (!m.count && m.sleepers)
		return;
	CHECK_EQ(ipcwait_latch_init(&l, 1, 0), 0);
	latch_world(m, 0);
	SAME(ipcwait_latch_fini(&l), m.sleepers ? -EBUSY : 0);
	SAME(l.flags == 0, m.sleepers > 0);
	SAME(m.sleepers ? gate_word(&l.word) : 0, m.sleepers ? pack_count(m) : 0);
	SAME(!m.sleepers && ipcwait_latch_trywait(&l) == 0, false);
}

static void latch_fini(void)
{
	static const struct edges axes[] = { ALL_COUNTS };

	fake_reset();
	EDGE_WALK(axes, latch_fini_one);
}

static int begin(void **state)
{
	(void)state;
	fake_reset();
	return ipcwait_barrier_init(&b, 1, 0) || ipcwait_latch_init(&l, 1, 0) ||
	       ipcwait_window_set_preset(&b.window, IPCWAIT_BLOCK) ||
	       ipcwait_window_set_preset(&l.window, IPCWAIT_BLOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(barrier_arrive), CHILD_TEST(barrier_come_back),
		CHILD_TEST(barrier_fini),   CHILD_TEST(latch_count_down),
		CHILD_TEST(latch_wait),     CHILD_TEST(latch_fini),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
