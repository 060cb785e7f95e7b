/* SPDX-License-Identifier: MIT */
/*
 * pool_test: what it takes to get an object and put it back.
 *
 *   pool_test pool|malloc|none own|deep|across SIZE COUNT
 *
 * "own": one thread, one object at a time. "deep": one thread, a hundred, and then all back.
 * "across": one thread gets and writes, the other reads and puts; between them is a ring of 1024,
 * handed over 64 at a time, so that it costs little. "malloc" is that of the process: with
 * LD_PRELOAD any other. "none" takes objects from an array in turn: what the rest costs.
 */
#include "../seed/figures.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/number.h"
#include "../../tools/common/spin_hint.h"

#include <ipcwait/pool.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "pool_test";

#define DEEP  100
#define RING  1024
#define BATCH 64

/* Objects of "none": more than are out at any time. */
#define ARRAY 2048

struct plan {
	struct ipcwait_pool *pool;
	unsigned char *array; /* neither of the two: malloc */
	uint64_t next;        /* in the array */
	size_t size;
	uint64_t count;
};

static void *touch(void *p)
{
	if (!p)
		give_up("no memory");
	*(volatile unsigned char *)p = 1;
	return p;
}

static inline void *get(struct plan *p)
{
	if (p->array)
		return touch(p->array + p->next++ % ARRAY * p->size);
	return touch(p->pool ? ipcwait_pool_get(p->pool) : malloc(p->size));
}

static inline void put(const struct plan *p, void *object)
{
	if (p->pool)
		ipcwait_pool_put(p->pool, object);
	else if (!p->array)
		free(object);
}

static void own(struct plan *p)
{
	for (uint64_t i = 0; i < p->count; i++)
		put(p, get(p));
}

static void deep(struct plan *p)
{
	void *object[DEEP];

	for (uint64_t i = 0; i < p->count; i += DEEP) {
		for (unsigned k = 0; k < DEEP; k++)
			object[k] = get(p);
		for (unsigned k = 0; k < DEEP; k++)
			put(p, object[k]);
	}
}

static unsigned char *ring[RING];
static _Alignas(128) atomic_ulong put_in;
static _Alignas(128) atomic_ulong taken_out;

static void *giver(void *arg)
{
	struct plan *p = arg;

	for (uint64_t i = 0; i < p->count; i++) {
		if (i % BATCH == 0) {
			atomic_store_explicit(&put_in, i, memory_order_release);
			while (i + BATCH > RING + atomic_load_explicit(
							  &taken_out, memory_order_acquire))
				spin_hint();
		}
		ring[i % RING] = get(p);
	}
	atomic_store_explicit(&put_in, p->count, memory_order_release);
	return NULL;
}

static void across(struct plan *p)
{
	pthread_t thread;
	uint64_t i = 0, there;

	if (pthread_create(&thread, NULL, giver, p))
		give_up("cannot start a thread");
	while (i < p->count) {
		there = atomic_load_explicit(&put_in, memory_order_acquire);
		if (i == there)
			spin_hint();
		for (; i < there; i++) {
			if (*(volatile unsigned char *)ring[i % RING] != 1)
				give_up("an object has changed on its way");
			put(p, ring[i % RING]);
		}
		atomic_store_explicit(&taken_out, i, memory_order_release);
	}
	pthread_join(thread, NULL);
}

static const struct {
	const char *name;
	void (*run)(struct plan *p);
} forms[] = { { "own", own }, { "deep", deep }, { "across", across } };

static int measure(struct plan *p, unsigned form)
{
	struct plan warm = *p;
	struct figures figures;
	struct json j;

	warm.count = p->count / 10 + 1;
	forms[form].run(&warm);
	put_in = taken_out = 0;
	figures_begin(&figures);
	forms[form].run(p);
	j = json_begin(stdout);
	figures_end(&figures, &j);
	json_whole(&j, "objects", p->count);
	json_end(&j);
	return EXIT_DONE;
}

static int form_named(const char *name)
{
	for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (!strcmp(forms[i].name, name))
			return (int)i;
	return -1;
}

static bool is_allocator(const char *name)
{
	return !strcmp(name, "pool") || !strcmp(name, "malloc") || !strcmp(name, "none");
}

int main(int argc, char **argv)
{
	struct ipcwait_pool_params params = { 0 };
	struct plan p = { 0 };
	uint64_t size;

	if (argc != 5 || !is_allocator(argv[1]) || form_named(argv[2]) < 0 ||
	    number_parse(argv[3], 1, IPCWAIT_POOL_ELEM_MAX, &size) ||
	    number_parse(argv[4], 1, 1000000000, &p.count)) {
		complain("want pool, malloc or none; own, deep or across; SIZE, 1 to %d; "
			 "COUNT, 1 to 1000000000",
			 IPCWAIT_POOL_ELEM_MAX);
		return EXIT_BAD_INPUT;
	}
	p.size = params.elem_size = (size_t)size;
	if (!strcmp(argv[1], "pool") && ipcwait_pool_create(&params, &p.pool))
		give_up("cannot create a pool");
	if (!strcmp(argv[1], "none") && !(p.array = calloc(ARRAY, size)))
		give_up("no memory");
	return measure(&p, (unsigned)form_named(argv[2]));
}
