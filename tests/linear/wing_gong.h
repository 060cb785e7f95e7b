/* SPDX-License-Identifier: MIT */
/*
 * Is this history linearizable? For any object with a sequential specification, and short
 * histories.
 *
 *	struct spec spec = spec_sem(0, IPCWAIT_SEM_VALUE_MAX);
 *	struct wing_gong *w = wing_gong_create(&spec);
 *
 *	if (wing_gong_check(w, h.ops, h.count) != WING_GONG_YES) {
 *		wing_gong_print(w, stderr);
 *		...
 *
 * The search tries every operation that may come first, that is, which no other had returned
 * before; then every one that may come second; and so on, until all that returned have their
 * place. Pending ones get one only if that helps. It remembers which operations were placed,
 * together with the state that this led to, and never looks into the same twice: many
 * orders lead there. The search is Wing and Gong's ("Testing and verifying concurrent
 * objects", 1993), the memory is Lowe's ("Testing for linearizability", 2016); Horn and
 * Kroening (arXiv 1504.00204) and the checker Porcupine describe the two together.
 *
 * Cost: usually a few times the number of operations. At worst exponential in the number of
 * operations that overlap; then it gives up after WING_GONG_STATES places.
 * Allocates in wing_gong_create(), and where a history needs more memory than any before.
 * Limits: SPEC_OPS operations; see queue_check.h and sem_check.h for longer histories.
 */
#ifndef TESTS_LINEAR_WING_GONG_H
#define TESTS_LINEAR_WING_GONG_H

#include "linear/specs.h"

/* Four threads with 16 operations each can have 17^4 = 83,521 sets of operations done. */
#define WING_GONG_STATES (1u << 18)

enum wing_gong_answer {
	WING_GONG_YES,
	WING_GONG_NO,
	WING_GONG_GAVE_UP,
};

struct wing_gong;

/* @spec must live as long as the result. */
struct wing_gong *wing_gong_create(const struct spec *spec);
void wing_gong_destroy(struct wing_gong *w);

/* @ops in any order; they must live until wing_gong_print(). */
enum wing_gong_answer wing_gong_check(struct wing_gong *w, const struct history_op *ops,
				      size_t n);

/*
 * The last answer with its reason: an order of all operations, or the longest that was found
 * and those that would have been next, none of which fits there.
 */
void wing_gong_print(const struct wing_gong *w, FILE *out);

#endif
