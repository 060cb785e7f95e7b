/* SPDX-License-Identifier: MIT */
/*
 * The event count at every edge of its fields, and of the distance between a waiter's place and
 * the first in line: each row of the table in <ipcwait/eventcount.h> against numbers that are wide
 * enough for whatever comes of it.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/edges.h"
#include "common/eventcount_word.h"

#define US     INT64_C(1000)
#define FROM   EDGE_FROM
#define EPOCHS (INT64_C(1) << 32)
#define PLACES 2048
#define LINE   1023
#define GONE   15
#define WAKES  127

static struct ipcwait_eventcount ec;

/* The table's columns. */
struct model {
	int64_t epoch, head, line, gone, wakes;
};

static uint64_t pack(struct model m)
{
	SAME(m.epoch >= 0 && m.epoch < EPOCHS, true);
	SAME(m.head >= 0 && m.head < PLACES, true);
	SAME(m.line >= 0 && m.line <= LINE, true);
	SAME(m.gone >= 0 && m.gone <= GONE, true);
	SAME(m.wakes >= 0 && m.wakes <= WAKES, true);
	return EC_WORD(m.epoch, m.head, m.line, m.gone, m.wakes);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

#define ALL_EPOCHS EDGES("epoch", 0, 1, 0x7fffffff, EPOCHS - 2, EPOCHS - 1)
#define ALL_HEADS \
	EDGES("head", 0, 1, 2, 15, 16, 31, 32, 33, 1022, 1023, 1024, 1025, 1536, 2046, 2047)
#define ALL_LINES \
	EDGES("line", 0, 1, 2, 14, 15, 16, 17, 31, 32, 33, 511, 512, 1021, 1022, 1023)
#define ALL_GONE  EDGES("gone", 0, 1, 2, 7, 8, 13, 14, 15)
#define ALL_WAKES EDGES("wakes", 0, 1, 2, 63, 64, 125, 126, 127)

/* An event count in this state, and a stamp of so long ago. */
static void world(struct model m, int64_t stamp_age_ns, unsigned flags)
{
	edge_world();
	ec.flags = flags;
	ipcwait_window_stamp(&ec.window);
	fake.now_ns += stamp_age_ns;
	ec_fabricate(&ec, pack(m));
}

/* One wake of all in these classes, with a stamp before it, or neither. */
static void assert_woken(uint32_t classes, uint32_t stamp)
{
	SAME(fake.wakes, classes ? 1 : 0);
	SAME(ec.window.stamp.v != stamp, classes != 0);
	if (!classes)
		return;
	SAME(fake.wake.bits, classes);
	SAME(fake.wake.value, INT32_MAX);
	SAME(fake.wake.word == (const uint32_t *)&ec.word, true);
	SAME(fake.wake.private_, (ec.flags & IPCWAIT_PRIVATE) != 0);
}

/* Place by place. */
static uint32_t classes_of(int64_t first, int64_t n)
{
	uint32_t bits = 0;

	for (int64_t i = 0; i < n && i < 64; i++)
		bits |= UINT32_C(1) << (first + i) % PLACES % 32;
	return bits;
}

/* The table's second row. */
static uint32_t notified(struct model *m, int64_t n, bool old)
{
	bool stale = old && m->wakes, unknown = m->gone == GONE;
	int64_t passed = n ? least(n + m->gone, m->line) : 0;
	int64_t living = unknown ? 0 : m->line - m->gone;
	uint32_t bits;

	/* So are they where nobody seems to be there. */
	if (unknown || stale || m->gone == m->line)
		passed = m->line;
	bits = stale ? UINT32_MAX : classes_of(m->head, passed);
	m->wakes = least((stale ? 0 : m->wakes) + least(n, living), WAKES);
	m->epoch = (m->epoch + 1) % EPOCHS;
	m->head = (m->head + passed) % PLACES;
	m->line -= passed;
	m->gone = unknown ? 0 : least(m->gone, m->line);
	return bits;
}

static void notify_one(const int64_t *v)
{
	struct model m = { v[0], v[1], v[2], v[3], v[4] };
	int64_t n = edge_value(v[5], m.line);
	uint32_t stamp, bits;

	if (m.gone > m.line || n < 0)
		return;
	world(m, v[6] ? 1100 * US : 500 * US, v[6] ? IPCWAIT_PRIVATE : 0);
	stamp = ec.window.stamp.v;
	SAME(n == UINT32_MAX ? ipcwait_eventcount_notify_all(&ec)
			     : ipcwait_eventcount_notify(&ec, (uint32_t)n),
	     0);
	bits = notified(&m, n, v[6]);
	SAME(ec_word(&ec), pack(m));
	assert_woken(bits, stamp);
}

static void notify(void)
{
	static const struct edges axes[] = {
		ALL_EPOCHS,
		ALL_HEADS,
		ALL_LINES,
		ALL_GONE,
		ALL_WAKES,
		EDGES("n", 0, 1, 2, 31, 32, 33, 1023, 1024, 0x7fffffff, UINT32_MAX,
		      FROM(-15), FROM(-14), FROM(-2), FROM(-1), FROM(0), FROM(1)),
		EDGES("stale", 0, 1),
	};

	fake_reset();
	CHECK_EQ(EDGE_WALK(axes, notify_one), 5 * 15 * 15 * 8 * 8 * 16 * 2);
}

/* A waiter prepares, announces its sleep, and gives up. */
static void announce_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	struct model m = { v[0], v[1], v[2], v[3], v[4] };
	bool full = m.line == LINE, swept = full && m.gone;
	struct model asleep = m;
	uint32_t bits = 0, stamp;

	if (m.gone > m.line)
		return;
	world(m, 500 * US, v[5] ? IPCWAIT_PRIVATE : 0);
	stamp = ec.window.stamp.v;
	SAME(ipcwait_eventcount_prepare(&ec), m.epoch);
	edge_script(&ec.word.v, steps, 1);
	SAME(ipcwait_eventcount_commit(&ec, (uint64_t)m.epoch, IPCWAIT_FOREVER),
	     swept ? 0 : -ENOSYS);
	if (swept) {
		bits = notified(&m, UINT32_MAX, false);
		SAME(edge_sleeps, 0);
	} else {
		asleep.line += full ? 0 : 1;
		SAME(edge_sleeps, 1);
		SAME(edge_slept[0].word, pack(asleep));
		SAME(edge_slept[0].call.word == (const uint32_t *)&ec.word, !full);
		SAME(full || edge_slept[0].call.private_ == !!v[5], true);
		SAME(full ? 0 : edge_slept[0].call.bits,
		     full ? 0 : classes_of(m.head + m.line, 1));
	}
	SAME(ec_word(&ec), pack(m));
	assert_woken(bits, stamp);
}

