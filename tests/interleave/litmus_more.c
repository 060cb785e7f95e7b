/* SPDX-License-Identifier: MIT */
/* More threads, more accesses. */
#include "interleave/litmus_access.h"

/* Two writers, and two readers who may differ about their order. */
static void iriw(unsigned i)
{
	if (i < 2) {
		put(i ? &m->y : &m->x, 1);
		return;
	}
	r[2 * i - 4] = get(i == 2 ? &m->x : &m->y);
	fence();
	r[2 * i - 3] = get(i == 2 ? &m->y : &m->x);
}

static void last_x(void)
{
	r[litmus->registers - 1] = m->x;
}

/* What somebody else has seen, and passed on. */
static void wrc(unsigned i)
{
	if (i == 0) {
		put(&m->x, 1);
	} else if (i == 1) {
		r[0] = get(&m->x);
		put(&m->y, 1);
	} else {
		r[1] = get(&m->y);
		r[2] = get(&m->x);
	}
}

static void isa2(unsigned i)
{
	if (i == 0) {
		put(&m->x, 1);
		put(&m->y, 1);
	} else if (i == 1) {
		r[0] = get(&m->y);
		put(&m->z, 1);
	} else {
		r[1] = get(&m->z);
		r[2] = get(&m->x);
	}
}

static void rwc(unsigned i)
{
	if (i == 0) {
		put(&m->x, 1);
	} else if (i == 1) {
		r[0] = get(&m->x);
		fence();
		r[1] = get(&m->y);
	} else {
		put(&m->y, 1);
		fence();
		r[2] = get(&m->x);
	}
}

/* A thread sees its own store before others do. */
static void iwp24(unsigned i)
{
	put(i ? &m->y : &m->x, 1);
	r[2 * i] = get(i ? &m->y : &m->x);
	r[2 * i + 1] = get(i ? &m->x : &m->y);
}

static void n6(unsigned i)
{
	if (i == 0) {
		put(&m->x, 1);
		r[0] = get(&m->x);
		r[1] = get(&m->y);
	} else {
		put(&m->y, 2);
		put(&m->x, 2);
	}
}

/* x is the data; thread 1 changes the flag that thread 0 has set, thread 2 acquires it. */
static void sequence(unsigned i, bool update)
{
	if (i == 0) {
		__atomic_store_n(&m->x, 1, RLX);
		__atomic_store_n(&m->y, 1, REL);
	} else if (i == 2) {
		r[0] = __atomic_load_n(&m->y, ACQ);
		r[1] = __atomic_load_n(&m->x, RLX);
	} else if (update) {
		uint32_t one = 1;

		r[2] = __atomic_compare_exchange_n(&m->y, &one, 2, false, RLX, RLX);
	} else {
		r[2] = __atomic_load_n(&m->y, RLX);
		if (r[2])
			__atomic_store_n(&m->y, 2, RLX);
	}
}

static void sequence_update(unsigned i)
{
	sequence(i, true);
}

static void sequence_store(unsigned i)
{
	sequence(i, false);
}

static void sequence_own(unsigned i)
{
	if (i == 0) {
		sequence(0, false);
		__atomic_store_n(&m->y, 2, RLX);
	} else {
		sequence(2, false);
	}
}

/* x and y are the data, z is odd while they are changed. r[0]: they belong together. */
static void seqlock(unsigned i)
{
	uint32_t before;

	if (i == 0) {
		__atomic_store_n(&m->z, 1, RLX);
		fence();
		put(&m->x, 1);
		put(&m->y, 1);
		__atomic_store_n(&m->z, 2, REL);
		return;
	}
	before = __atomic_load_n(&m->z, ACQ);
	r[1] = get(&m->x);
	r[2] = get(&m->y);
	fence();
	r[0] = !(before & 1) && before == __atomic_load_n(&m->z, RLX);
	if (!r[0])
		r[1] = r[2] = 0;
}

#define THREE_BUT_110 "000 001 010 011 100 101 111"
#define FOUR_BUT_1010 \
	"0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111"

const struct litmus litmus_more[] = {
	{ "IRIW", 4, 4, iriw, .bound = 3, .sc = FOUR_BUT_1010, .weak = "1010" },
	{ "IRIW+rel+acq", 4, 4, iriw, .bound = 3, .store = REL, .load = ACQ,
	  .sc = FOUR_BUT_1010, .weak = "1010" },
	{ "IRIW+sc", 4, 4, iriw, .bound = 3, .store = SEQ, .load = SEQ, .sc = FOUR_BUT_1010,
	  .never = "1010" },
	{ "IRIW+fences", 4, 4, iriw, .bound = 3, .fence = SEQ, .sc = FOUR_BUT_1010,
	  .never = "1010" },
	{ "WRC", 3, 3, wrc, .sc = THREE_BUT_110, .weak = "110" },
	{ "WRC+rel+acq", 3, 3, wrc, .store = REL, .load = ACQ, .sc = THREE_BUT_110,
	  .never = "110" },
	{ "ISA2", 3, 3, isa2, .sc = THREE_BUT_110, .weak = "110" },
	{ "ISA2+rel+acq", 3, 3, isa2, .store = REL, .load = ACQ, .sc = THREE_BUT_110,
	  .never = "110" },
	{ "RWC", 3, 3, rwc, .sc = "000 001 010 011 101 110 111", .tso = "100" },
	{ "RWC+fences", 3, 3, rwc, .fence = SEQ, .sc = "001 010 011 101 110 111 000",
	  .never = "100" },
	{ "iwp2.4", 2, 4, iwp24, .sc = "1011 1110 1111", .tso = "1010" },
	{ "n6", 2, 3, n6, last_x, .sc = "102 121 122 222", .tso = "101", .weak = "202" },
	{ "sequence+rmw", 3, 3, sequence_update, .sc = "000 001 010 011 110 111 211",
	  .never = "100 101 201" },
	{ "sequence+store", 3, 3, sequence_store, .sc = "000 001 010 011 110 111 211",
	  .weak = "201", .never = "100 101" },
	/* C11 forbids 20; C++20 (P0982) does not any more. */
	{ "sequence+own", 2, 2, sequence_own, .sc = "00 01 11 21", .weak = "20",
	  .never = "10" },
	{ "seqlock", 2, 3, seqlock, .fence = BOTH, .sc = "000 100 111",
	  .never = "101 110" },
	{ "seqlock, no fences", 2, 3, seqlock, .sc = "000 100 111", .weak = "101 110" },
	{ 0 },
};
