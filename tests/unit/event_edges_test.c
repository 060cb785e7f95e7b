/* SPDX-License-Identifier: MIT */
/*
 * The event, both kinds of it, at every edge of its fields: each row of the table in
 * <ipcwait/event.h> against numbers that are wide enough for whatever comes of it.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/edges.h"
#include "common/event_word.h"

#define US       INT64_C(1000)
#define FROM     EDGE_FROM
#define SLEEPERS 65535
#define EPOCHS   (INT64_C(1) << 45)

static struct ipcwait_event e;

/* The table's columns. */
struct model {
	int64_t set, wake, epoch, spinner, sleepers;
};

static uint64_t pack(struct model m)
{
	SAME(m.epoch >= 0 && m.epoch < EPOCHS, true);
	SAME(m.sleepers >= 0 && m.sleepers <= SLEEPERS, true);
	return (m.set ? EVENT_SET : 0) | (m.wake ? EVENT_WAKE : 0) | EVENT_EPOCH(m.epoch) |
	       (m.spinner ? EVENT_SPINNER : 0) | EVENT_SLEEPERS(m.sleepers);
}

/* The first six of all axes, but those that the table does not allow. False: leave it out. */
static bool legal(const int64_t *v, struct model *m)
{
	*m = (struct model){ v[1], v[2], v[3], v[4], v[5] };
	return !(m->spinner && (m->set || !v[0])) && !(m->wake && !m->sleepers);
}

#define ALL_EPOCHS                                                                  \
	EDGES("epoch", 0, 1, 2, 0x3fffffff, 0x40000000, 0xffffffff, EPOCHS / 2 - 1, \
	      EPOCHS / 2, EPOCHS - 2, EPOCHS - 1)
#define ALL_STATES                                                                     \
	EDGES("auto", 0, IPCWAIT_AUTO_RESET), EDGES("set", 0, 1), EDGES("wake", 0, 1), \
		ALL_EPOCHS, EDGES("spinner", 0, 1),                                    \
		EDGES("sleepers", 0, 1, 2, 3, 255, 256, 32767, 32768, 65534, 65535)

/* An event in this state, and a stamp of so long ago. */
static void world(struct model m, int64_t stamp_age_ns, unsigned flags)
{
	edge_world();
	e.flags = flags;
	ipcwait_window_stamp(&e.window);
	fake.now_ns += stamp_age_ns;
	event_fabricate(&e, pack(m));
}

/* One wake of one or of all, with a stamp before it, or neither. */
static void assert_woken(bool due, uint32_t stamp)
{
	SAME(fake.wakes, due);
	SAME(e.window.stamp.v != stamp, due);
	if (!due)
		return;
	SAME(fake.wake.value, e.flags & IPCWAIT_AUTO_RESET ? 1 : INT32_MAX);
	SAME(fake.wake.word == (const uint32_t *)&e.word, true);
	SAME(fake.wake.private_, (e.flags & IPCWAIT_PRIVATE) != 0);
}

static void set_one(const int64_t *v)
{
	struct model m;
	uint32_t stamp;
	bool due, stale = v[6];

	if (!legal(v, &m))
		return;
	world(m, stale ? 1100 * US : 500 * US,
	      (unsigned)v[0] | (stale ? IPCWAIT_PRIVATE : 0));
	stamp = e.window.stamp.v;
	SAME(ipcwait_event_is_set(&e), m.set);
	SAME(ipcwait_event_set(&e), 0);
	due = m.sleepers > 0 && !m.spinner && (!m.wake || stale);
	if (!m.set)
		m.epoch = (m.epoch + 1) % EPOCHS;
	m.set = 1;
	m.wake = m.wake || due;
	m.spinner = 0;
	SAME(event_word(&e), pack(m));
	assert_woken(due, stamp);
}

static void set(void)
{
	static const struct edges axes[] = { ALL_STATES, EDGES("stale", 0, 1) };

	fake_reset();
	CHECK_EQ(EDGE_WALK(axes, set_one), 2 * 2 * 2 * 10 * 2 * 10 * 2);
}

