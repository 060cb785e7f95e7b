/* SPDX-License-Identifier: MIT */
/*
 * The mutex, plain and robust, at every edge of its fields: each row of the table in
 * <ipcwait/mutex.h> against numbers that are wide enough for whatever comes of it.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/edges.h"
#include "common/mutex_word.h"

#define US       INT64_C(1000)
#define MS       INT64_C(1000000)
#define SLEEPERS 65535
#define OTHER    77

/* Classes of wakes. */
#define PATIENT 1u
#define OVERDUE 2u
#define ANY     3u

/* lib/policy/pace.h */
#define BUSY       (63u << 6)
#define LAST_COUNT (15u << 12)

/* As in lib/sync/mutex_wait.c. */
#define NAP_NS      (50 * US)
#define PATIENCE_NS MS

static struct ipcwait_mutex m;

/* The table's columns. */
struct model {
	int64_t owner, sleepers, wake, urgent, quiet, passes, spinner, timed, process;
	int64_t died, lost;
	bool robust;
};

static uint64_t pack(struct model s)
{
	SAME(s.sleepers >= 0 && s.sleepers <= SLEEPERS, true);
	SAME(s.passes >= 0 && s.passes <= 7, true);
	return MUTEX_WORD(s.owner, s.wake, s.sleepers) | (uint64_t)s.process << 17 |
	       (s.urgent ? MUTEX_WORD_URGENT : 0) | (s.quiet ? MUTEX_WORD_QUIET : 0) |
	       MUTEX_WORD_PASSED(s.passes) | (s.spinner ? MUTEX_WORD_SPINNER : 0) |
	       (s.timed ? MUTEX_WORD_TIMED : 0) | (s.died ? MUTEX_WORD_DIED : 0) |
	       (s.lost ? MUTEX_WORD_LOST : 0) | (s.robust ? MUTEX_WORD_CHECKED : 0);
}

/* "kind" 1 and above: robust, with no death, one, or lost. */
#define ALL_STATES                                                                         \
	EDGES("owned", 0, 1), EDGES("sleepers", 0, 1, 2, 200, 32767, 32768, 65534, 65535), \
		EDGES("wake", 0, 1), EDGES("urgent", 0, 1), EDGES("quiet", 0, 1),          \
		EDGES("passes", 0, 1, 2, 3, 6, 7), EDGES("spinner", 0, 1),                 \
		EDGES("timed", 0, 1), EDGES("process", 0, 1, 0x7fff),                      \
		EDGES("kind", 0, 1, 2, 3)
#define STATES 10

/* The first axes, but those that the table does not allow. False: leave it out. */
static bool legal(const int64_t *v, int64_t owner, struct model *s)
{
	*s = (struct model){
		v[0] ? owner : 0, v[1],      v[2],    v[3], v[4], v[5], v[6], v[7], v[8],
		v[9] >= 2,        v[9] == 3, v[9] > 0
	};
	if (!s->sleepers && (s->wake || s->urgent || s->quiet || s->passes))
		return false;
	if ((s->timed && (!s->owner || s->robust)) || (s->lost && s->owner))
		return false;
	return !s->robust || !s->process;
}

/* A mutex in this state, with a stamp of so long ago. */
static void world(struct model s, int64_t stamp_age_ns, unsigned flags)
{
	edge_world();
	m.flags = (uint16_t)(flags | (s.robust ? IPCWAIT_ROBUST : 0));
	m.count = 0;
	m.note.v = s.robust ? FAKE_BIRTH : 0;
	ipcwait_window_stamp(&m.window);
	fake.now_ns += stamp_age_ns;
	mutex_fabricate(&m, pack(s));
}

static int64_t self(struct model s)
{
	return s.robust ? FAKE_ID : 1;
}

/* A wake of so many in these classes, with a stamp before it, or neither. */
static void assert_woken(uint32_t classes, uint32_t count, uint32_t stamp)
{
	SAME(fake.wakes, classes ? 1 : 0);
	if (!classes)
		return;
	SAME(m.window.stamp.v != stamp, true);
	SAME(fake.wake.bits, classes);
	SAME(fake.wake.value, count);
	SAME(fake.wake.word == (const uint32_t *)&m.word, true);
	SAME(fake.wake.private_, (m.flags & IPCWAIT_PRIVATE) != 0);
}

