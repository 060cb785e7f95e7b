/* SPDX-License-Identifier: MIT */
/*
 * The reader-writer lock at every edge of its fields: each row of the table in <ipcwait/rwlock.h>
 * against numbers that are wide enough for whatever comes of it.
 */
#include <errno.h>
#include <limits.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/edges.h"
#include "common/rwlock_model.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

/* lib/policy/pace.h: the next writer that waits is measured. */
#define LAST_COUNT (15u << 12)

/* A stamp that is believed, and one that is not. */
#define FRESH_NS (4900 * US)
#define STALE_NS (5100 * US)

/* In this time a writer becomes overdue. */
#define LONG_NS (100 * MS)

static struct ipcwait_rwlock l;

/* A lock in this state, and a stamp of so long ago. */
static void world(struct model m, int64_t stamp_age_ns, unsigned flags)
{
	edge_world();
	l.flags = flags;
	l.note.v = 0;
	ipcwait_window_stamp(&l.window);
	fake.now_ns += stamp_age_ns;
	rwlock_fabricate(&l, pack(m));
}

static void assert_woken(struct woken want, uint32_t stamp)
{
	SAME(fake.wakes, want.classes ? 1 : 0);
	SAME(l.window.stamp.v != stamp, want.stamped);
	if (!want.classes)
		return;
	SAME(fake.wake.bits, want.classes);
	SAME(fake.wake.value, want.count);
	SAME(fake.wake.word == (const uint32_t *)&l.word, true);
	SAME(fake.wake.private_, (l.flags & IPCWAIT_PRIVATE) != 0);
}

static void unlock_one(const int64_t *v)
{
	bool writes = v[STATES], either = v[STATES + 1];
	struct woken woken = { 0 };
	struct model m;
	uint32_t stamp;
	bool held;
	int r;

	if (!legal(v, &m) || (either && writes != !!m.writer))
		return;
	world(m, FRESH_NS, either ? IPCWAIT_PRIVATE : 0);
	stamp = l.window.stamp.v;
	held = writes ? m.writer : !m.writer && m.readers;
	if (either)
		r = ipcwait_rwlock_unlock(&l);
	else
		r = writes ? ipcwait_rwlock_wrunlock(&l) : ipcwait_rwlock_rdunlock(&l);
	SAME(r, held ? 0 : -EPERM);
	if (held)
		woken = left_by(&m, writes);
	SAME(rwlock_word(&l), pack(m));
	assert_woken(woken, stamp);
}

static void unlock(void)
{
	static const struct edges axes[] = { ALL_STATES, EDGES("writes", 0, 1),
					     EDGES("either", 0, 1) };

	fake_reset();
	CHECK_EQ(EDGE_WALK(axes, unlock_one), 2 * 7 * 4 * 36 * 3 * 8 * 4);
}

static void try_one(const int64_t *v)
{
	bool writes = v[STATES], stale = v[STATES + 2];
	struct woken woken = { 0 };
	struct model m;
	uint32_t stamp;
	int r;

	if (!legal(v, &m))
		return;
	world(m, stale ? STALE_NS : FRESH_NS, v[STATES + 1] ? IPCWAIT_PRIVATE : 0);
	stamp = l.window.stamp.v;
	if (!had(&m, writes, false, false, &r) &&
	    !(rolled(&m, stale && !v[STATES + 1], &woken) &&
	      had(&m, writes, false, false, &r)))
		r = -EBUSY;
	SAME(writes ? ipcwait_rwlock_trywrlock(&l) : ipcwait_rwlock_tryrdlock(&l), r);
	SAME(rwlock_word(&l), pack(m));
	assert_woken(woken, stamp);
}

static void try_lock(void)
{
	static const struct edges axes[] = { ALL_STATES, EDGES("writes", 0, 1),
					     EDGES("private", 0, 1), EDGES("stale", 0, 1) };

	fake_reset();
	EDGE_WALK(axes, try_one);
}

static int lock_it(bool writes)
{
	return writes ? ipcwait_rwlock_wrlock(&l) : ipcwait_rwlock_rdlock(&l);
}

static void assert_slept(unsigned i, struct model m, bool published, uint32_t bits)
{
	const struct edge_sleep *slept = &edge_slept[i];

	SAME(slept->word, pack(m));
	SAME(slept->call.word == (const uint32_t *)&l.word, published);
	if (!published)
		return;
	SAME(slept->call.bits, bits);
	SAME(slept->call.private_, (l.flags & IPCWAIT_PRIVATE) != 0);
}

