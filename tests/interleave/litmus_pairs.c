/* SPDX-License-Identifier: MIT */
/* Two threads and two variables, or one. */
#include "interleave/litmus_access.h"
#include "os/membarrier.h"

/* Each stores, and looks whether the other one has. */
static void sb(unsigned i)
{
	put(i ? &m->y : &m->x, 1);
	fence();
	r[i] = get(i ? &m->x : &m->y);
}

/* One of the two has the fence for both. */
static void sb_membarrier(unsigned i)
{
	put(i ? &m->y : &m->x, 1);
	if (i)
		(void)iw_membarrier();
	r[i] = get(i ? &m->x : &m->y);
}

static void sb_update(unsigned i)
{
	(void)__atomic_exchange_n(i ? &m->y : &m->x, 1, BOTH);
	r[i] = get(i ? &m->x : &m->y);
}

/* An update in between: of a variable each, or of the same one. */
static void sb_updates_between(unsigned i)
{
	put(i ? &m->y : &m->x, 1);
	(void)__atomic_exchange_n(i ? &m->w : &m->z, 1, BOTH);
	r[i] = get(i ? &m->x : &m->y);
}

static void sb_update_between(unsigned i)
{
	put(i ? &m->y : &m->x, 1);
	(void)__atomic_exchange_n(&m->z, 1, BOTH);
	r[i] = get(i ? &m->x : &m->y);
}

/* A message, and a flag that says so. */
static void mp(unsigned i)
{
	if (i == 0) {
		put(&m->x, 1);
		fence();
		put(&m->y, 1);
		return;
	}
	r[0] = get(&m->y);
	fence();
	r[1] = get(&m->x);
}

static void mp_data(unsigned i)
{
	if (i == 0) {
		m->x = 1;
		fence();
		put(&m->y, 1);
		return;
	}
	r[0] = get(&m->y);
	fence();
	if (r[0])
		r[1] = m->x;
}

static void mp_update(unsigned i)
{
	if (i == 0) {
		mp(0);
		return;
	}
	r[0] = get(&m->y);
	r[1] = __atomic_fetch_or(&m->x, 2, RLX);
}

/* One accesses as data what the other one accesses as an atomic variable. */
static void data_load(unsigned i)
{
	if (i == 0)
		put(&m->x, 1);
	else
		r[0] = m->x;
}

static void data_store(unsigned i)
{
	if (i == 0)
		m->x = 1;
	else
		r[0] = get(&m->x);
}

/* FUTEX_WAKE and FUTEX_WAIT in place of the flag's order. */
static void mp_futex(unsigned i)
{
	if (i == 0) {
		mp(0);
		(void)model_futex_wake(&m->y, 1, false, UINT32_MAX);
		return;
	}
	r[0] = model_futex_wait(&m->y, 0, INT64_MAX, false, UINT32_MAX) == 0;
	r[1] = get(&m->x);
}

/* Each loads, then stores what the other one loads. */
static void lb(unsigned i)
{
	r[i] = get(i ? &m->y : &m->x);
	fence();
	put(i ? &m->x : &m->y, 1);
}

static void corr(unsigned i)
{
	if (i == 0) {
		put(&m->x, 1);
		return;
	}
	r[0] = get(&m->x);
	r[1] = get(&m->x);
}

static void coww(unsigned i)
{
	if (i == 0) {
		put(&m->x, 1);
		put(&m->x, 2);
		return;
	}
	r[0] = get(&m->x);
	r[1] = get(&m->x);
}

static void last_x(void)
{
	r[litmus->registers - 1] = m->x;
}

static void corw(unsigned i)
{
	if (i == 0) {
		r[0] = get(&m->x);
		put(&m->x, 1);
	} else {
		put(&m->x, 2);
	}
}

static void cowr(unsigned i)
{
	put(&m->x, i + 1);
	if (i == 0)
		r[0] = get(&m->x);
}

/* Nothing comes between what an update reads and what it writes. */
static void update(unsigned i)
{
	if (i == 0)
		put(&m->x, 2);
	else
		r[0] = __atomic_fetch_add(&m->x, 1, RLX);
}

/* Two that only store, in opposite order. */
static void two_two_w(unsigned i)
{
	put(i ? &m->y : &m->x, 1);
	fence();
	put(i ? &m->x : &m->y, 2);
}

static void last_xy(void)
{
	r[0] = m->x;
	r[1] = m->y;
}

