/* SPDX-License-Identifier: MIT */
/*
 * The condition variable at every edge of its fields, and of the distance between a waiter's
 * ticket and those that were served: each row of the table in <ipcwait/cond.h> against a list of
 * tickets.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/cond_word.h"
#include "common/edges.h"

#define US      INT64_C(1000)
#define FROM    EDGE_FROM
#define TICKETS (INT64_C(1) << 40)
#define ISSUED  (INT64_C(1) << 32)
#define TURNS   (INT64_C(1) << 31)
#define BITS    16

static struct ipcwait_cond c;
static struct ipcwait_mutex m;

/* The table's columns; of ISSUED how many are out, and of GONE bit by bit. */
struct model {
	int64_t served, waiting, deep, spinner, turn;
	bool gone[BITS];
};

static int64_t wrapped(int64_t v, int64_t end)
{
	return (v % end + end) % end;
}

static void set_gone(struct model *s, int64_t bits)
{
	for (int i = 0; i < BITS; i++)
		s->gone[i] = bits >> i & 1;
}

/* How many of the oldest are gone, or may be. */
static int gone_first(const struct model *s)
{
	int n = 0;

	while (n < BITS && s->gone[n])
		n++;
	return n;
}

static uint64_t pack(const struct model *s)
{
	int64_t gone = 0;

	SAME(s->served >= 0 && s->served < TICKETS && s->waiting >= 0, true);
	SAME(s->deep >= 0 && s->deep < 256, true);
	for (int i = 0; i < BITS; i++)
		gone += (int64_t)s->gone[i] << i;
	return COND_WORD(s->served, gone, s->deep);
}

static uint64_t pack_arrivals(const struct model *s)
{
	SAME(s->turn >= 0 && s->turn < TURNS, true);
	return COND_ARRIVALS(s->spinner, s->turn, wrapped(s->served + s->waiting, ISSUED));
}

/* s -> s+n: the bits behind move up, and are ones if DEEP says that they may be. */
static void pass(struct model *s, int64_t n)
{
	for (int i = 0; i < BITS; i++)
		s->gone[i] = i + n < BITS ? s->gone[i + n] : s->deep > 0;
	s->served = wrapped(s->served + n, TICKETS);
	s->waiting -= n;
}

/* Over those who have gone for certain. */
static void skip_gone(struct model *s)
{
	int n = gone_first(s);

	if (n < BITS || !s->deep)
		pass(s, n);
}

static void release_all(struct model *s)
{
	pass(s, s->waiting);
	set_gone(s, 0);
	s->deep = 0;
}

#define ALL_SERVED                                                                  \
	EDGES("served", 0, 1, 15, 16, ISSUED - 17, ISSUED - 16, ISSUED - 1, ISSUED, \
	      ISSUED + ISSUED / 2, TICKETS / 2 - 1, TICKETS / 2, TICKETS - 16,      \
	      TICKETS - 1)
#define ALL_GONE                                                                          \
	EDGES("gone", 0, 2, 4, 6, 0x5554, 0x4000, 0x8000, 0xc000, 0x7ffe, 0xfffc, 0xfffe, \
	      0xffff)
#define ALL_DEEP EDGES("deep", 0, 1, 2, 3, 127, 128, 254, 255)
#define WAITING  0, 1, 2, 3, 14, 15, 16, 17, 18, 31, 32, 33, 65535, 65536, TURNS - 1

/*
 * The first of GONE is a one only where nobody knows. Beyond the last ticket nobody has gone, and
 * what DEEP says that might have goes on to the end.
 */
static bool legal(const struct model *s)
{
	bool may_be = true;

	if (s->gone[0] && (gone_first(s) < BITS || !s->deep))
		return false;
	for (int i = BITS - 1; i >= 0 && i >= s->waiting; i--) {
		may_be = may_be && s->gone[i];
		if (s->gone[i] && !(may_be && s->deep))
			return false;
	}
	return true;
}

/* Whoever has come and is not in the model has left, but for @inside of them. */
static void world(const struct model *s, uint32_t inside, int64_t stamp_age_ns,
		  unsigned flags)
{
	edge_world();
	c.flags = flags;
	ipcwait_window_stamp(&c.window);
	fake.now_ns += stamp_age_ns;
	cond_fabricate(&c, pack(s), pack_arrivals(s));
	c.out.v -= inside;
}