static void unlock_one(const int64_t *v)
{
	struct model s;
	bool lost, due;
	uint32_t stamp;

	if (!legal(v, 1, &s))
		return;
	s.owner = s.owner ? self(s) : 0;
	world(s, 500 * US, v[STATES] ? IPCWAIT_PRIVATE : 0);
	stamp = m.window.stamp.v;
	SAME(ipcwait_mutex_unlock(&m), s.owner ? 0 : -EPERM);
	lost = s.owner && s.died;
	due = s.owner && s.sleepers &&
	      (lost || (!s.wake && (s.urgent || !(s.spinner || s.quiet))));
	assert_woken(!due                ? 0
		     : lost || !s.urgent ? ANY
					 : OVERDUE,
		     lost ? UINT32_MAX : 1, stamp);
	if (s.owner) {
		s.owner = s.timed = 0;
		s.passes += s.sleepers && s.passes < 7;
		s.wake = s.wake || due;
		s.lost = s.lost || lost;
	}
	SAME(mutex_word(&m), pack(s));
}

static void unlock(void)
{
	static const struct edges axes[] = { ALL_STATES, EDGES("private", 0, 1) };

	fake_reset();
	CHECK_EQ(EDGE_WALK(axes, unlock_one), 2 * 8 * 8 * 6 * 4 * 3 * 4 * 2);
}

/* What comes of it if it is free for somebody who has published nothing. */
static int had_at_once(struct model *s, bool kept, int64_t process)
{
	if (s->lost)
		return -ENOTRECOVERABLE;
	if (s->owner || (s->urgent && kept))
		return -EBUSY;
	s->owner = self(*s);
	s->process = process;
	return s->died ? -EOWNERDEAD : 0;
}

static void try_one(const int64_t *v)
{
	bool fresh = v[STATES];
	struct model s;

	if (!legal(v, OTHER, &s))
		return;
	s.owner = s.owner && !s.robust ? 1 : s.owner;
	world(s, fresh ? 900 * US : 1100 * US, 0);
	SAME(ipcwait_mutex_trylock(&m), had_at_once(&s, fresh, 0));
	SAME(mutex_word(&m), pack(s));
	SAME(fake.wakes, 0);
}

static void try_lock(void)
{
	static const struct edges axes[] = { ALL_STATES, EDGES("fresh", 0, 1) };

	fake_reset();
	EDGE_WALK(axes, try_one);
}

/* One that waits. */
struct waiter {
	bool sleeper, naps, overdue, rang, woken;
};

/* The word without it. */
static struct model without(struct waiter me, struct model s)
{
	if (me.sleeper && !me.woken)
		s.spinner = 0;
	if (me.sleeper) {
		s.sleepers--;
		s.wake = s.wake && !s.owner;
	}
	if (me.naps || me.rang || !s.sleepers)
		s.quiet = 0;
	if (!s.sleepers)
		s.wake = s.passes = 0;
	if (me.overdue)
		s.urgent = 0;
	return s;
}

/* It is up, and has it. False if it may not; @last: also what is kept for another. */
static bool had(struct waiter me, struct model *s, bool last, bool timed, int *r)
{
	if (s->lost) {
		*r = -ENOTRECOVERABLE;
		*s = without(me, *s);
		return true;
	}
	if (s->owner || (s->urgent && !me.overdue && !last))
		return false;
	*r = s->died ? -EOWNERDEAD : 0;
	s->owner = self(*s);
	s->process = 0;
	*s = without(me, *s);
	s->timed = timed;
	return true;
}

/* As it leaves the word when it goes to sleep. */
static struct model asleep(struct waiter me, struct model s, bool naps)
{
	s = without(me, s);
	s.wake = s.wake && !s.owner;
	s.passes = 0;
	if (me.sleeper)
		s.spinner = 0;
	s.quiet = s.quiet || naps;
	s.urgent = s.urgent || me.overdue;
	s.sleepers++;
	return s;
}

static void assert_slept(unsigned i, struct model s, bool published, bool overdue)
{
	const struct fake_call *call = &edge_slept[i].call;

	SAME(edge_slept[i].word, pack(s));
	SAME(call->word == (const uint32_t *)&m.word, published);
	if (!published)
		return;
	SAME(call->bits, overdue ? OVERDUE : PATIENT);
	SAME(call->private_, (m.flags & IPCWAIT_PRIVATE) != 0);
}