/* Waits, is not let in, and gives up. */
static void announce_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	bool writes = v[STATES], stale = v[STATES + 2], published;
	struct woken woken = { 0 };
	struct model m;
	uint32_t stamp;
	int r;

	if (!legal(v, &m))
		return;
	world(m, stale ? STALE_NS : FRESH_NS, v[STATES + 1] ? IPCWAIT_PRIVATE : 0);
	stamp = l.window.stamp.v;
	edge_script(&l.word.v, steps, 1);
	if (had(&m, writes, false, false, &r) ||
	    (rolled(&m, stale && !v[STATES + 1], &woken) &&
	     had(&m, writes, false, false, &r))) {
		SAME(lock_it(writes), r);
		SAME(edge_sleeps, 0);
	} else {
		SAME(lock_it(writes), -ENOSYS);
		SAME(edge_sleeps, 1);
		published = asleep(&m, writes, false, false);
		assert_slept(0, m, published, writes ? WRITER : READER);
		if (!woken.classes)
			woken = gone(&m, writes, published, false);
		else
			(void)gone(&m, writes, published, false);
	}
	SAME(rwlock_word(&l), pack(m));
	assert_woken(woken, stamp);
}

static void announce_a_sleep(void)
{
	static const struct edges axes[] = { ALL_STATES, EDGES("writes", 0, 1),
					     EDGES("private", 0, 1), EDGES("stale", 0, 1) };

	fake_reset();
	EDGE_WALK(axes, announce_one);
}

/* What happens to the stamp while it sleeps. */
static int64_t meanwhile_age_ns;
static uint32_t meanwhile_stamp;

static void stamp_it(void)
{
	fake.now_ns -= meanwhile_age_ns;
	ipcwait_window_stamp(&l.window);
	fake.now_ns += meanwhile_age_ns;
	meanwhile_stamp = l.window.stamp.v;
	/* Only what comes afterwards. */
	fake.wakes = 0;
}

/* It sleeps again; a reader whose alarm rang asks whether any of the writers lives. */
static struct woken slept_again(struct model *m, bool writes, bool counted, bool late)
{
	bool asks =
		!writes && late && !(l.flags & IPCWAIT_PRIVATE) && !m->writer && !m->wake;
	bool published = asleep(m, writes, counted, late);
	struct woken woken = { 0 };

	if (published && asks) {
		m->wake = 1;
		woken = (struct woken){ WRITER, 1, true };
	}
	assert_slept(1, *m, published, writes ? WRITER | (late ? OVERDUE : 0) : READER);
	return woken;
}

struct back {
	bool writes, stale, late;
	int result;
};

/* What comes of one who was counted in EPOCH @of, and finds @m. */
static int came_back(struct model *m, struct back b, int64_t of, struct woken *woken)
{
	bool counted = m->epoch == of;
	struct woken last;
	int r;

	if (b.result == -ENOSYS) {
		/* It has not looked at the time yet. */
		if (had(m, b.writes, counted, false, &r))
			return r;
		*woken = gone(m, b.writes, counted, false);
		return -ENOSYS;
	}
	/* Its first look is before it learns that it is late. */
	if (had(m, b.writes, counted, false, &r))
		return r;
	looked(m, b.writes);
	if (had(m, b.writes, counted, b.late, &r) ||
	    (rolled(m, b.stale && !(l.flags & IPCWAIT_PRIVATE), woken) &&
	     had(m, b.writes, m->epoch == of, b.late, &r)))
		return r;
	counted = m->epoch == of;
	last = slept_again(m, b.writes, counted, b.late);
	*woken = last.classes ? last : *woken;
	last = gone(m, b.writes, true, b.writes && b.late);
	*woken = last.classes ? last : *woken;
	return -ENOSYS;
}

/* Waited behind a writer, and finds this. */
static void come_back_one(const int64_t *v)
{
	struct back b = { v[STATES], v[STATES + 2], v[STATES + 3] != 0,
			  (int)v[STATES + 4] };
	int64_t of = (v[6] + v[STATES + 5]) % 4;
	struct woken woken = { 0 };
	struct model m;
	unsigned wakes;
	int r;

	if (!legal(v, &m))
		return;
	/* Who is counted is among those counted. */
	if (of == m.epoch && !(b.writes ? m.wsleepers : m.rsleepers))
		return;
	/* No room, and not counted: it sleeps elsewhere, which has been seen. */
	if (of != m.epoch && (b.writes ? m.wsleepers : m.rsleepers) == SLEEPERS)
		return;
	const struct edge_step steps[] = {
		{ .result = b.result,
		  .changes = true,
		  .word = pack(m),
		  .sleep_ns = b.late ? LONG_NS : 0,
		  .meanwhile = stamp_it },
		{ .result = -ENOSYS },
	};

	world((struct model){ .writer = 1, .epoch = of }, 0,
	      v[STATES + 1] ? IPCWAIT_PRIVATE : 0);
	meanwhile_age_ns = b.stale ? STALE_NS : 0;
	edge_script(&l.word.v, steps, 2);
	r = lock_it(b.writes);
	SAME(r, came_back(&m, b, of, &woken));
	SAME(rwlock_word(&l), pack(m));
	wakes = fake.wakes;
	SAME(wakes >= (woken.classes ? 1 : 0) && wakes <= 2, true);
	SAME(wakes ? fake.wake.bits : 0, woken.classes);
	SAME(l.window.stamp.v != meanwhile_stamp, woken.stamped);
}