static void announce_a_sleep(void)
{
	static const struct edges axes[] = {
		ALL_EPOCHS, ALL_HEADS, ALL_LINES,
		ALL_GONE,   ALL_WAKES, EDGES("private", 0, 1)
	};

	fake_reset();
	EDGE_WALK(axes, announce_one);
}

/* So many notifications since it was prepared: it does not wait. */
static void late_one(const int64_t *v)
{
	struct model m = { v[0], v[1], v[2], v[3], v[4] };
	int64_t key = (m.epoch + EPOCHS + v[5]) % EPOCHS;

	if (m.gone > m.line)
		return;
	world(m, 500 * US, 0);
	SAME(ipcwait_eventcount_commit(&ec, (uint64_t)key, 0), 0);
	SAME(ec_word(&ec), pack(m));
	SAME(fake.wakes + edge_sleeps, 0);
}

static void notified_already(void)
{
	static const struct edges axes[] = {
		ALL_EPOCHS, ALL_HEADS, ALL_LINES,
		ALL_GONE,   ALL_WAKES, EDGES("key", -1, 1, 2, 65536, EPOCHS / 2, EPOCHS - 2)
	};

	fake_reset();
	EDGE_WALK(axes, late_one);
}

/*
 * One that has a place, and what it finds: its epoch, the distance of its place from the first in
 * line, below 0 if that has passed it, how many are in line, and so on.
 */
