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

/* A nap ends within the first time, and a waiter is overdue after the second. */
#define NAP_NS  (200 * US)
#define LONG_NS (100 * MS)

/* The length of a nap, with some readings of the clock. */
#define NAP_MOST_NS (101 * US)

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

/* A call does not leave what the table calls "never", nor what no call leads to. */
static void assert_sound(struct model before, struct model after)
{
	SAME(may_be(after), true);
	SAME(is_sound(before) && !is_sound(after), false);
}

static void unlock_one(const int64_t *v)
{
	bool writes = v[STATES], either = v[STATES + 1];
	struct woken woken = { 0 };
	struct model m, before;
	uint32_t stamp;
	bool held;
	int r;

	if (!legal(v, &m) || (either && writes != !!m.writer))
		return;
	before = m;
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
	assert_sound(before, m);
}

static void unlock(void)
{
	static const struct edges axes[] = { ALL_STATES, EDGES("writes", 0, 1),
					     EDGES("either", 0, 1) };

	fake_reset();
	CHECK_EQ(EDGE_WALK(axes, unlock_one), 2 * 7 * 4 * 6 * 4 * 6 * 3 * 16 * 4);
}

static int try_it(bool writes, bool waits)
{
	if (waits)
		return writes ? ipcwait_rwlock_wrlock_until(&l, 0)
			      : ipcwait_rwlock_rdlock_until(&l, 0);
	return writes ? ipcwait_rwlock_trywrlock(&l) : ipcwait_rwlock_tryrdlock(&l);
}

/*
 * A call that tries takes the lock or gives up, once more after a roll call. A wait whose deadline
 * is past does the same, but calls no roll. Neither gives way to a writer that has set NEXT.
 */
static void try_one(const int64_t *v)
{
	bool private_ = v[STATES + 1], stale = v[STATES + 2], waits = v[STATES + 3];
	struct waiter w = { .writes = v[STATES] };
	struct woken woken = { 0 };
	struct model m, before;
	uint32_t stamp;
	int r;

	if (!legal(v, &m))
		return;
	before = m;
	world(m, stale ? STALE_NS : FRESH_NS, private_ ? IPCWAIT_PRIVATE : 0);
	stamp = l.window.stamp.v;
	if (!had(&m, w, &r)) {
		woken = gone(&m, w);
		stale = stale && !private_ && !woken.stamped && !waits;
		if (!rolled(&m, stale, &woken) || !had(&m, w, &r))
			r = waits ? -ETIMEDOUT : -EBUSY;
	}
	SAME(try_it(w.writes, waits), r);
	SAME(rwlock_word(&l), pack(m));
	assert_woken(woken, stamp);
	assert_sound(before, m);
}

