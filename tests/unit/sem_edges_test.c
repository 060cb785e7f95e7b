/* SPDX-License-Identifier: MIT */
/*
 * The semaphore at every edge of its fields: each row of the table in <ipcwait/sem.h> against
 * numbers that are wide enough for whatever comes of it.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/edges.h"
#include "common/sem_word.h"

#define US       INT64_C(1000)
#define FROM     EDGE_FROM
#define SLEEPERS 65535
#define VALUES   INT64_C(0x7fffffff)

static struct ipcwait_sem s;

/* The table's columns. */
struct model {
	int64_t spinner, value, wakes, sleepers;
};

static uint64_t pack(struct model m)
{
	SAME(m.value >= 0 && m.value <= VALUES, true);
	SAME(m.wakes >= 0 && m.wakes <= SLEEPERS, true);
	SAME(m.sleepers >= 0 && m.sleepers <= SLEEPERS, true);
	return (m.spinner ? WORD_SPINNER : 0) | WORD(m.value, m.wakes, m.sleepers);
}

/* The first four of all axes, but those that the table does not allow. False: leave it out. */
static bool legal(const int64_t *v, struct model *m)
{
	*m = (struct model){ .spinner = v[0], .sleepers = v[1] };
	m->wakes = edge_value(v[2], m->sleepers);
	m->value = edge_value(v[3], m->wakes);
	return m->wakes >= 0 && m->wakes <= m->sleepers && m->value >= 0 &&
	       m->value <= VALUES;
}

#define SPINNERS     EDGES("spinner", 0, 1)
#define ALL_SLEEPERS EDGES("sleepers", 0, 1, 2, 3, 255, 256, 32767, 32768, 65534, 65535)
#define ALL_WAKES    EDGES("wakes", 0, 1, 2, 255, 32768, FROM(-2), FROM(-1), FROM(0))
#define ALL_VALUES                                                                        \
	EDGES("value", 0, 1, 2, 65535, 65536, 0x3fffffff, 0x40000000, VALUES - 1, VALUES, \
	      FROM(-1), FROM(0), FROM(1), FROM(2))

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t not_negative(int64_t a)
{
	return a > 0 ? a : 0;
}

/* A semaphore in this state, and a stamp of so long ago. */
static void world(struct model m, int64_t stamp_age_ns, unsigned flags)
{
	edge_world();
	s.flags = flags;
	ipcwait_window_stamp(&s.window);
	fake.now_ns += stamp_age_ns;
	sem_fabricate(&s, pack(m));
}

/* One wake of @count, with a stamp before it, or neither. */
static void assert_woken(int64_t count, uint32_t stamp)
{
	SAME(fake.wakes, count ? 1 : 0);
	SAME(s.window.stamp.v != stamp, count != 0);
	if (!count)
		return;
	SAME(fake.wake.value, count);
	SAME(fake.wake.word == (const uint32_t *)&s.word, true);
	SAME(fake.wake.private_, (s.flags & IPCWAIT_PRIVATE) != 0);
}

/* How many tokens nobody who is awake will take, for how many who are not. */
static int64_t due(struct model m)
{
	return not_negative(
		least(m.sleepers - m.wakes, m.value - m.wakes - (m.spinner ? 1 : 0)));
}

static void post_one(const int64_t *v)
{
	struct model m;
	int64_t n, stale = v[5], wakes = 0;
	uint32_t stamp;
	int result;

	if (!legal(v, &m))
		return;
	n = edge_value(v[4], m.sleepers);
	if (n < 0 || n > UINT32_MAX)
		return;
	world(m, stale ? 1100 * US : 500 * US, stale ? IPCWAIT_PRIVATE : 0);
	stamp = s.window.stamp.v;
	result = ipcwait_sem_post_n(&s, (uint32_t)n);
	if (m.value + n > VALUES) {
		SAME(result, -EOVERFLOW);
	} else {
		SAME(result, 0);
		m.value += n;
		if (stale)
			m.wakes = 0;
		wakes = due(m);
		m.wakes += wakes;
		/* Where nobody sleeps there is no mark to use up, but what a death has left. */
		m.spinner = 0;
		SAME(sem_word(&s), pack(m));
	}
	SAME(result ? sem_word(&s) : 0, result ? pack(m) : 0);
	assert_woken(wakes, stamp);
}

static void post(void)
{
	static const struct edges axes[] = {
		SPINNERS,
		ALL_SLEEPERS,
		ALL_WAKES,
		ALL_VALUES,
		EDGES("n", 0, 1, 2, 3, VALUES - 65536, VALUES - 1, VALUES, VALUES + 1,
		      UINT32_MAX, FROM(-1), FROM(0), FROM(1)),
		EDGES("stale", 0, 1),
	};

	fake_reset();
	CHECK_EQ(EDGE_WALK(axes, post_one), 2 * 10 * 8 * 13 * 12 * 2);
}