static void come_back_from_a_sleep(void)
{
	static const struct edges axes[] = {
		ALL_STATES,
		EDGES("writes", 0, 1),
		EDGES("private", 0, 1),
		EDGES("stale", 0, 1),
		EDGES("late", 0, 1),
		EDGES("result", 0, -ENOSYS),
		EDGES("since", 0, 1, 2),
	};

	fake_reset();
	EDGE_WALK(axes, come_back_one);
}

/* One of sixteen writers that had to wait is measured. */
static void measure_one(const int64_t *v)
{
	struct model m;
	int r;

	if (!legal(v, &m) || !is_free(m) || m.urgent)
		return;
	const struct edge_step steps[] = { { .changes = true, .word = pack(m) } };

	world((struct model){ .writer = 1, .epoch = (m.epoch + 1) % 4 }, 0, 0);
	l.note.v = (uint32_t)v[STATES];
	edge_script(&l.word.v, steps, 1);
	SAME(lock_it(true), 0);
	CHECK(had(&m, true, false, false, &r));
	m.timed = v[STATES] == LAST_COUNT;
	SAME(rwlock_word(&l), pack(m));
	SAME(ipcwait_rwlock_wrunlock(&l), 0);
	(void)left_by(&m, true);
	SAME(rwlock_word(&l), pack(m));
}

static void measured(void)
{
	static const struct edges axes[] = { ALL_STATES, EDGES("note", 0, LAST_COUNT - 4096,
							       LAST_COUNT) };

	fake_reset();
	EDGE_WALK(axes, measure_one);
}

static uint64_t crowded(void)
{
	struct ipcwait_stats st;

	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	return st.reasons[IPCWAIT_REASON_CROWDED];
}

/* A writer that spins says so, unless another one does: then it does not spin. */
static void spin_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	bool writes = v[STATES], foreign, published;
	struct model m, marked;
	uint64_t before;
	int r;

	if (!legal(v, &m))
		return;
	marked = m;
	if (had(&marked, writes, false, false, &r))
		return;
	fake_reset();
	CHECK_EQ(ipcwait_window_set_preset(&l.window, IPCWAIT_SPIN), 0);
	world(m, FRESH_NS, IPCWAIT_PRIVATE);
	edge_script(&l.word.v, steps, 1);
	edge_watch(&l.word.v, 20);
	before = crowded();
	SAME(lock_it(writes), -ENOSYS);
	foreign = writes && m.spinner;
	marked = m;
	looked(&marked, writes);
	SAME(crowded() - before, foreign);
	SAME(edge_watched(pack(marked)), pack(marked));
	SAME(fake.clock_readings > 20, !foreign);
	published = asleep(&marked, writes, false, false);
	assert_slept(0, marked, published, writes ? WRITER : READER);
}

static void spin(void)
{
	static const struct edges axes[] = { ALL_STATES, EDGES("writes", 0, 1) };

	EDGE_WALK(axes, spin_one);
}

static void fini_one(const int64_t *v)
{
	struct model m;
	bool busy;

	if (!legal(v, &m))
		return;
	CHECK_EQ(ipcwait_rwlock_init(&l, 0), 0);
	world(m, FRESH_NS, 0);
	busy = (pack(m) & ~WORD_EPOCH) != 0;
	SAME(ipcwait_rwlock_fini(&l), busy ? -EBUSY : 0);
	SAME(busy ? rwlock_word(&l) : 0, busy ? pack(m) : 0);
	SAME(l.flags == 0, busy);
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
	return ipcwait_rwlock_init(&l, 0) ||
	       ipcwait_window_set_preset(&l.window, IPCWAIT_BLOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(unlock),
		CHILD_TEST(try_lock),
		CHILD_TEST(announce_a_sleep),
		CHILD_TEST(come_back_from_a_sleep),
		CHILD_TEST(measured),
		CHILD_TEST(spin),
		CHILD_TEST(fini),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