static void try_lock(void)
{
	static const struct edges axes[] = {
		ALL_STATES,           EDGES("writes", 0, 1), EDGES("private", 0, 1),
		EDGES("stale", 0, 1), EDGES("waits", 0, 1),
	};

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

/* The thread sleeps in state @m, for wakes of its class, and with an alarm if it naps. */
static void assert_sleeper(unsigned i, struct model m, bool published, struct waiter w)
{
	uint32_t writer = WRITER | (w.overdue ? OVERDUE : 0);

	assert_slept(i, m, published, w.writes ? writer : READER);
	if (!published)
		return;
	SAME(edge_slept[i].call.deadline_ns - edge_slept[i].began_ns <= NAP_MOST_NS,
	     w.naps);
	/* Nobody dies in a private lock: an overdue reader has the next turn and needs no alarm. */
	SAME(edge_slept[i].call.deadline_ns == IPCWAIT_FOREVER,
	     !w.writes && w.overdue && l.flags & IPCWAIT_PRIVATE);
}

/* Waits, is not let in, and gives up. */
static void announce_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	bool private_ = v[STATES + 1], stale = v[STATES + 2], published;
	struct waiter w = { .writes = v[STATES] };
	struct woken woken = { 0 }, last;
	struct model m, before;
	uint32_t stamp;
	int r;

	if (!legal(v, &m))
		return;
	before = m;
	world(m, stale ? STALE_NS : FRESH_NS, private_ ? IPCWAIT_PRIVATE : 0);
	stamp = l.window.stamp.v;
	edge_script(&l.word.v, steps, 1);
	if (had(&m, w, &r) || (rolled(&m, stale && !private_, &woken) && had(&m, w, &r))) {
		SAME(lock_it(w.writes), r);
		SAME(edge_sleeps, 0);
	} else {
		SAME(lock_it(w.writes), -ENOSYS);
		SAME(edge_sleeps, 1);
		published = asleep(&m, &w, false);
		assert_sleeper(0, m, published, w);
		last = gone(&m, w);
		woken = woken.classes ? woken : last;
	}
	SAME(rwlock_word(&l), pack(m));
	assert_woken(woken, stamp);
	assert_sound(before, m);
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
static struct woken slept_again(unsigned i, struct model *m, struct waiter *w)
{
	bool asks = !w->writes && w->rang && !(l.flags & IPCWAIT_PRIVATE) && !m->writer &&
		    !m->wake;
	bool published = asleep(m, w, false);
	struct woken woken = { 0 };

	if (published && asks) {
		m->wake = 1;
		woken = (struct woken){ WRITER, 1, true };
	}
	assert_sleeper(i, *m, published, *w);
	return woken;
}

/* The length of the last sleep. */
enum { AT_ONCE, A_NAP, LONG };

struct back {
	bool stale;
	int slept; /* AT_ONCE, A_NAP or LONG */
	int result;
	unsigned sleeps; /* of the thread, until now */
};

/* The result for a thread that was counted in EPOCH @of and finds @m. */
static int came_back(struct model *m, struct waiter w, struct back b, int64_t of,
		     struct woken *woken)
{
	struct woken last;
	int r;

	w.counted = m->epoch == of;
	w.woken = b.result == 0;
	if (b.result == -ENOSYS) {
		/* It has not looked at the time yet. */
		if (had(m, w, &r))
			return r;
		*woken = gone(m, w);
		return -ENOSYS;
	}
	/* Its first look is before it learns that it is late. */
	if (had_in_look(m, &w, &r))
		return r;
	w.overdue = b.slept == LONG;
	w.rang = b.slept == LONG || (b.slept == A_NAP && w.naps);
	if (had(m, w, &r))
		return r;
	if (rolled(m, b.stale && !(l.flags & IPCWAIT_PRIVATE), woken)) {
		w.counted = m->epoch == of;
		if (had(m, w, &r))
			return r;
	}
	last = slept_again(b.sleeps, m, &w);
	*woken = last.classes ? last : *woken;
	last = gone(m, w);
	*woken = last.classes ? last : *woken;
	return -ENOSYS;
}

/* The thread has slept behind a writer, and then maybe in a nap, and finds this state. */
static void come_back_one(const int64_t *v)
{
	static const int64_t slept_ns[] = { 0, NAP_NS, LONG_NS };
	struct waiter w = { .writes = v[STATES], .slept = true, .naps = v[STATES + 6] };
	struct back b = { v[STATES + 2], (int)v[STATES + 3], (int)v[STATES + 4],
			  1 + w.naps };
	int64_t of = (v[STATES_EPOCH] + v[STATES + 5]) % 4;
	struct model m, first = { .writer = 1, .epoch = of, .wsleepers = w.naps };
	struct woken woken = { 0 };
	unsigned wakes;
	int r;

	if (!legal(v, &m) || (w.naps && !w.writes))
		return;
	/* Who is counted is among those counted. */
	if (of == m.epoch && !(w.writes ? m.wsleepers : m.rsleepers))
		return;
	/* No room, and not counted: it sleeps elsewhere, which has been seen. */
	if (of != m.epoch && (w.writes ? m.wsleepers : m.rsleepers) == SLEEPERS)
		return;
	const struct edge_step again = { .changes = true, .word = pack(first) };
	const struct edge_step found = { .result = b.result,
					 .changes = true,
					 .word = pack(m),
					 .sleep_ns = slept_ns[b.slept],
					 .meanwhile = stamp_it };
	const struct edge_step steps[] = { w.naps ? again : found,
					   w.naps ? found
						  : (struct edge_step){ .result = -ENOSYS },
					   { .result = -ENOSYS } };

	world((struct model){ .writer = 1, .epoch = of }, 0,
	      v[STATES + 1] ? IPCWAIT_PRIVATE : 0);
	meanwhile_age_ns = b.stale ? STALE_NS : 0;
	edge_script(&l.word.v, steps, 2 + w.naps);
	r = lock_it(w.writes);
	if (w.naps) {
		first.quiet = 1;
		assert_sleeper(1, first, true, w);
	}
	SAME(r, came_back(&m, w, b, of, &woken));
	SAME(rwlock_word(&l), pack(m));
	wakes = fake.wakes;
	SAME(wakes >= (woken.classes ? 1 : 0) && wakes <= 2, true);
	SAME(wakes ? fake.wake.bits : 0, woken.classes);
	SAME(l.window.stamp.v != meanwhile_stamp, woken.stamped);
}

static void come_back_from_a_sleep(void)
{
	static const struct edges axes[] = {
		SOME_STATES,
		EDGES("writes", 0, 1),
		EDGES("private", 0, 1),
		EDGES("stale", 0, 1),
		EDGES("slept", AT_ONCE, A_NAP, LONG),
		EDGES("result", 0, -ETIMEDOUT, -ENOSYS),
		EDGES("since", 0, 1, 2),
		EDGES("napped", 0, 1),
	};

	fake_reset();
	EDGE_WALK(axes, come_back_one);
}

/* One of sixteen writers that had to wait is measured. */
static void measure_one(const int64_t *v)
{
	struct waiter w = { .writes = true, .slept = true, .woken = true };
	struct model m;
	int r;

	if (!legal(v, &m) || !is_free(m) || m.urgent)
		return;
	const struct edge_step steps[] = { { .changes = true, .word = pack(m) } };

	world((struct model){ .writer = 1, .epoch = (m.epoch + 1) % 4 }, 0, 0);
	l.note.v = (uint32_t)v[STATES];
	edge_script(&l.word.v, steps, 1);
	SAME(lock_it(true), 0);
	CHECK(had(&m, w, &r));
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

static uint64_t crowded_sleeps(void)
{
	struct ipcwait_stats st;

	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	return st.reasons[IPCWAIT_REASON_CROWDED];
}

/*
 * A writer that spins says so. If another writer looks, it does not spin, and its sleep is a nap. A
 * thread that gives way to NEXT takes the free lock as soon as it would sleep.
 */
static void spin_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	struct waiter w = { .writes = v[STATES] };
	bool taken, crowded, published;
	struct model m;
	uint64_t before;
	int r, result;

	if (!legal(v, &m))
		return;
	fake_reset();
	/* The library learns nothing from a wake of nobody, so all spins have the same length. */
	fake.woken = 0;
	CHECK_EQ(ipcwait_window_set_preset(&l.window, IPCWAIT_SPIN), 0);
	world(m, FRESH_NS, IPCWAIT_PRIVATE);
	crowded = w.writes && is_behind(m, w);
	taken = had_in_turn(&m, w, &r) || had_in_look(&m, &w, &r);
	crowded = crowded && !taken;
	edge_script(&l.word.v, steps, 1);
	edge_watch(&l.word.v, 20);
	before = crowded_sleeps();
	result = lock_it(w.writes);
	SAME(crowded_sleeps() - before, crowded);
	SAME(edge_watched(pack(m)), pack(m));
	SAME(fake.clock_readings > 20, !crowded && !taken);
	if (taken || had(&m, w, &r)) {
		SAME(result, r);
		SAME(edge_sleeps, 0);
	} else {
		SAME(result, -ENOSYS);
		SAME(edge_sleeps, 1);
		published = asleep(&m, &w, crowded);
		assert_sleeper(0, m, published, w);
		(void)gone(&m, w);
	}
	SAME(rwlock_word(&l), pack(m));
}

static void spin(void)
{
	static const struct edges axes[] = { SOME_STATES, EDGES("writes", 0, 1) };

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
