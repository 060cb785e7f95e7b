/* SPDX-License-Identifier: MIT */
/* The two processes of a pair. What they hand over is the time at which it was written. */
#include "pairs.h"

#include "../common/clock.h"

#include <time.h>

static void rest(uint64_t us)
{
	const struct timespec t = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };

	(void)nanosleep(&t, NULL);
}

int play_first(const struct end *e, const struct options *o, const struct stage *s,
	       struct tally *t)
{
	volatile uint64_t used = 1;
	uint64_t word;

	for (;;) {
		int r;

		if (o->pause_us)
			rest(o->pause_us);
		r = end_write(e, (uint64_t)clock_now_ns());
		r = r ? r : end_wait(e, &word);
		if (r)
			return r;
		used = clock_work(used, s->steps);
		t->turns = t->turns + 1;
	}
}

int play_second(const struct end *e, const struct options *o, const struct stage *s,
		struct tally *t)
{
	volatile uint64_t used = 1;
	uint64_t word;

	for (;;) {
		int r = end_wait(e, &word);

		if (r)
			return r;
		if (o->pause_us) {
			t->latency_ns[t->samples % SAMPLES] =
				(uint64_t)clock_now_ns() - word;
			t->samples = t->samples + 1;
		}
		used = clock_work(used, s->steps);
		r = end_write(e, 1);
		if (r)
			return r;
	}
}
