/* SPDX-License-Identifier: MIT */
/* users --list, or users SCENE right|wrong */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "users.h"

bool wrong;

static const struct scene *const tables[] = { lock_scenes, gate_scenes, event_scenes,
					      queue_scenes, channel_scenes };

void fail(const char *what)
{
	fprintf(stderr, "users: %s\n", what);
	exit(1);
}

void pause_us(unsigned us)
{
	const struct timespec t = { .tv_nsec = (long)us * 1000 };

	nanosleep(&t, NULL);
}

void say(int *flag)
{
	__atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

void await(int *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_RELAXED))
		pause_us(10);
}

struct body {
	void (*run)(unsigned me);
	unsigned me;
};

static void *run_body(void *arg)
{
	const struct body *b = arg;

	b->run(b->me);
	return NULL;
}

void run_threads(unsigned n, void (*run)(unsigned me))
{
	pthread_t threads[THREADS_MOST];
	struct body bodies[THREADS_MOST];

	for (unsigned i = 0; i < n; i++) {
		bodies[i] = (struct body){ run, i };
		if (pthread_create(&threads[i], NULL, run_body, &bodies[i]))
			fail("no thread");
	}
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static long data[ROUNDS];
static int written;
static void (*give_round)(unsigned round), (*take_round)(unsigned round);

void fill(unsigned round)
{
	data[round] = round + 1;
	say(&written);
}

static void giver(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (i % 3 == 0)
			pause_us(1000);
		give_round(i);
	}
}

static void taker(void)
{
	if (wrong) {
		await(&written);
		if (!data[0])
			fail("nothing was written");
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (i % 3 == 1)
			pause_us(1000);
		take_round(i);
		if (data[i] != i + 1)
			fail("something else was written");
	}
}

static void one_side(unsigned me)
{
	if (me)
		taker();
	else
		giver();
}

void hand_over(void (*give)(unsigned round), void (*take)(unsigned round))
{
	give_round = give;
	take_round = take;
	run_threads(2, one_side);
}

static const struct scene *find(const char *name)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
		for (const struct scene *s = tables[t]; s->name; s++)
			if (!strcmp(s->name, name))
				return s;
	return NULL;
}

static int list(void)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
		for (const struct scene *s = tables[t]; s->name; s++)
			puts(s->name);
	return 0;
}

int main(int argc, char **argv)
{
	const struct scene *s;

	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	s = argc == 3 ? find(argv[1]) : NULL;
	if (!s)
		fail("--list, or SCENE right|wrong");
	wrong = !strcmp(argv[2], "wrong");
	s->run();
	return 0;
}
