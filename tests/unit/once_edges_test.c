/* SPDX-License-Identifier: MIT */
/*
 * The once at every edge of its fields: each row of the table in <ipcwait/once.h> against a model
 * of it.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/edges.h"
#include "common/gates_word.h"

#define US INT64_C(1000)

static struct ipcwait_once o;

/* One wake of everybody, with a stamp before it, or neither. */
static void assert_woken(bool due, uint32_t stamp)
{
	SAME(fake.wakes, due);
	SAME(o.window.stamp.v != stamp, due);
	if (!due)
		return;
	SAME(fake.wake.value, UINT32_MAX);
	SAME(fake.wake.word == (const uint32_t *)&o.word, true);
	SAME(fake.wake.private_, (o.flags & IPCWAIT_PRIVATE) != 0);
}

struct runs {
	int64_t sleeps, done, runner, birth;
};

static uint64_t pack_run(struct runs m)
{
	return ONCE_WORD(m.runner, m.birth) | (m.sleeps ? ONCE_SLEEPS : 0) |
	       (m.done ? ONCE_DONE : 0);
}

#define ALL_RUNS                                                                       \
	EDGES("sleeps", 0, 1), EDGES("done", 0, 1),                                    \
		EDGES("runner", 0, 1, 2, FAKE_ID, FAKE_ID + 1, 0x1fffff, 0x200000,     \
		      0x3ffffe, 0x3fffff),                                             \
		EDGES("birth", 0, 1, FAKE_GENERATION, FAKE_GENERATION + 1, FAKE_BIRTH, \
		      0x7fffffff, 0x80000000, UINT32_MAX)

static bool legal_run(const int64_t *v, struct runs *m)
{
	*m = (struct runs){ v[0], v[1], v[2], v[3] };
	if (m->done || !m->runner)
		return !m->sleeps && !m->birth && !(m->done && m->runner);
	return true;
}

static void once_world(struct runs m, unsigned flags)
{
	edge_world();
	fake.generation = FAKE_GENERATION;
	o.flags = flags;
	ipcwait_window_stamp(&o.window);
	fake.now_ns += 500 * US;
	fake.life_readings = 0;
	gate_fabricate(&o.word, pack_run(m));
}

/* What it finds when it runs, and what others do meanwhile. */
static struct runs run_found;
static unsigned runs;
static bool sleeper_comes;
static int run_result;

static int run(void *arg)
{
	uint64_t w = gate_word(&o.word);

	SAME(arg == &o, true);
	runs++;
	run_found = (struct runs){ w & ONCE_SLEEPS, w & ONCE_DONE, once_runner(w),
				   (int64_t)(w >> 32) };
	if (sleeper_comes)
		gate_fabricate(&o.word, w | ONCE_SLEEPS);
	return run_result;
}

static struct runs own_run(int64_t sleeps)
{
	return (struct runs){ sleeps, 0, FAKE_ID,
			      o.flags & IPCWAIT_PRIVATE ? FAKE_GENERATION : FAKE_BIRTH };
}

/* Runs it over what it found, or over what comes of a sleep. */
static void assert_ran(struct runs m, uint32_t stamp, int r)
{
	bool slept = m.sleeps || sleeper_comes;

	SAME(runs, 1);
	SAME(pack_run(run_found), pack_run(own_run(m.sleeps)));
	SAME(r, run_result);
	SAME(gate_word(&o.word), run_result ? 0 : ONCE_DONE);
	assert_woken(slept, stamp);
}

static bool is_over(struct runs m, bool first, enum iw_life life)
{
	struct runs own = own_run(0);

	if (!m.runner)
		return true;
	if (o.flags & IPCWAIT_PRIVATE && m.birth != own.birth)
		return true;
	return !first && life == IW_DEAD;
}