/* Wakes of all in these classes, with a stamp before it, or neither. */
static void assert_woken(uint32_t classes, uint32_t stamp)
{
	SAME(fake.wakes, classes ? 1 : 0);
	SAME(c.window.stamp.v != stamp, classes != 0);
	if (!classes)
		return;
	SAME(fake.wake.bits, classes);
	SAME(fake.wake.value, UINT32_MAX);
	SAME(fake.wake.word == (const uint32_t *)&c.word, true);
	SAME(fake.wake.private_, (c.flags & IPCWAIT_PRIVATE) != 0);
}

static void assert_words(const struct model *s)
{
	SAME(cond_word(&c), pack(s));
	SAME(cond_arrivals(&c), pack_arrivals(s));
}

/* Nobody waits, but somebody has not left, and the last wake was long ago: all are woken. */
static uint32_t roused(int64_t inside, bool stale)
{
	return inside && stale && !(c.flags & IPCWAIT_PRIVATE) ? UINT32_MAX : 0;
}

static uint32_t signalled(struct model *s, int64_t inside, bool stale)
{
	uint32_t class = UINT32_C(1) << s->served % 32;

	if (s->spinner) {
		s->spinner = 0;
		return 0;
	}
	if (!s->waiting)
		return roused(inside, stale);
	if (gone_first(s) == BITS) {
		release_all(s);
		return UINT32_MAX;
	}
	pass(s, 1);
	skip_gone(s);
	if (!s->waiting) {
		set_gone(s, 0);
		s->deep = 0;
	}
	return class;
}

static void signal_one(const int64_t *v)
{
	struct model s = {
		.served = v[0], .waiting = v[3], .deep = v[2], .spinner = v[4], .turn = v[5]
	};
	uint32_t stamp, classes;

	set_gone(&s, v[1]);
	if (!legal(&s))
		return;
	world(&s, (uint32_t)v[7], v[6] ? 1100 * US : 500 * US, v[8] ? IPCWAIT_PRIVATE : 0);
	stamp = c.window.stamp.v;
	SAME(ipcwait_cond_signal(&c), 0);
	classes = signalled(&s, v[7], v[6]);
	assert_words(&s);
	assert_woken(classes, stamp);
}

static void signals(void)
{
	static const struct edges axes[] = {
		ALL_SERVED,
		ALL_GONE,
		ALL_DEEP,
		EDGES("waiting", WAITING),
		EDGES("spinner", 0, 1),
		EDGES("turn", 0, 1, TURNS - 1),
		EDGES("stale", 0, 1),
		EDGES("inside", 0, 1),
		EDGES("private", 0, 1),
	};

	fake_reset();
	CHECK_EQ(EDGE_WALK(axes, signal_one), 13 * 12 * 8 * 15 * 2 * 3 * 8);
}

static void broadcast_one(const int64_t *v)
{
	struct model s = {
		.served = v[0], .waiting = v[3], .deep = v[2], .spinner = v[4], .turn = v[5]
	};
	uint32_t stamp, classes;

	set_gone(&s, v[1]);
	if (!legal(&s))
		return;
	world(&s, (uint32_t)v[7], v[6] ? 1100 * US : 500 * US, 0);
	stamp = c.window.stamp.v;
	SAME(ipcwait_cond_broadcast(&c), 0);
	classes = s.waiting ? UINT32_MAX : roused(v[7], v[6]);
	if (s.waiting)
		release_all(&s);
	s.spinner = 0;
	assert_words(&s);
	assert_woken(classes, stamp);
}

static void broadcast(void)
{
	static const struct edges axes[] = {
		ALL_SERVED,
		ALL_GONE,
		ALL_DEEP,
		EDGES("waiting", WAITING),
		EDGES("spinner", 0, 1),
		EDGES("turn", 0, 1, TURNS - 1),
		EDGES("stale", 0, 1),
		EDGES("inside", 0, 1),
	};

	fake_reset();
	EDGE_WALK(axes, broadcast_one);
}

