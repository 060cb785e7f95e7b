/* SPDX-License-Identifier: MIT */
/*
 * Elements of a queue, for its model: what each holds follows from a number, so the model of a
 * queue is a row of numbers. What goes in and out lies in memory of exactly its size, of which the
 * address sanitizer knows the end, and is BLANK where nothing has been written.
 */
#ifndef TESTS_FUZZ_ELEMENTS_H
#define TESTS_FUZZ_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/input.h"

/* Elements in a model, a power of two, and in one call. */
#define STOCK_MOST 4096
#define BATCH_MOST 1024

/* Bytes in one call, about. */
#define BATCH_BYTES 65536

/* What is in a queue. */
struct stock {
	size_t size;      /* of an element */
	uint64_t in, out; /* elements that ever were put in, and taken out */
	uint64_t what[STOCK_MOST];
};

/* Some elements, on their way in or out. */
struct batch {
	size_t size, n;
	unsigned char *elems; /* for the call */
	unsigned char *all;   /* begins @before bytes before */
	size_t before;
	uint64_t what[BATCH_MOST]; /* of those on their way in */
};

static inline uint64_t stock_length(const struct stock *s)
{
	return s->in - s->out;
}

static inline uint64_t stock_room(const struct stock *s)
{
	return STOCK_MOST - stock_length(s);
}

/* An empty one. */
void stock_begin(struct stock *s, size_t size);

void stock_put(struct stock *s, uint64_t what);

/* The @at-th of those that are there. */
uint64_t stock_at(const struct stock *s, uint64_t at);

/* An elem_fini, whose argument is the stock: the oldest element is @elem. */
void stock_fini(void *elem, void *stock);

/* Sizes of elements that differ in how they are copied, and any up to 1024 bytes. */
size_t take_size(struct input *in);

/* How many elements a call is for: most of the time few, and what BATCH_BYTES have room for. */
size_t take_count(struct input *in, size_t size);

/* A new element. Five kinds out of eight are words to which queues give a meaning, or may. */
uint64_t element_new(uint64_t kind);

void element_write(void *to, size_t size, uint64_t what);
bool element_is(const void *at, size_t size, uint64_t what);

/* New elements; room for as many. At most BATCH_MOST, at any address. */
void batch_fill(struct batch *b, struct input *in, size_t size, size_t n);
void batch_blank(struct batch *b, struct input *in, size_t size, size_t n);

/* The call has put the first @n into the stock, and read the others at most. Frees. */
void batch_went_in(struct batch *b, struct stock *s, int64_t n);

/* The call has taken the oldest @n out of the stock, and written nothing but them. Frees. */
void batch_came_out(struct batch *b, struct stock *s, int64_t n);

/* Bytes that are allocated, of the whole program: the same before and after what leaks nothing. */
size_t heap_bytes(void);

#endif
