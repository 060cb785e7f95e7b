/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "linear/wing_gong.h"

#define SLOTS_TO_BEGIN_WITH 1024

/* A slot of the table: the check that filled it, the operations placed, and the state. */
#define SLOT_CHECK  0
#define SLOT_PLACED 1
#define SLOT_STATE  2

struct wing_gong {
	const struct spec *spec;
	uint64_t *table;
	size_t slots; /* a power of two */
	size_t used;
	uint64_t check; /* number of this check: slots of others are free */

	const struct history_op *ops;
	unsigned n;
	uint64_t returned;           /* operations that must get a place */
	uint64_t before[SPEC_OPS];   /* which had returned when this one was called */
	uint8_t by_return[SPEC_OPS]; /* the ones that end first are tried first */

	uint8_t order[SPEC_OPS];
	uint8_t longest[SPEC_OPS];
	unsigned longest_length;
	uint64_t longest_placed;
	union spec_state longest_state;
	enum wing_gong_answer answer;
};

static uint64_t *slot_at(const struct wing_gong *w, uint64_t *table, size_t i)
{
	return table + i * (SLOT_STATE + w->spec->words);
}

static uint64_t *new_table(const struct wing_gong *w, size_t slots)
{
	uint64_t *table = calloc(slots, (SLOT_STATE + w->spec->words) * sizeof(*table));

	CHECK(table);
	return table;
}

struct wing_gong *wing_gong_create(const struct spec *spec)
{
	struct wing_gong *w = calloc(1, sizeof(*w));

	CHECK(w);
	w->spec = spec;
	w->slots = SLOTS_TO_BEGIN_WITH;
	w->table = new_table(w, w->slots);
	return w;
}

void wing_gong_destroy(struct wing_gong *w)
{
	free(w->table);
	free(w);
}