/* Gives up what it has announced, its ticket @ahead of the oldest. False: it was released. */
static bool gave_up(struct model *s, int64_t ahead)
{
	if (ahead < 0)
		return false;
	if (ahead < BITS && !s->gone[ahead]) {
		s->gone[ahead] = true;
		skip_gone(s);
		return true;
	}
	if (s->deep == 255) {
		release_all(s);
		return false;
	}
	s->deep++;
	return true;
}

static int wait(void)
{
	int r;

	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	r = ipcwait_cond_wait(&c, &m);
	CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
	return r;
}

static uint32_t entries(const struct model *s)
{
	return (uint32_t)(s->turn + s->served + s->waiting) & UINT32_C(0x7fffffff);
}

/* A waiter comes, beside a spinner or not, sleeps, and gives up. */
static void announce_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	struct model s = {
		.served = v[0], .waiting = v[3], .deep = v[2], .spinner = v[4], .turn = v[5]
	};
	int64_t ticket = wrapped(v[0] + v[3], TICKETS), ahead = v[3];
	uint32_t stamp;
	bool gone;

	set_gone(&s, v[1]);
	if (!legal(&s))
		return;
	world(&s, 0, 500 * US, v[6] ? IPCWAIT_PRIVATE : 0);
	stamp = c.window.stamp.v;
	edge_script(&c.word.v, steps, 1);
	s.turn = s.spinner ? s.turn : (s.turn + 1) % TURNS;
	s.waiting++;
	SAME(wait() == -ENOSYS, ahead < BITS ? true : s.deep < 255);
	SAME(edge_slept[0].word, pack(&s));
	SAME(edge_slept[0].call.word == (const uint32_t *)&c.word, true);
	SAME(edge_slept[0].call.bits, UINT32_C(1) << ticket % 32);
	SAME(edge_slept[0].call.private_, v[6]);
	gone = gave_up(&s, ahead);
	assert_words(&s);
	assert_woken(gone ? 0 : UINT32_MAX, stamp);
	/* It has been counted out as often as in. */
	SAME((c.out.v + s.spinner) & 0x7fffffff, entries(&s));
}

static void announce_a_sleep(void)
{
	static const struct edges axes[] = {
		ALL_SERVED,
		ALL_GONE,
		EDGES("deep", 0, 1, 2, 3, 254),
		EDGES("waiting", WAITING),
		EDGES("spinner", 0, 1),
		EDGES("turn", 0, 1, TURNS - 1),
		EDGES("private", 0, 1),
	};

	fake_reset();
	EDGE_WALK(axes, announce_one);
}

/* What others have made of both words in a sleep. */
static struct model found;
static uint32_t found_stamp;

static void become(void)
{
	__atomic_store_n(&c.word.v, pack(&found), __ATOMIC_RELAXED);
	__atomic_store_n(&c.arrivals.v, pack_arrivals(&found), __ATOMIC_RELAXED);
	found_stamp = c.window.stamp.v;
}

/*
 * Ticket T, of those who came at once after S, sleeps and finds so many before it, and behind it;
 * below 0: it was served, and so many after it.
 */
static void come_back_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = (int)v[5], .meanwhile = become },
					   { .result = -ENOSYS } };
	struct model s = { .served = v[0] };
	int64_t ahead = v[3];
	bool gone;
	int r;

	found = (struct model){ .served = wrapped(v[0] - ahead, TICKETS),
				.deep = v[2],
				.turn = 1 };
	found.waiting = (ahead < 0 ? 0 : ahead + 1) + v[4];
	set_gone(&found, v[1]);
	/* Its own is not a bit that says for certain that it has gone. */
	if (!legal(&found) || (ahead >= 0 && ahead < BITS && found.gone[ahead] && !v[2]))
		return;
	world(&s, 0, 500 * US, 0);
	edge_script(&c.word.v, steps, 2);
	r = wait();
	SAME(edge_sleeps, ahead < 0 || v[5] == -ENOSYS ? 1 : 2);
	SAME(edge_sleeps < 2 || edge_slept[1].word == pack(&found), true);
	s = found;
	gone = gave_up(&s, ahead);
	SAME(r, gone ? -ENOSYS : 0);
	/* Those who release all must see that somebody has gone whose ticket they do not know. */
	SAME(gone && pack(&s) == pack(&found), false);
	assert_words(&s);
	assert_woken(gone || ahead < 0 ? 0 : UINT32_MAX, found_stamp);
}