#define ALL_PLACES                                                                        \
	EDGES("began", 0, EPOCHS - 1),                                                    \
		EDGES("later", 0, 1, 2, 1024, EPOCHS / 2, EPOCHS - 1),                    \
		EDGES("place", 0, 1, 31, 32, 1022, 1023, 1024, 1535, 1536, 2046, 2047),   \
		EDGES("distance", -1024, -1023, -1022, -512, -33, -32, -31, -2, -1, 0, 1, \
		      2, 15, 31, 32, 33, 511, 512, 1021, 1022)
#define ALL_FOUND                                                                          \
	ALL_PLACES, EDGES("line", FROM(1), FROM(2), FROM(3), 0, 1, 2, 15, 16, 1022, 1023), \
		EDGES("gone", 0, 1, 2, 13, 14, 15, FROM(-1), FROM(0)),                     \
		EDGES("wakes", 0, 1, 2, 64, 126, 127)

/* The state in which it got its place, as second of a line; and what it finds. */
static bool found(const int64_t *v, struct model *began, struct model *m)
{
	int64_t behind = v[3] < 0 ? 0 : v[3];

	*began = (struct model){ .epoch = v[0], .head = (v[2] + PLACES - 1) % PLACES };
	began->line = 1;
	*m = (struct model){ .epoch = (v[0] + v[1]) % EPOCHS };
	m->head = (v[2] + PLACES - v[3]) % PLACES;
	m->line = edge_value(v[4], behind);
	m->gone = edge_value(v[5], m->line);
	m->wakes = v[6];
	if (m->line > LINE || m->gone < 0 || m->gone > GONE || m->gone > m->line)
		return false;
	/* What has not been reached is in line, and without a notification nothing was. */
	return v[3] < 0 ? v[1] != 0 : v[3] < m->line;
}

/* Without that one. */
static struct model without_one(struct model m, const int64_t *v)
{
	if (v[3] < 0) {
		m.wakes -= m.wakes > 0;
	} else if (!v[1] && v[3] == m.line - 1) {
		m.line--;
		m.gone = least(m.gone, m.line);
	} else {
		m.gone = least(m.gone + 1, least(GONE, m.line));
	}
	return m;
}

static void come_back_one(const int64_t *v)
{
	struct model began, m;

	if (!found(v, &began, &m))
		return;
	const struct edge_step steps[] = {
		{ .result = (int)v[7], .changes = true, .word = pack(m) },
		{ .result = -ENOSYS },
	};

	world(began, 500 * US, 0);
	edge_script(&ec.word.v, steps, 2);
	SAME(ipcwait_eventcount_commit(&ec, (uint64_t)v[0], IPCWAIT_FOREVER),
	     v[1] ? 0 : -ENOSYS);
	SAME(edge_sleeps, v[1] || v[7] == -ENOSYS ? 1 : 2);
	if (edge_sleeps == 2) {
		SAME(edge_slept[1].word, pack(m));
		SAME(edge_slept[1].call.bits, classes_of(v[2], 1));
	}
	SAME(ec_word(&ec), pack(without_one(m, v)));
	SAME(fake.wakes, 0);
}

static void come_back_from_a_sleep(void)
{
	static const struct edges axes[] = { ALL_FOUND, EDGES("result", 0, -ENOSYS) };

	fake_reset();
	EDGE_WALK(axes, come_back_one);
}

static struct ipcwait_sem other;
static uint64_t meanwhile_word;
static int64_t meanwhile_age_ns;
static uint32_t meanwhile_stamp, meanwhile_tokens;

