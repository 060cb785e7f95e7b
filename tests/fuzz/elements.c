/* SPDX-License-Identifier: MIT */
#include "fuzz/elements.h"

#include <pthread.h>
#include <sanitizer/allocator_interface.h>
#include <stdlib.h>

#include "common/fuzz.h"

#define BLANK 0xa5

/* The first of three words that a queue of elements of 8 bytes uses itself; lib/queue/segment.h. */
#define RESERVED UINT64_C(0x9e3779b97f4a7c14)

/* What an element holds is in the lowest bits of its number; the others tell it from its like. */
enum { RESERVED_0, RESERVED_1, RESERVED_2, ZEROS, ONES, KINDS = 8 };

static uint64_t word_of(uint64_t what)
{
	switch (what % KINDS) {
	case RESERVED_0:
	case RESERVED_1:
	case RESERVED_2:
		return RESERVED + what % KINDS;
	case ZEROS:
		return 0;
	case ONES:
		return UINT64_MAX;
	default:
		return what * UINT64_C(0xd6e8feb86659fd93);
	}
}

/* Words that are all the same, in calls that sanitizers look at once. */
void element_write(void *to, size_t size, uint64_t what)
{
	uint64_t word = word_of(what);
	size_t done = size < sizeof(word) ? size : sizeof(word);
	unsigned char *at = to;

	for (memcpy(at, &word, done); done < size; done *= 2)
		memcpy(at + done, at, size - done < done ? size - done : done);
}

bool element_is(const void *at, size_t size, uint64_t what)
{
	uint64_t word = word_of(what);
	const unsigned char *from = at;

	if (size <= sizeof(word))
		return memcmp(from, &word, size) == 0;
	return memcmp(from, &word, sizeof(word)) == 0 &&
	       memcmp(from, from + sizeof(word), size - sizeof(word)) == 0;
}

uint64_t element_new(uint64_t kind)
{
	static uint64_t made;

	return ++made * KINDS + kind % KINDS;
}

size_t take_size(struct input *in)
{
	static const uint16_t sizes[] = {
		8, 1, 2, 3, 4, 5, 6, 7, 9, 12, 15, 16, 17, 24, 32
	};
	uint8_t how = take_8(in);

	if (how < 240)
		return sizes[how % (sizeof(sizes) / sizeof(sizes[0]))];
	return take_16(in) % 1024 + 1;
}

size_t take_count(struct input *in, size_t size)
{
	uint8_t how = take_8(in);
	size_t n = how < 192 ? how % 12 : (how - 192) * 16;

	return n * size <= BATCH_BYTES ? n : BATCH_BYTES / size;
}

void stock_begin(struct stock *s, size_t size)
{
	s->size = size;
	s->in = s->out = 0;
}

void stock_put(struct stock *s, uint64_t what)
{
	FUZZ_CHECK(stock_room(s) > 0);
	s->what[s->in++ % STOCK_MOST] = what;
}

uint64_t stock_at(const struct stock *s, uint64_t at)
{
	FUZZ_CHECK(at < stock_length(s));
	return s->what[(s->out + at) % STOCK_MOST];
}

void stock_fini(void *elem, void *stock)
{
	struct stock *s = stock;

	FUZZ_CHECK(element_is(elem, s->size, stock_at(s, 0)));
	s->out++;
}

static void make(struct batch *b, struct input *in, size_t size, size_t n)
{
	size_t bytes = n * size;

	FUZZ_CHECK(n <= BATCH_MOST);
	b->before = take_8(in) % 8;
	b->size = size;
	b->n = n;
	b->all = malloc(b->before + bytes);
	FUZZ_CHECK(b->all);
	b->elems = b->all + b->before;
	memset(b->all, BLANK, b->before + bytes);
}

void batch_blank(struct batch *b, struct input *in, size_t size, size_t n)
{
	make(b, in, size, n);
}

void batch_fill(struct batch *b, struct input *in, size_t size, size_t n)
{
	uint8_t kinds = take_8(in);

	make(b, in, size, n);
	for (size_t i = 0; i < n; i++) {
		b->what[i] = element_new(kinds + i * (kinds >> 3));
		element_write(b->elems + i * size, size, b->what[i]);
	}
}

static bool is_blank(const unsigned char *at, size_t bytes)
{
	return !bytes || (*at == BLANK && memcmp(at, at + 1, bytes - 1) == 0);
}

void batch_went_in(struct batch *b, struct stock *s, int64_t n)
{
	for (size_t i = 0; i < b->n; i++)
		FUZZ_CHECK(element_is(b->elems + i * b->size, b->size, b->what[i]));
	FUZZ_CHECK(n <= (int64_t)b->n && is_blank(b->all, b->before));
	for (int64_t i = 0; i < n; i++)
		stock_put(s, b->what[i]);
	free(b->all);
}

void batch_came_out(struct batch *b, struct stock *s, int64_t n)
{
	size_t out = n > 0 ? (size_t)n : 0;

	FUZZ_CHECK(out <= b->n && is_blank(b->all, b->before));
	FUZZ_CHECK(is_blank(b->elems + out * b->size, (b->n - out) * b->size));
	for (size_t i = 0; i < out; i++)
		stock_fini(b->elems + i * b->size, s);
	free(b->all);
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* What libc keeps of the first thread that has ended is there from the beginning then. */
static void end_thread(void)
{
	pthread_t thread;

	FUZZ_CHECK(pthread_create(&thread, NULL, do_nothing, NULL) == 0);
	FUZZ_CHECK(pthread_join(thread, NULL) == 0);
}

size_t heap_bytes(void)
{
	static bool called;

	if (!called)
		end_thread();
	called = true;
	return __sanitizer_get_current_allocated_bytes();
}