static void come_back_from_a_sleep(void)
{
	static const struct edges axes[] = {
		ALL_SERVED,
		ALL_GONE,
		ALL_DEEP,
		EDGES("ahead", -TURNS, -65536, -33, -32, -2, -1, 0, 1, 2, 13, 14, 15, 16,
		      17, 18, 31, 32, 33, 47, 48, 255, 256, 65535, 65536, TURNS - 1),
		EDGES("behind", 0, 1, 2, 31),
		EDGES("result", 0, -EAGAIN, -ENOSYS),
	};

	fake_reset();
	EDGE_WALK(axes, come_back_one);
}

/* A waiter that spins is released by its turn, or takes a ticket when it goes to sleep. */
static void spin_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	struct model s = { .served = v[0], .waiting = v[1], .turn = v[2] };
	struct model spins = s;

	fake_reset();
	CHECK_EQ(ipcwait_window_set_preset(&c.window, IPCWAIT_SPIN), 0);
	world(&s, 0, 500 * US, 0);
	edge_script(&c.word.v, steps, 1);
	c.flags = IPCWAIT_PRIVATE; /* no alarm */
	edge_watch(&c.arrivals.v, 20);
	SAME(wait(), -ENOSYS);
	spins.spinner = 1;
	spins.turn = (spins.turn + 1) % TURNS;
	SAME(edge_watched(~UINT64_C(0)), pack_arrivals(&spins));
	SAME(edge_slept[0].call.bits, UINT32_C(1) << wrapped(v[0] + v[1], TICKETS) % 32);
	s.turn = spins.turn;
	s.waiting++;
	(void)gave_up(&s, v[1]);
	assert_words(&s);
	SAME(c.out.v & 0x7fffffff, entries(&s));
}

static void spin(void)
{
	static const struct edges axes[] = {
		ALL_SERVED,
		EDGES("waiting", WAITING),
		EDGES("turn", 0, 1, TURNS - 2, TURNS - 1),
	};

	EDGE_WALK(axes, spin_one);
}

static uint32_t out_at_end;

static void go_out(void)
{
	c.out.v = out_at_end;
}

/* Its end waits for those who are on their way out. */
static void fini_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .meanwhile = go_out } };
	struct model s = {
		.served = v[0], .waiting = v[3], .deep = v[2], .spinner = v[4], .turn = v[5]
	};
	bool busy;

	set_gone(&s, v[1]);
	if (!legal(&s))
		return;
	CHECK_EQ(ipcwait_cond_init(&c, 0), 0);
	world(&s, (uint32_t)v[6], 500 * US, 0);
	out_at_end = c.out.v + (uint32_t)v[6];
	edge_script(&c.word.v, steps, 1);
	busy = s.spinner || (s.waiting && gone_first(&s) < BITS);
	SAME(ipcwait_cond_fini(&c), busy ? -EBUSY : 0);
	SAME(c.flags == 0, busy);
	SAME(fake.wakes, !busy && v[6]);
	SAME(busy ? cond_word(&c) : 0, busy ? pack(&s) : 0);
}

static void fini(void)
{
	static const struct edges axes[] = {
		ALL_SERVED,
		ALL_GONE,
		EDGES("deep", 0, 1, 255),
		EDGES("waiting", WAITING),
		EDGES("spinner", 0, 1),
		EDGES("turn", 0, 1, TURNS - 1),
		EDGES("inside", 0, 1, 2),
	};

	fake_reset();
	EDGE_WALK(axes, fini_one);
}

static int begin(void **state)
{
	(void)state;
	fake_reset();
	return ipcwait_cond_init(&c, 0) || ipcwait_mutex_init(&m, 0) ||
	       ipcwait_window_set_preset(&c.window, IPCWAIT_BLOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(signals),
		CHILD_TEST(broadcast),
		CHILD_TEST(announce_a_sleep),
		CHILD_TEST(come_back_from_a_sleep),
		CHILD_TEST(spin),
		CHILD_TEST(fini),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