static void become(void)
{
	ec_fabricate(&ec, meanwhile_word);
	other.word.v = (uint64_t)meanwhile_tokens << 32 | 1;
	ipcwait_window_stamp(&ec.window);
	fake.now_ns += meanwhile_age_ns;
	meanwhile_stamp = ec.window.stamp.v;
}

static int wait_for_both(const int64_t *v, struct model began, struct model m, int result)
{
	const struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_EVENTCOUNT,
		  .object = &ec,
		  .expected = (uint64_t)v[0] },
		{ .type = IPCWAIT_WAITABLE_SEM, .object = &other },
	};
	const struct fake_step step = { .result = result, .meanwhile = become };

	meanwhile_word = pack(m);
	meanwhile_age_ns = v[7] ? 1100 * US : 500 * US;
	meanwhile_tokens = result > 0;
	world(began, 0, v[7] ? IPCWAIT_PRIVATE : 0);
	other.word.v = 0;
	fake_script(&step, 1);
	return ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, &other.window);
}

/* It has taken something else: a notification that has reached it is for the next in line. */
static void retract_one(const int64_t *v)
{
	struct model began, m;
	uint32_t bits = 0;

	if (!found(v, &began, &m))
		return;
	SAME(wait_for_both(v, began, m, 1), 1);
	m = without_one(m, v);
	if (v[3] < 0)
		bits = notified(&m, 1, v[7]);
	SAME(ec_word(&ec), pack(m));
	assert_woken(bits, meanwhile_stamp);
}

static void retract(void)
{
	static const struct edges axes[] = { ALL_FOUND, EDGES("stale", 0, 1) };

	fake_reset();
	CHECK_EQ(ipcwait_window_set_preset(&other.window, IPCWAIT_BLOCK), 0);
	EDGE_WALK(axes, retract_one);
}

/* It gives up both, or a notification has come before it could. */
static void give_up_both_one(const int64_t *v)
{
	struct model began, m;

	if (!found(v, &began, &m) || v[7])
		return;
	SAME(wait_for_both(v, began, m, -EFAULT), v[1] ? 0 : -EFAULT);
	SAME(ec_word(&ec), pack(without_one(m, v)));
	SAME(fake.wakes, 0);
}

static void give_up_both(void)
{
	static const struct edges axes[] = { ALL_FOUND, EDGES("stale", 0) };

	fake_reset();
	CHECK_EQ(ipcwait_window_set_preset(&other.window, IPCWAIT_BLOCK), 0);
	EDGE_WALK(axes, give_up_both_one);
}

static void fini_one(const int64_t *v)
{
	struct model m = { v[0], v[1], v[2], v[3], v[4] };
	bool busy = m.line > m.gone || m.wakes;

	if (m.gone > m.line)
		return;
	CHECK_EQ(ipcwait_eventcount_init(&ec, 0), 0);
	world(m, 500 * US, 0);
	SAME(ipcwait_eventcount_fini(&ec), busy ? -EBUSY : 0);
	SAME(busy ? ec_word(&ec) : 0, busy ? pack(m) : 0);
	SAME(ec.flags == 0, busy);
}

static void fini(void)
{
	static const struct edges axes[] = { ALL_EPOCHS, ALL_HEADS, ALL_LINES, ALL_GONE,
					     ALL_WAKES };

	fake_reset();
	EDGE_WALK(axes, fini_one);
}

static int begin(void **state)
{
	(void)state;
	fake_reset();
	return ipcwait_eventcount_init(&ec, 0) ||
	       ipcwait_window_set_preset(&ec.window, IPCWAIT_BLOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(notify),
		CHILD_TEST(announce_a_sleep),
		CHILD_TEST(notified_already),
		CHILD_TEST(come_back_from_a_sleep),
		CHILD_TEST(retract),
		CHILD_TEST(give_up_both),
		CHILD_TEST(fini),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