static void once_run_one(const int64_t *v)
{
	const struct edge_step steps[] = { { .result = -ENOSYS } };
	struct runs m;
	uint32_t stamp;
	int r;

	if (!legal_run(v, &m))
		return;
	sleeper_comes = v[5];
	run_result = (int)v[6];
	runs = 0;
	once_world(m, v[4] ? IPCWAIT_PRIVATE : 0);
	stamp = o.window.stamp.v;
	edge_script(&o.word.v, steps, 1);
	r = ipcwait_once_run(&o, run, &o);
	if (m.runner && m.runner == FAKE_ID && m.birth == own_run(0).birth) {
		SAME(r, -EDEADLK);
	} else if (m.done) {
		SAME(r, 0);
	} else if (is_over(m, true, IW_ALIVE)) {
		assert_ran(m, stamp, r);
		return;
	} else {
		SAME(r, -ENOSYS);
		m.sleeps = 1;
		SAME(edge_slept[0].word, pack_run(m));
		SAME(edge_slept[0].call.private_, v[4]);
	}
	SAME(gate_word(&o.word), pack_run(m));
	SAME(runs + fake.wakes, 0);
}

static void once_run(void)
{
	static const struct edges axes[] = { ALL_RUNS, EDGES("private", 0, 1),
					     EDGES("sleeper comes", 0, 1),
					     EDGES("result", 0, 1, -1) };

	fake_reset();
	EDGE_WALK(axes, once_run_one);
}

/* Slept while another ran it, and finds this. */
static void once_back_one(const int64_t *v)
{
	struct runs m, before = { 0, 0, FAKE_ID + 5, v[4] ? FAKE_GENERATION : FAKE_BIRTH };
	uint32_t stamp;
	int r;

	if (!legal_run(v, &m) || m.runner == FAKE_ID)
		return;
	const struct edge_step steps[] = {
		{ .changes = true, .word = pack_run(m) },
		{ .result = -ENOSYS },
	};

	sleeper_comes = false;
	run_result = (int)v[6];
	runs = 0;
	once_world(before, v[4] ? IPCWAIT_PRIVATE : 0);
	fake.life = (enum iw_life)v[5];
	stamp = o.window.stamp.v;
	edge_script(&o.word.v, steps, 2);
	r = ipcwait_once_run(&o, run, &o);
	if (!m.done && is_over(m, false, fake.life)) {
		assert_ran(m, stamp, r);
		return;
	}
	SAME(r, m.done ? 0 : -ENOSYS);
	SAME(edge_sleeps, m.done ? 1 : 2);
	m.sleeps = !m.done;
	SAME(edge_sleeps < 2 || edge_slept[1].word == pack_run(m), true);
	SAME(gate_word(&o.word), pack_run(m));
	SAME(runs + fake.wakes, 0);
}

static void once_come_back(void)
{
	static const struct edges axes[] = { ALL_RUNS, EDGES("private", 0, 1),
					     EDGES("life", IW_ALIVE, IW_DEAD, IW_UNKNOWN),
					     EDGES("result", 0, 1) };

	fake_reset();
	EDGE_WALK(axes, once_back_one);
}

static void once_fini_one(const int64_t *v)
{
	struct runs m;

	if (!legal_run(v, &m))
		return;
	CHECK_EQ(ipcwait_once_init(&o, 0), 0);
	once_world(m, 0);
	SAME(ipcwait_once_fini(&o), m.runner ? -EBUSY : 0);
	SAME(m.runner ? gate_word(&o.word) : 0, m.runner ? pack_run(m) : 0);
	SAME(o.flags == 0, m.runner > 0);
}

static void once_fini(void)
{
	static const struct edges axes[] = { ALL_RUNS };

	fake_reset();
	EDGE_WALK(axes, once_fini_one);
}

static int begin(void **state)
{
	(void)state;
	fake_reset();
	return ipcwait_once_init(&o, 0) ||
	       ipcwait_window_set_preset(&o.window, IPCWAIT_BLOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(once_run),
		CHILD_TEST(once_come_back),
		CHILD_TEST(once_fini),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