/* An alarm, but for some readings of the clock. */
static void assert_alarm(unsigned i, int64_t want_ns)
{
	int64_t is_ns = edge_slept[i].call.deadline_ns - edge_slept[i].began_ns;

	SAME(is_ns > want_ns - 3 * US && is_ns < want_ns + 3 * US, true);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* How long one waits for its turn that came after so many. */
static int64_t turn_ns(int64_t sleepers)
{
	return least(PATIENCE_NS * (sleepers + 1), 1000 * MS);
}

/* A nap beside so many, itself included. */
static int64_t nap_ns(int64_t sleepers)
{
	return least(NAP_NS * (4 + sleepers) / 4, MS);
}

/* Comes, finds it taken or kept, and gives up. */
static void announce_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	uint32_t note = (uint32_t)v[STATES];
	struct waiter me = { 0 };
	struct model s;
	bool full, naps;
	int r;

	if (!legal(v, OTHER, &s) || (s.robust && note))
		return;
	s.owner = s.owner && !s.robust ? 1 : s.owner;
	world(s, 500 * US, v[STATES + 1] ? IPCWAIT_PRIVATE : 0);
	m.note.v = s.robust ? m.note.v : note;
	edge_script(&m.word.v, steps, 1);
	r = ipcwait_mutex_lock(&m);
	if (!s.owner && (!s.urgent || s.lost)) {
		SAME(r, had_at_once(&s, false, s.process));
		SAME(mutex_word(&m), pack(s));
		return;
	}
	SAME(edge_sleeps, 1);
	full = s.sleepers == SLEEPERS;
	naps = note == BUSY && !s.quiet;
	if (!full)
		s = asleep(me, s, naps);
	assert_slept(0, s, !full, false);
	if (!full)
		assert_alarm(0, naps ? nap_ns(s.sleepers)
				     : least(most(turn_ns(s.sleepers - 1), 5 * MS),
					     s.robust ? 100 * MS : 1000 * MS));
	me = (struct waiter){ .sleeper = !full, .naps = naps && !full };
	if (had(me, &s, true, note == LAST_COUNT, &r)) {
		SAME(mutex_word(&m), pack(s));
		return;
	}
	SAME(r, -ENOSYS);
	SAME(mutex_word(&m), pack(without(me, s)));
	SAME(fake.wakes, 0);
}

static void announce_a_sleep(void)
{
	static const struct edges axes[] = { ALL_STATES, EDGES("note", 0, BUSY, LAST_COUNT),
					     EDGES("private", 0, 1) };

	fake_reset();
	EDGE_WALK(axes, announce_one);
}

/* How long the first sleep is: no time, longer than any nap, or until the waiter is overdue. */
static const int64_t sleep_ns[] = { 0, 1200 * US, 2000 * MS };

/* One that slept beside @before others has looked in vain, and sleeps again. */
static void sleep_again(struct waiter *me, struct model *s, int64_t before, unsigned late)
{
	bool nap = me->sleeper && !me->overdue && (me->naps || !s->quiet);
	int64_t nap_first_ns = me->naps ? nap_ns(before + 1) : 0, want_ns;

	*s = asleep(*me, *s, nap);
	me->naps = nap;
	me->woken = false;
	assert_slept(1, *s, true, me->overdue);
	if (nap && !nap_first_ns)
		want_ns = nap_ns(s->sleepers);
	else if (nap)
		want_ns = me->rang ? least(2 * nap_first_ns, MS) : nap_first_ns;
	else if (me->overdue)
		want_ns = sleep_ns[late] / 4;
	else
		want_ns = most(turn_ns(before) - sleep_ns[late], 5 * MS);
	assert_alarm(1, least(want_ns, s->robust ? 100 * MS : 1000 * MS));
}

/* One that is up, and was not let in: what comes of it in the end. */
static int look_on(struct waiter me, struct model *s, int64_t before, unsigned late,
		   bool timed)
{
	int r;

	/* It says that it is up, unless it is kept for another. */
	s->wake = s->wake || !s->urgent;
	me.overdue = late == 2;
	if (had(me, s, false, timed, &r))
		return r;
	sleep_again(&me, s, before, late);
	if (had(me, s, true, timed, &r))
		return r;
	*s = without(me, *s);
	return -ENOSYS;
}

