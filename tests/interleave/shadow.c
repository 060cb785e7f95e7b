/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interleave/memory.h"
#include "interleave/sched.h"
#include "interleave/shadow.h"

#define ARENA_BYTES 8192
#define SHARES_MAX  48
#define NAMES_MAX   32
#define BLOCKS_MAX  64

/* What model_free() leaves in memory: no pointer, and no state of anything. */
#define POISON 0xd7

/* Between two blocks; belongs to nobody. */
#define REDZONE_BYTES 32

struct share {
	char *base;
	size_t size;
	char *first; /* what it held at first */
	struct cell *cells;
};

struct block {
	char *base;
	size_t size;
	bool freed;
};

struct name {
	const volatile void *p;
	const char *text;
};

static _Alignas(128) char arena[ARENA_BYTES];
static struct cell arena_cells[ARENA_BYTES / 4];
static size_t arena_used;
static struct share shares[SHARES_MAX];
static unsigned shares_known, shares_used; /* in any scenario, in this one */
static struct block blocks[BLOCKS_MAX];
static unsigned blocks_used;
static struct name names[NAMES_MAX];
static unsigned names_used;

struct cell *shadow_of(const volatile void *p)
{
	uintptr_t offset = (uintptr_t)p - (uintptr_t)arena;

	if (offset < ARENA_BYTES)
		return &arena_cells[offset / 4];
	for (unsigned i = 0; i < shares_used; i++) {
		offset = (uintptr_t)p - (uintptr_t)shares[i].base;
		if (offset < shares[i].size)
			return &shares[i].cells[offset / 4];
	}
	return NULL;
}

void shadow_reset(void)
{
	memset(arena_cells, 0, arena_used / 4 * sizeof(arena_cells[0]));
	arena_used = 0;
	shares_used = 0;
	blocks_used = 0;
	names_used = 0;
}

static void set_life(struct cell *c, size_t size, enum life life)
{
	for (size_t i = 0; i < (size + 3) / 4; i++)
		c[i].life = life;
}

void *model_alloc(size_t size)
{
	struct block *b = &blocks[blocks_used];
	size_t rounded = (size + 15) / 16 * 16;

	if (blocks_used == BLOCKS_MAX ||
	    arena_used + rounded + REDZONE_BYTES > ARENA_BYTES) {
		(void)fprintf(stderr,
			      "model_alloc: ARENA_BYTES or BLOCKS_MAX is too small\n");
		abort();
	}
	blocks_used++;
	*b = (struct block){ arena + arena_used, size, false };
	arena_used += rounded + REDZONE_BYTES;
	memset(b->base, 0, rounded);
	set_life(shadow_of(b->base), size, LIVE);
	return b->base;
}

static struct block *block_of(const void *p)
{
	for (unsigned i = 0; i < blocks_used; i++)
		if (blocks[i].base == p && !blocks[i].freed)
			return &blocks[i];
	model_fail(MODEL_LEAK, "freed what was not allocated, or twice");
}

/* As a plain store to all of it: whoever accesses it must have done so before. */
void model_free(void *p)
{
	struct block *b = block_of(p);
	struct cell *c = shadow_of(p);

	sched_trace(p, "free", 0);
	memory_flush_all(sched_current());
	shadow_note(c, (unsigned)b->size, PLAIN_STORE, sched_current(), sched_view());
	b->freed = true;
	memset(p, POISON, b->size);
	set_life(c, b->size, FREED);
}

void shadow_check_leaks(void)
{
	for (unsigned i = 0; i < blocks_used; i++)
		if (!blocks[i].freed)
			model_fail(MODEL_LEAK, "memory was not freed");
}

static struct share *new_share(void *p, size_t size)
{
	struct share *s = &shares[shares_known++];

	if (shares_known > SHARES_MAX || (uintptr_t)p % 4) {
		(void)fprintf(stderr,
			      "model_share: SHARES_MAX is too small, or misaligned\n");
		abort();
	}
	*s = (struct share){ p, size, malloc(size),
			     calloc((size + 3) / 4, sizeof(struct cell)) };
	if (!s->first || !s->cells)
		abort();
	memcpy(s->first, p, size);
	return s;
}

/* Those of this scenario come first. */
static struct share *share_of(void *p, size_t size)
{
	struct share *s = shares, found;

	while (s < shares + shares_known && s->base != p)
		s++;
	if (s == shares + shares_known)
		s = new_share(p, size);
	if (s < shares + shares_used)
		return s;
	found = *s;
	*s = shares[shares_used];
	shares[shares_used] = found;
	return &shares[shares_used++];
}

void model_share(void *p, size_t size)
{
	struct share *s = share_of(p, size);

	memcpy(p, s->first, size);
	memset(s->cells, 0, (size + 3) / 4 * sizeof(struct cell));
	set_life(s->cells, size, LIVE);
}

void model_quiet(const void *p, size_t size)
{
	set_life(shadow_of(p), size, QUIET);
}

void model_name(const void *p, const char *name)
{
	if (names_used < NAMES_MAX)
		names[names_used++] = (struct name){ p, name };
}

const char *shadow_name(const volatile void *p)
{
	static char text[32];
	uintptr_t offset;

	for (unsigned i = 0; i < names_used; i++)
		if (names[i].p == p)
			return names[i].text;
	offset = (uintptr_t)p - (uintptr_t)arena;
	if (offset < ARENA_BYTES)
		(void)snprintf(text, sizeof(text), "arena+%zu", (size_t)offset);
	else
		(void)snprintf(text, sizeof(text), "%p", (const void *)(uintptr_t)p);
	return text;
}

static bool all_before(const uint16_t at[MINDS], const struct view *view)
{
	for (unsigned i = 0; i < MINDS; i++)
		if (at[i] > view->past[i])
			return false;
	return true;
}

static bool races(const struct cell *c, enum access kind, const struct view *view)
{
	if (c->written > view->past[c->writer])
		return true;
	switch (kind) {
	case PLAIN_LOAD:
		return !all_before(c->stored, view);
	case PLAIN_STORE:
		return !all_before(c->read, view) || !all_before(c->loaded, view) ||
		       !all_before(c->stored, view);
	case ATOMIC_STORE:
		return !all_before(c->read, view);
	default:
		return false;
	}
}

static void note(struct cell *c, enum access kind, unsigned me, const struct view *view)
{
	uint16_t now = view->past[me];

	if (c->life == FREED)
		model_fail(MODEL_FREED, "touched memory that was freed");
	if (c->life == UNKNOWN)
		model_fail(MODEL_FREED, "touched memory beyond a block");
	if (c->life == QUIET)
		return;
	if (races(c, kind, view))
		model_fail(MODEL_RACE, kind == PLAIN_LOAD ? "unordered load of data"
				       : kind == PLAIN_STORE
					       ? "unordered store of data"
					       : "unordered access to an atomic variable");
	if (kind == PLAIN_STORE) {
		c->writer = (uint8_t)me;
		c->written = now;
	}
	(kind == PLAIN_LOAD    ? c->read
	 : kind == ATOMIC_LOAD ? c->loaded
			       : c->stored)[me] = kind == PLAIN_STORE ? c->stored[me] : now;
}

void shadow_note(struct cell *c, unsigned size, enum access kind, unsigned me,
		 const struct view *view)
{
	for (unsigned i = 0; i < (size + 3) / 4; i++)
		note(&c[i], kind, me, view);
}
