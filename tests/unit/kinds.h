/* SPDX-License-Identifier: MIT */
/* All kinds of objects under one roof, for the mistakes that can be made with any of them. */
#ifndef TESTS_UNIT_KINDS_H
#define TESTS_UNIT_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ipcwait/ipcwait.h>

#define KINDS_PLACE_BYTES 256

/* Room for an object, and for what has to be beside it. */
struct place {
	_Alignas(64) char bytes[KINDS_PLACE_BYTES];
};

#define KINDS_FLAGS_BITS(type) (8 * sizeof(((type *)0)->flags))

struct kind {
	const char *name;
	enum ipcwait_kind kind;
	size_t size;
	unsigned flags;      /* that init takes */
	size_t flags_at;     /* where the object has them; 0: it has none */
	unsigned flags_bits; /* how many of them */
	const char *init_name, *fini_name, *wait_name; /* NULL: there is none */
	int (*init)(void *o, unsigned flags);          /* NULL: there is none */
	int (*fini)(void *o);                          /* NULL: there is none */
	void (*block)(void *o); /* init, and see to it that a wait has to wait */
	int (*wait)(void *o, int64_t deadline_ns);
	void (*release)(void *o); /* one call of it ends one wait */
	struct ipcwait_window *(*window)(void *o);
	bool knows_process; /* that a private one belongs to, in a checked build */
	bool no_deadline;   /* its wait takes none */
};

extern const struct kind kind_auto, kind_barrier, kind_cond, kind_event, kind_eventcount,
	kind_errorcheck, kind_futex, kind_latch, kind_mutex, kind_once, kind_recursive,
	kind_robust, kind_reader, kind_sem, kind_wait_any, kind_writer;

/* All of these, then NULL. */
extern const struct kind *const kinds[];

/* One wait, in another thread: the calling one may have made it necessary. */
int kinds_wait(const struct kind *k, void *o, int64_t deadline_ns);

/* Another thread in one wait, which sleeps when this returns. */
struct kinds_waiter;
struct kinds_waiter *kinds_start(const struct kind *k, void *o, int64_t deadline_ns);

/* The same with a preset, and at once. */
struct kinds_waiter *kinds_start_as(const struct kind *k, void *o, int64_t deadline_ns,
				    enum ipcwait_preset preset);

/* It has begun a sleep of its wait, and the kernel says that it sleeps. */
bool kinds_sleeps(void *waiter);
bool kinds_done(const struct kinds_waiter *w);
void kinds_signal(const struct kinds_waiter *w, int signal);
int kinds_join(struct kinds_waiter *w);

#endif