static void come_back_one(const int64_t *v)
{
	unsigned late = (unsigned)v[STATES + 1];
	bool busy = v[STATES] == BUSY, timed = v[STATES] == LAST_COUNT;
	struct waiter me = { .sleeper = true, .naps = busy, .woken = v[STATES + 2] == 0 };
	struct model s, before = { .sleepers = v[STATES + 3] };
	int r, want;

	if (!legal(v, OTHER, &s) || !s.sleepers || (s.robust && v[STATES]))
		return;
	s.owner = s.owner && !s.robust ? 1 : s.owner;
	const struct edge_step steps[] = {
		{ .result = (int)v[STATES + 2],
		  .changes = true,
		  .word = pack(s),
		  .sleep_ns = sleep_ns[late] },
		{ .result = -ENOSYS },
	};

	before.robust = s.robust;
	before.owner = s.robust ? OTHER : 1;
	world(before, 0, s.robust ? 0 : IPCWAIT_PRIVATE);
	if (!s.robust)
		m.note.v = (uint32_t)v[STATES];
	edge_script(&m.word.v, steps, 2);
	r = ipcwait_mutex_lock(&m);
	if (v[STATES + 2] == -ENOSYS) {
		me.woken = false;
		want = had(me, &s, true, timed, &want) ? want
						       : (s = without(me, s), -ENOSYS);
		SAME(r, want);
		SAME(mutex_word(&m), pack(s));
		return;
	}
	me.rang = !me.woken && (late == 2 || (late == 1 && busy));
	if (!had(me, &s, false, timed, &want))
		want = look_on(me, &s, before.sleepers, late, timed);
	SAME(r, want);
	SAME(mutex_word(&m), pack(s));
	SAME(fake.wakes, 0);
}

static void come_back_from_a_sleep(void)
{
	static const struct edges axes[] = { ALL_STATES, EDGES("note", 0, BUSY, LAST_COUNT),
					     EDGES("late", 0, 1, 2),
					     EDGES("result", 0, -EAGAIN, -ENOSYS),
					     EDGES("before", 9, 65534) };

	fake_reset();
	EDGE_WALK(axes, come_back_one);
}

/* One that spins says so beside sleepers, and leaves no mark when it goes to sleep. */
static void spin_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	struct model s, marked;

	if (!legal(v, OTHER, &s) || !s.owner || s.robust || s.process)
		return;
	s.owner = 1;
	fake_reset();
	CHECK_EQ(ipcwait_window_set_preset(&m.window, IPCWAIT_SPIN), 0);
	world(s, 500 * US, IPCWAIT_PRIVATE);
	edge_script(&m.word.v, steps, 1);
	edge_watch(&m.word.v, 20);
	SAME(ipcwait_mutex_lock(&m), -ENOSYS);
	marked = s;
	if (s.sleepers && !s.spinner) {
		marked.spinner = 1;
		marked.passes = 0;
	}
	/* Where there is no room it looks at the clock once more, without its mark. */
	if (s.sleepers < SLEEPERS)
		SAME(edge_watched(pack(marked)), pack(marked));
	SAME(fake.clock_readings > 20, !s.spinner);
	s.passes = marked.passes;
	if (s.sleepers < SLEEPERS) {
		s.sleepers++;
		s.wake = s.passes = 0;
	}
	/* Its own mark is gone, that of another is not. */
	SAME(edge_slept[0].word & ~MUTEX_WORD_QUIET, pack(s) & ~MUTEX_WORD_QUIET);
}

static void spin(void)
{
	static const struct edges axes[] = { ALL_STATES };

	EDGE_WALK(axes, spin_one);
}

static void fini_one(const int64_t *v)
{
	struct model s;
	bool busy;

	if (!legal(v, 1, &s))
		return;
	world(s, 500 * US, 0);
	busy = s.owner || s.sleepers || s.spinner;
	SAME(ipcwait_mutex_fini(&m), busy ? -EBUSY : 0);
	SAME(busy ? mutex_word(&m) : 0, busy ? pack(s) : 0);
	SAME(m.flags == UINT16_MAX, !busy);
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
	return ipcwait_mutex_init(&m, 0) ||
	       ipcwait_window_set_preset(&m.window, IPCWAIT_BLOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(unlock),
		CHILD_TEST(try_lock),
		CHILD_TEST(announce_a_sleep),
		CHILD_TEST(come_back_from_a_sleep),
		CHILD_TEST(spin),
		CHILD_TEST(fini),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
