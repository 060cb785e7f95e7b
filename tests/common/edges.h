/* SPDX-License-Identifier: MIT */
/*
 * Words at every edge: a property is checked for all combinations of what the fields of a state
 * word may hold near their limits, over the kernel of fake_os.h. What fails says for which.
 */
#ifndef TESTS_COMMON_EDGES_H
#define TESTS_COMMON_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/fake_os.h"

#define EDGE_AXES   20
#define EDGE_VALUES 40
#define EDGE_SLEEPS 4

/* One field, and the values it has in turn. */
struct edges {
	const char *name;
	unsigned n;
	int64_t v[EDGE_VALUES];
};

#define EDGES(name, ...)                                                    \
	{                                                                   \
		name, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), \
		{                                                           \
			__VA_ARGS__                                         \
		}                                                           \
	}

/* In the place of a value: as far as that from another field's. */
#define EDGE_FROM(distance) (INT64_C(1) << 50 | ((INT64_C(1) << 20) + (distance)))

/* The value that @edge stands for, if the other field has @base. */
int64_t edge_value(int64_t edge, int64_t base);

/* Calls @property with each combination, as they are listed. Returns how many there were. */
unsigned edge_walk(const struct edges *axes, unsigned n,
		   void (*property)(const int64_t *values));

#define EDGE_WALK(axes, property) \
	edge_walk(axes, sizeof(axes) / sizeof((axes)[0]), property)

/* As CHECK_EQ(), and prints the combination. */
#define SAME(is, want) edge_same(__FILE__, __LINE__, #is, (uint64_t)(is), (uint64_t)(want))

void edge_same(const char *file, int line, const char *what, uint64_t is, uint64_t want);

/* A kernel to which nothing has happened, at a later time: cheaper than fake_reset(). */
void edge_world(void);

/* What happens in a sleep: what the word is at its end, if it changes, and how late that is. */
struct edge_step {
	int result;
	bool changes;
	uint64_t word;
	int64_t sleep_ns;
	void (*meanwhile)(void);
};

/* What a sleep found. */
struct edge_sleep {
	struct fake_call call;
	uint64_t word; /* the object's */
	int64_t began_ns;
};

extern struct edge_sleep edge_slept[EDGE_SLEEPS];
extern unsigned edge_sleeps;

/* The sleeps to come, on an object with this word. One more fails the test. */
void edge_script(uint64_t *word, const struct edge_step *steps, unsigned n);

/* What the object's word was at each reading of the clock, but for those before @from. */
void edge_watch(const uint64_t *word, unsigned from);

/* What it was when it was watched last; @else_ if it was not. */
uint64_t edge_watched(uint64_t else_);

#endif