/* What is there is taken without a wait, and a reset takes it from all. */
static void take_one(const int64_t *v)
{
	struct model m;

	if (!legal(v, &m))
		return;
	world(m, 500 * US, (unsigned)v[0]);
	if (v[6] == 0)
		SAME(ipcwait_event_trywait(&e), m.set ? 0 : -EAGAIN);
	else if (v[6] == 1)
		SAME(ipcwait_event_wait_until(&e, 0), m.set ? 0 : -ETIMEDOUT);
	else
		SAME(ipcwait_event_reset(&e), 0);
	if (v[0] || v[6] == 2)
		m.set = 0;
	SAME(event_word(&e), pack(m));
	SAME(fake.wakes, 0);
}

static void take(void)
{
	static const struct edges axes[] = { ALL_STATES, EDGES("call", 0, 1, 2) };

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
	world(m, 500 * US, (unsigned)(v[0] | v[6]));
	edge_script(&e.word.v, steps, 1);
	SAME(ipcwait_event_wait(&e), m.set ? 0 : -ENOSYS);
	SAME(edge_sleeps, !m.set);
	if (m.set)
		return;
	full = m.sleepers == SLEEPERS;
	if (!full)
		m = (struct model){ .epoch = m.epoch, .sleepers = m.sleepers + 1 };
	SAME(edge_slept[0].word, pack(m));
	SAME(edge_slept[0].call.word == (const uint32_t *)&e.word, !full);
	SAME(full || edge_slept[0].call.private_ == !!v[6], true);
	m.sleepers -= full ? 0 : 1;
	SAME(event_word(&e), pack(m));
	SAME(fake.wakes, 0);
}

static void announce_a_sleep(void)
{
	static const struct edges axes[] = { ALL_STATES,
					     EDGES("private", 0, IPCWAIT_PRIVATE) };

	fake_reset();
	EDGE_WALK(axes, announce_one);
}

/* Without one who is counted, as far as he still is. */
static struct model without_one(struct model m, bool auto_)
{
	m.sleepers = m.sleepers ? m.sleepers - 1 : 0;
	if (auto_ || !m.sleepers)
		m.wake = 0;
	return m;
}

/* The wait began at one epoch, and finds this: it is through, sleeps again, or gives up. */
static void come_back_one(const int64_t *v)
{
	int64_t began = edge_value(v[6], v[3]);
	struct model m;
	bool open;

	if (!legal(v, &m) || began < 0 || began >= EPOCHS)
		return;
	const struct edge_step steps[] = {
		{ .result = (int)v[7], .changes = true, .word = pack(m) },
		{ .result = -ENOSYS },
	};

	world((struct model){ .epoch = began }, 500 * US, (unsigned)v[0]);
	edge_script(&e.word.v, steps, 2);
	open = m.set || (!v[0] && m.epoch != began);
	SAME(ipcwait_event_wait(&e), open ? 0 : -ENOSYS);
	SAME(edge_sleeps, open || v[7] == -ENOSYS ? 1 : 2);
	if (edge_sleeps == 2) {
		m.wake = m.spinner = 0;
		SAME(edge_slept[1].word, pack(m));
	}
	if (v[0])
		m.set = 0;
	SAME(event_word(&e), pack(without_one(m, v[0])));
	SAME(fake.wakes, 0);
}

static void come_back_from_a_sleep(void)
{
	static const struct edges axes[] = { ALL_STATES,
					     EDGES("began", FROM(0), FROM(-1), FROM(1), 0,
						   EPOCHS / 2, EPOCHS - 1),
					     EDGES("result", 0, -EAGAIN, -ENOSYS) };

	fake_reset();
	EDGE_WALK(axes, come_back_one);
}

static struct ipcwait_sem other;
static uint64_t meanwhile_word;
static uint32_t meanwhile_stamp;

static void become(void)
{
	event_fabricate(&e, meanwhile_word);
	other.word.v = UINT64_C(1) << 32 | 1;
	ipcwait_window_stamp(&e.window);
	fake.now_ns += 500 * US;
	meanwhile_stamp = e.window.stamp.v;
}