/* To the last token that fits, and one more. */
static void post_full_one(const int64_t *v)
{
	struct model m;
	int64_t room;

	if (!legal(v, &m))
		return;
	room = VALUES - m.value + v[4];
	if (room < 0)
		return;
	world(m, 500 * US, 0);
	SAME(ipcwait_sem_post_n(&s, (uint32_t)room), v[4] > 0 ? -EOVERFLOW : 0);
	SAME(word_value(sem_word(&s)), v[4] > 0 ? m.value : VALUES + v[4]);
	SAME(word_sleepers(sem_word(&s)), m.sleepers);
	SAME(ipcwait_sem_value(&s), v[4] > 0 ? m.value : VALUES + v[4]);
}

static void post_up_to_the_limit(void)
{
	static const struct edges axes[] = { SPINNERS, ALL_SLEEPERS, ALL_WAKES, ALL_VALUES,
					     EDGES("beyond", -2, -1, 0, 1, 2) };

	fake_reset();
	EDGE_WALK(axes, post_full_one);
}

static void take_one(const int64_t *v)
{
	struct model m;

	if (!legal(v, &m))
		return;
	world(m, 500 * US, 0);
	SAME(ipcwait_sem_value(&s), m.value);
	SAME(ipcwait_sem_trywait(&s), m.value ? 0 : -EAGAIN);
	m.value = not_negative(m.value - 1);
	SAME(sem_word(&s), pack(m));
	if (!m.value)
		return;
	SAME(v[4] ? ipcwait_sem_wait(&s) : ipcwait_sem_wait_until(&s, 0), 0);
	m.value--;
	SAME(sem_word(&s), pack(m));
	SAME(fake.wakes, 0);
}

static void take(void)
{
	static const struct edges axes[] = { SPINNERS, ALL_SLEEPERS, ALL_WAKES, ALL_VALUES,
					     EDGES("until", 0, 1) };

	fake_reset();
	EDGE_WALK(axes, take_one);
}

/* A waiter announces its sleep, and gives up. */
static void announce_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	struct model m;
	bool full;

	if (!legal(v, &m))
		return;
	world(m, 500 * US, v[4] ? IPCWAIT_PRIVATE : 0);
	edge_script(&s.word.v, steps, 1);
	SAME(ipcwait_sem_wait(&s), m.value ? 0 : -ENOSYS);
	SAME(edge_sleeps, m.value ? 0 : 1);
	if (m.value)
		return;
	full = m.sleepers == SLEEPERS;
	if (!full)
		m = (struct model){ .sleepers = m.sleepers + 1 };
	SAME(edge_slept[0].word, pack(m));
	SAME(edge_slept[0].call.word == (const uint32_t *)&s.word, !full);
	SAME(full || edge_slept[0].call.private_ == !!v[4], true);
	m.sleepers -= full ? 0 : 1;
	SAME(sem_word(&s), pack(m));
	SAME(fake.wakes, 0);
}

static void announce_a_sleep(void)
{
	static const struct edges axes[] = { SPINNERS, ALL_SLEEPERS, ALL_WAKES, ALL_VALUES,
					     EDGES("private", 0, 1) };

	fake_reset();
	EDGE_WALK(axes, announce_one);
}

/* Without one who is counted, as far as he still is. */
static struct model without_one(struct model m)
{
	m.sleepers = not_negative(m.sleepers - 1);
	m.wakes = not_negative(m.wakes - 1);
	return m;
}

/* One who sleeps finds this: takes a token, sleeps again, or gives up. */
static void come_back_one(const int64_t *v)
{
	struct model m;

	if (!legal(v, &m))
		return;
	const struct edge_step steps[] = {
		{ .result = (int)v[4], .changes = true, .word = pack(m) },
		{ .result = -ENOSYS },
	};

	world((struct model){ 0 }, 500 * US, 0);
	edge_script(&s.word.v, steps, 2);
	SAME(ipcwait_sem_wait(&s), m.value ? 0 : -ENOSYS);
	if (!m.value && v[4] != -ENOSYS) {
		m.wakes = m.spinner = 0;
		SAME(edge_sleeps, 2);
		SAME(edge_slept[1].word, pack(m));
	} else {
		SAME(edge_sleeps, 1);
	}
	m.value = not_negative(m.value - 1);
	SAME(sem_word(&s), pack(without_one(m)));
	SAME(fake.wakes, 0);
}