/* One stores last, the other one loads last. */
static void shape_r(unsigned i)
{
	put(i ? &m->y : &m->x, i ? 2 : 1);
	fence();
	if (i)
		r[0] = get(&m->x);
	else
		put(&m->y, 1);
}

static void last_y(void)
{
	r[1] = m->y;
}

static void shape_s(unsigned i)
{
	if (i == 0) {
		put(&m->x, 2);
		put(&m->y, 1);
		return;
	}
	r[0] = get(&m->y);
	put(&m->x, 1);
}

const struct litmus litmus_pairs[] = {
	{ "SB", 2, 2, sb, .sc = "01 10 11", .tso = "00" },
	{ "SB+sc", 2, 2, sb, .store = SEQ, .load = SEQ, .sc = "01 10 11", .never = "00" },
	{ "SB+rel+acq", 2, 2, sb, .store = REL, .load = ACQ, .sc = "01 10 11",
	  .tso = "00" },
	{ "SB+fences", 2, 2, sb, .fence = SEQ, .sc = "01 10 11", .never = "00" },
	{ "SB+membarrier", 2, 2, sb_membarrier, .sc = "01 10 11", .never = "00" },
	{ "SB+rmws", 2, 2, sb_update, .sc = "01 10 11", .weak = "00" },
	{ "SB+rmws between", 2, 2, sb_updates_between, .sc = "01 10 11", .weak = "00" },
	{ "SB+rmw between", 2, 2, sb_update_between, .sc = "01 10 11", .never = "00" },
	{ "MP", 2, 2, mp, .sc = "00 01 11", .weak = "10" },
	{ "MP+rel+acq", 2, 2, mp, .store = REL, .load = ACQ, .sc = "00 01 11",
	  .never = "10" },
	{ "MP+rel", 2, 2, mp, .store = REL, .sc = "00 01 11", .weak = "10" },
	{ "MP+acq", 2, 2, mp, .load = ACQ, .sc = "00 01 11", .weak = "10" },
	{ "MP+fences", 2, 2, mp, .fence = BOTH, .sc = "00 01 11", .never = "10" },
	{ "MP+data", 2, 2, mp_data, .sc = "race" },
	{ "MP+data+rel+acq", 2, 2, mp_data, .store = REL, .load = ACQ, .sc = "00 11",
	  .never = "10 race" },
	{ "MP+data+fences", 2, 2, mp_data, .fence = BOTH, .sc = "00 11",
	  .never = "10 race" },
	{ "data+store", 2, 1, data_load, .sc = "race" },
	{ "data+load", 2, 1, data_store, .sc = "race" },
	/* An update always reads the newest value here; in C11 it need not. */
	{ "MP+rmw", 2, 2, mp_update, .sc = "00 01 11", .gap = "10" },
	/* futex(2) promises no order of other memory; a system call empties the buffer of TSO. */
	{ "MP+futex", 2, 2, mp_futex, .sc = "01 11", .weak = "00 10" },
	{ "LB", 2, 2, lb, .sc = "00 01 10", .gap = "11" },
	{ "LB+rel+acq", 2, 2, lb, .store = REL, .load = ACQ, .sc = "00 01 10",
	  .never = "11" },
	{ "CoRR", 2, 2, corr, .sc = "00 01 11", .never = "10" },
	{ "CoWW", 2, 3, coww, last_x, .sc = "002 012 022 112 122 222" },
	{ "CoRW", 2, 2, corw, last_x, .sc = "01 02 21", .never = "22" },
	{ "CoWR", 2, 2, cowr, last_x, .sc = "11 12 22", .never = "21" },
	{ "store+rmw", 2, 2, update, last_x, .sc = "02 23", .never = "01" },
	{ "2+2W", 2, 2, two_two_w, last_xy, .sc = "12 21 22", .weak = "11" },
	{ "2+2W+rel", 2, 2, two_two_w, last_xy, .store = REL, .sc = "12 21 22",
	  .weak = "11" },
	{ "2+2W+fences", 2, 2, two_two_w, last_xy, .fence = SEQ, .sc = "12 21 22",
	  .never = "11" },
	{ "R", 2, 2, shape_r, last_y, .sc = "01 11 12", .tso = "02" },
	{ "R+fences", 2, 2, shape_r, last_y, .fence = SEQ, .sc = "01 11 12",
	  .never = "02" },
	{ "S", 2, 2, shape_s, last_x, .sc = "01 02 11", .weak = "12" },
	{ "S+rel+acq", 2, 2, shape_s, last_x, .store = REL, .load = ACQ, .sc = "01 02 11",
	  .never = "12" },
	{ 0 },
};