static uint64_t hash(const uint64_t *words, unsigned n)
{
	uint64_t h = 0;

	for (unsigned i = 0; i < n; i++) {
		h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h;
}

/* Where an entry of @words (set and state) is, or has its place. */
static uint64_t *find_slot(const struct wing_gong *w, uint64_t *table, size_t slots,
			   const uint64_t *words)
{
	unsigned n = 1 + w->spec->words;
	size_t i = hash(words, n) & (slots - 1);

	for (;; i = (i + 1) & (slots - 1)) {
		uint64_t *slot = slot_at(w, table, i);

		if (slot[SLOT_CHECK] != w->check ||
		    memcmp(slot + SLOT_PLACED, words, n * sizeof(*words)) == 0)
			return slot;
	}
}

static void grow(struct wing_gong *w)
{
	uint64_t *table = new_table(w, 2 * w->slots);
	size_t bytes = (SLOT_STATE + w->spec->words) * sizeof(*table);

	for (size_t i = 0; i < w->slots; i++) {
		const uint64_t *slot = slot_at(w, w->table, i);

		if (slot[SLOT_CHECK] == w->check)
			memcpy(find_slot(w, table, 2 * w->slots, slot + SLOT_PLACED), slot,
			       bytes);
	}
	free(w->table);
	w->table = table;
	w->slots *= 2;
}

/* False if the search has been here, or must not go on. */
static bool is_new(struct wing_gong *w, uint64_t placed, const union spec_state *state)
{
	uint64_t words[1 + sizeof(*state) / sizeof(uint64_t)];
	uint64_t *slot;

	if (2 * w->used >= w->slots)
		grow(w);
	words[0] = placed;
	memcpy(words + 1, state, w->spec->words * sizeof(*words));
	slot = find_slot(w, w->table, w->slots, words);
	if (slot[SLOT_CHECK] == w->check)
		return false;
	if (w->used == WING_GONG_STATES) {
		w->answer = WING_GONG_GAVE_UP;
		return false;
	}
	w->used++;
	slot[SLOT_CHECK] = w->check;
	memcpy(slot + SLOT_PLACED, words, (1 + w->spec->words) * sizeof(*words));
	return true;
}

static void keep_order(struct wing_gong *w, uint64_t placed, unsigned length,
		       const union spec_state *state)
{
	memcpy(w->longest, w->order, length);
	w->longest_length = length;
	w->longest_placed = placed;
	w->longest_state = *state;
}

static bool may_be_next(const struct wing_gong *w, uint64_t placed, unsigned i)
{
	return !(placed >> i & 1) && (w->before[i] & ~placed) == 0;
}

static bool place_the_rest(struct wing_gong *w, uint64_t placed, unsigned length,
			   const union spec_state *state);

static bool place_next(struct wing_gong *w, uint64_t placed, unsigned length,
		       const union spec_state *state, unsigned i)
{
	for (unsigned choice = 0;; choice++) {
		union spec_state next = *state;

		if (!w->spec->apply(w->spec, w->ops, i, choice, &next))
			return false;
		w->order[length] = (uint8_t)i;
		if (place_the_rest(w, placed | UINT64_C(1) << i, length + 1, &next))
			return true;
	}
}

/* @placed are the first @length operations, and led to @state. True: so can all others be. */
static bool place_the_rest(struct wing_gong *w, uint64_t placed, unsigned length,
			   const union spec_state *state)
{
	bool all = (w->returned & ~placed) == 0;

	if (!all && !is_new(w, placed, state))
		return false;
	if (all || length > w->longest_length)
		keep_order(w, placed, length, state);
	for (unsigned k = 0; k < w->n && !all && w->answer != WING_GONG_GAVE_UP; k++) {
		unsigned i = w->by_return[k];

		if (may_be_next(w, placed, i))
			all = place_next(w, placed, length, state, i);
	}
	return all;
}

static void sort_by_return(struct wing_gong *w)
{
	for (unsigned i = 0; i < w->n; i++) {
		unsigned at = i;

		for (; at && w->ops[w->by_return[at - 1]].ret > w->ops[i].ret; at--)
			w->by_return[at] = w->by_return[at - 1];
		w->by_return[at] = (uint8_t)i;
	}
}

static void prepare(struct wing_gong *w)
{
	w->check++;
	w->used = 0;
	w->returned = 0;
	keep_order(w, 0, 0, &w->spec->begin);
	w->answer = WING_GONG_NO;
	sort_by_return(w);
	for (unsigned i = 0; i < w->n; i++) {
		w->before[i] = 0;
		for (unsigned k = 0; k < w->n; k++) {
			unsigned first = w->by_return[k];

			if (w->ops[first].ret >= w->ops[i].call)
				break;
			w->before[i] |= UINT64_C(1) << first;
		}
		if (w->ops[i].ret != HISTORY_PENDING)
			w->returned |= UINT64_C(1) << i;
	}
}

enum wing_gong_answer wing_gong_check(struct wing_gong *w, const struct history_op *ops,
				      size_t n)
{
	CHECK(n <= SPEC_OPS);
	w->ops = ops;
	w->n = (unsigned)n;
	prepare(w);
	if (place_the_rest(w, 0, 0, &w->spec->begin))
		w->answer = WING_GONG_YES;
	return w->answer;
}

static void print_others(const struct wing_gong *w, FILE *out, const char *mark, bool next)
{
	for (unsigned i = 0; i < w->n; i++) {
		if (w->longest_placed >> i & 1 ||
		    may_be_next(w, w->longest_placed, i) != next)
			continue;
		fprintf(out, "  %s  ", mark);
		history_print(out, &w->ops[i], w->spec->op_names);
	}
}

void wing_gong_print(const struct wing_gong *w, FILE *out)
{
	static const char *const answers[] = {
		[WING_GONG_YES] = "linearizable",
		[WING_GONG_NO] = "NOT linearizable",
		[WING_GONG_GAVE_UP] = "gave up: too many orders",
	};

	fprintf(out, "%s: %s\n", w->spec->name, answers[w->answer]);
	for (unsigned i = 0; i < w->longest_length; i++) {
		fprintf(out, "  %2u  ", i + 1);
		history_print(out, &w->ops[w->longest[i]], w->spec->op_names);
	}
	if (w->answer == WING_GONG_YES)
		return;
	fprintf(out, "this is the longest order found. Then the object would be: ");
	w->spec->print(out, w->ops, &w->longest_state);
	fprintf(out, "\nand one of these would be next, but none fits:\n");
	print_others(w, out, " ?", true);
	fprintf(out, "later:\n");
	print_others(w, out, "  ", false);
}