static void come_back_from_a_sleep(void)
{
	static const struct edges axes[] = { SPINNERS, ALL_SLEEPERS, ALL_WAKES, ALL_VALUES,
					     EDGES("result", 0, -EAGAIN, -ENOSYS) };

	fake_reset();
	EDGE_WALK(axes, come_back_one);
}

/* What becomes of the other semaphore while the thread sleeps on both. */
static struct ipcwait_sem other;
static uint64_t meanwhile_word;
static uint32_t meanwhile_stamp;

static void become(void)
{
	sem_fabricate(&s, meanwhile_word);
	sem_fabricate(&other, WORD(1, 1, 1));
	ipcwait_window_stamp(&s.window);
	fake.now_ns += 500 * US;
	meanwhile_stamp = s.window.stamp.v;
}

/* One who sleeps on two has taken the other: what this one would have had is for the next. */
static void retract_one(const int64_t *v)
{
	const struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_SEM, .object = &s },
		{ .type = IPCWAIT_WAITABLE_SEM, .object = &other },
	};
	const struct fake_step step = { .result = 1, .meanwhile = become };
	struct model m;
	int64_t wakes;

	if (!legal(v, &m))
		return;
	meanwhile_word = pack(m);
	world((struct model){ 0 }, 0, v[4] ? IPCWAIT_PRIVATE : 0);
	sem_fabricate(&other, 0);
	fake_script(&step, 1);
	SAME(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, &other.window), 1);
	SAME(fake.vectors, 1);
	SAME((fake.vector.words[0].flags & IW_WAITV_PRIVATE) != 0, v[4]);
	SAME(sem_word(&other), 0);
	m = without_one(m);
	wakes = due(m);
	m.wakes += wakes;
	SAME(sem_word(&s), pack(m));
	assert_woken(wakes, meanwhile_stamp);
}

static void retract(void)
{
	static const struct edges axes[] = { SPINNERS, ALL_SLEEPERS, ALL_WAKES, ALL_VALUES,
					     EDGES("private", 0, 1) };

	fake_reset();
	CHECK_EQ(ipcwait_window_set_preset(&other.window, IPCWAIT_BLOCK), 0);
	EDGE_WALK(axes, retract_one);
}

/* A waiter that spins marks itself where it may, and leaves no mark when it goes to sleep. */
static void spin_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	struct model m, marked;

	if (!legal(v, &m) || m.value)
		return;
	fake_reset();
	CHECK_EQ(ipcwait_window_set_preset(&s.window, IPCWAIT_SPIN), 0);
	world(m, 500 * US, 0);
	edge_script(&s.word.v, steps, 1);
	/* Private: no alarm reads the clock after it has been announced. */
	s.flags = IPCWAIT_PRIVATE;
	edge_watch(&s.word.v, 20);
	SAME(ipcwait_sem_wait(&s), -ENOSYS);
	marked = m;
	if (m.sleepers > m.wakes && m.sleepers < SLEEPERS)
		marked.spinner = 1;
	SAME(edge_watched(~UINT64_C(0)), pack(marked));
	SAME(edge_slept[0].word,
	     m.sleepers < SLEEPERS ? WORD(0, 0, m.sleepers + 1) : pack(m));
}

static void spin(void)
{
	static const struct edges axes[] = { SPINNERS, ALL_SLEEPERS, ALL_WAKES,
					     ALL_VALUES };

	EDGE_WALK(axes, spin_one);
}

/* Nobody is inside but tokens and what wakes have left of those who have gone. */
static void fini_one(const int64_t *v)
{
	struct model m;
	bool busy;

	if (!legal(v, &m))
		return;
	busy = m.sleepers || m.spinner;
	CHECK_EQ(ipcwait_sem_init(&s, 0, 0), 0);
	world(m, 500 * US, 0);
	SAME(ipcwait_sem_fini(&s), busy ? -EBUSY : 0);
	SAME(busy ? sem_word(&s) : 0, busy ? pack(m) : 0);
	SAME(ipcwait_sem_trywait(&s), busy && m.value ? 0 : -EAGAIN);
	SAME(s.flags == 0, busy);
}

static void fini(void)
{
	static const struct edges axes[] = { SPINNERS, ALL_SLEEPERS, ALL_WAKES,
					     ALL_VALUES };

	fake_reset();
	EDGE_WALK(axes, fini_one);
}

static int begin(void **state)
{
	(void)state;
	fake_reset();
	return ipcwait_sem_init(&s, 0, 0) ||
	       ipcwait_window_set_preset(&s.window, IPCWAIT_BLOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(post),
		CHILD_TEST(post_up_to_the_limit),
		CHILD_TEST(take),
		CHILD_TEST(announce_a_sleep),
		CHILD_TEST(come_back_from_a_sleep),
		CHILD_TEST(retract),
		CHILD_TEST(spin),
		CHILD_TEST(fini),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
