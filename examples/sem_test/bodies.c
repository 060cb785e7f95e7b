/* SPDX-License-Identifier: MIT */
#include "bodies.h"
#include "work.h"

#include <errno.h>
#include <time.h>

/* Where the two chains of work begin; any two numbers. */
#define PRODUCERS_START 1
#define CONSUMERS_START 2

/* Pairs between two reports of progress. */
#define PAIRS_AT_ONCE 65536

static void report(struct worker *self, uint64_t done)
{
	__atomic_store_n(&self->done, done, __ATOMIC_RELAXED);
}

int body_produce(struct arena *a, struct worker *self)
{
	uint64_t x = PRODUCERS_START;

	for (uint64_t i = 0; i < a->items; i++) {
		int r = a->ops->post(&a->full);

		if (r)
			return r;
		x = work(x, a->loops);
		r = a->ops->wait(&a->empty);
		if (r)
			return r;
		x = work(x, a->loops);
		report(self, i + 1);
	}
	self->checksum = x;
	return 0;
}

int body_consume(struct arena *a, struct worker *self)
{
	uint64_t x = CONSUMERS_START;

	for (uint64_t i = 0; i < a->items; i++) {
		int r = a->ops->wait(&a->full);

		if (r)
			return r;
		x = work(x, a->loops);
		r = a->ops->post(&a->empty);
		if (r)
			return r;
		report(self, i + 1);
	}
	self->checksum = x;
	return 0;
}

int body_producers_work(struct arena *a, struct worker *self)
{
	uint64_t x = PRODUCERS_START;

	for (uint64_t i = 0; i < a->items; i++) {
		x = work(x, a->loops);
		x = work(x, a->loops);
		report(self, i + 1);
	}
	self->checksum = x;
	return 0;
}

int body_both_works(struct arena *a, struct worker *self)
{
	uint64_t y = CONSUMERS_START;
	int r = body_producers_work(a, self);

	for (uint64_t i = 0; i < a->items && !r; i++) {
		y = work(y, a->loops);
		report(self, i + 1);
	}
	/* Not part of the sum; only used, so that it must be computed. */
	return y == self->checksum ? -EPROTO : r;
}

int body_idle_produce(struct arena *a, struct worker *self)
{
	const struct timespec pause = { a->idle_ns / 1000000000, a->idle_ns % 1000000000 };

	for (uint64_t i = 0; i < a->items; i++) {
		int r = -clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);

		if (!r)
			r = a->ops->post(&a->full);
		if (r)
			return r;
		report(self, i + 1);
	}
	return 0;
}

int body_idle_consume(struct arena *a, struct worker *self)
{
	for (uint64_t i = 0; i < a->items; i++) {
		int r = a->ops->wait(&a->full);

		if (r)
			return r;
		report(self, i + 1);
	}
	return 0;
}

int body_pairs(struct arena *a, struct worker *self)
{
	for (uint64_t i = 0; i < a->items;) {
		uint64_t left = a->items - i;
		uint64_t n = left < PAIRS_AT_ONCE ? left : PAIRS_AT_ONCE;
		int r = a->ops->pairs(&a->full, n);

		if (r)
			return r;
		i += n;
		report(self, i);
	}
	return 0;
}
