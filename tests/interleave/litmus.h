/* SPDX-License-Identifier: MIT */
/*
 * Litmus tests: the checker's memory against what is known of such programs. Each is a few
 * accesses; its outcome is what its registers hold in the end, a digit each. The tables say
 * which outcomes there are, and a search must see these and no others.
 *
 * Names of shapes as in J. Alglave, L. Maranget, M. Tautschnig, "Herding cats", ACM TOPLAS 36(2),
 * 2014, but for iwp2.4 and n6, which are from P. Sewell and others, "x86-TSO", CACM 53(7), 2010.
 * What TSO adds is by the model of the latter, what C11 adds by that of O. Lahav and others,
 * "Repairing sequential consistency in C/C++11", PLDI 2017; but C11 and arm64 allow load
 * buffering, which is a gap here, and forbidden there.
 */
#ifndef TESTS_INTERLEAVE_LITMUS_H
#define TESTS_INTERLEAVE_LITMUS_H

#include <stdint.h>

#define LITMUS_REGISTERS 4

struct litmus {
	const char *name;
	unsigned threads, registers;
	void (*thread)(unsigned i);
	void (*end)(void);      /* reads what memory holds at last */
	unsigned bound;         /* of preemptions, 0 if any number */
	int store, load, fence; /* orders of put(), get() and fence(), an __ATOMIC_ macro */
	const char *sc;         /* outcomes in any memory */
	const char *tso, *weak; /* those that MODEL_TSO, and then MODEL_WEAK, adds */
	const char *gap;        /* C11 allows them, and the checker never shows them */
	const char *never;      /* of the others, those that the test is about */
};

/* The memory that threads share. */
struct litmus_memory {
	uint32_t x, y, z, w;
};

extern struct litmus_memory litmus_memory;
extern unsigned litmus_register[LITMUS_REGISTERS];

/* The one that runs. */
extern const struct litmus *litmus;

/* Each ended by one without a name. */
extern const struct litmus litmus_pairs[], litmus_more[];

#endif