/* One who sleeps on this and another has taken that. */
static void retract_one(const int64_t *v)
{
	const struct ipcwait_waitable waitables[] = {
		{ .type = IPCWAIT_WAITABLE_EVENT, .object = &e },
		{ .type = IPCWAIT_WAITABLE_SEM, .object = &other },
	};
	const struct fake_step step = { .result = 1, .meanwhile = become };
	struct model m;
	bool due;

	if (!legal(v, &m))
		return;
	meanwhile_word = pack(m);
	world((struct model){ .epoch = m.epoch }, 0, (unsigned)(v[0] | v[6]));
	other.word.v = 0;
	fake_script(&step, 1);
	SAME(ipcwait_wait_any(waitables, 2, IPCWAIT_FOREVER, &other.window), 1);
	SAME((fake.vector.words[0].flags & IW_WAITV_PRIVATE) != 0, v[6] != 0);
	m = without_one(m, v[0]);
	due = v[0] && m.set && m.sleepers > 0;
	m.wake = m.wake || due;
	SAME(event_word(&e), pack(m));
	assert_woken(due, meanwhile_stamp);
}

static void retract(void)
{
	static const struct edges axes[] = { ALL_STATES,
					     EDGES("private", 0, IPCWAIT_PRIVATE) };

	fake_reset();
	CHECK_EQ(ipcwait_window_set_preset(&other.window, IPCWAIT_BLOCK), 0);
	EDGE_WALK(axes, retract_one);
}

/* A waiter that spins marks itself where it may, and leaves no mark when it goes to sleep. */
static void spin_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	struct model m, marked;
	bool full;

	if (!legal(v, &m) || m.set)
		return;
	fake_reset();
	CHECK_EQ(ipcwait_window_set_preset(&e.window, IPCWAIT_SPIN), 0);
	world(m, 500 * US, (unsigned)v[0]);
	edge_script(&e.word.v, steps, 1);
	/* Private: no alarm reads the clock after it has been announced. */
	e.flags |= IPCWAIT_PRIVATE;
	edge_watch(&e.word.v, 20);
	SAME(ipcwait_event_wait(&e), -ENOSYS);
	full = m.sleepers == SLEEPERS;
	marked = m;
	if (v[0] && m.sleepers > m.wake && !full)
		marked.spinner = 1;
	SAME(edge_watched(~UINT64_C(0)), pack(marked));
	if (!full)
		marked = (struct model){ .epoch = m.epoch, .sleepers = m.sleepers + 1 };
	SAME(edge_slept[0].word, pack(marked));
}

static void spin(void)
{
	static const struct edges axes[] = { ALL_STATES };

	EDGE_WALK(axes, spin_one);
}

static void fini_one(const int64_t *v)
{
	struct model m;
	bool busy;

	if (!legal(v, &m))
		return;
	busy = m.sleepers || m.spinner;
	CHECK_EQ(ipcwait_event_init(&e, (unsigned)v[0]), 0);
	world(m, 500 * US, (unsigned)v[0]);
	SAME(ipcwait_event_fini(&e), busy ? -EBUSY : 0);
	SAME(busy ? event_word(&e) : 0, busy ? pack(m) : 0);
	SAME(e.flags == v[0], busy);
	SAME(busy || !ipcwait_event_is_set(&e), true);
}

static void fini(void)
{
	static const struct edges axes[] = { ALL_STATES };

	fake_reset();
	EDGE_WALK(axes, fini_one);
}

static int begin(void **state)
{
	(void)state;
	fake_reset();
	return ipcwait_event_init(&e, 0) ||
	       ipcwait_window_set_preset(&e.window, IPCWAIT_BLOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(set),
		CHILD_TEST(take),
		CHILD_TEST(announce_a_sleep),
		CHILD_TEST(come_back_from_a_sleep),
		CHILD_TEST(retract),
		CHILD_TEST(spin),
		CHILD_TEST(fini),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
