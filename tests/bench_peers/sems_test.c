/* SPDX-License-Identifier: MIT */
/*
 * Every semaphore that is there: tokens stay until they are taken, each is taken once, nobody
 * returns without one, and everybody is woken.
 */
#include "bench/peers/peers.h"
#include "common/cmocka_all.h"
#include "peers_test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#define TOKENS        1000 /* of each poster */
#define INTERRUPTIONS 200  /* on one CPU a spinner takes a time slice for each */

struct scene {
	struct sem_room sem;
	const struct sem_ops *ops;
	unsigned posters; /* and waiters */
	unsigned roles;
	uint32_t posted; /* begun */
	uint32_t taken;  /* and done */
};

static void begin(struct scene *s, const struct sem_peer *p)
{
	now_testing(p->name);
	*s = (struct scene){ .ops = p->ops, .posters = p->one_waiter ? 1 : 2 };
	memset(&s->sem, 0xa5, sizeof(s->sem));
	s->ops->init(&s->sem);
}

static void end(struct scene *s)
{
	if (s->ops->end)
		s->ops->end(&s->sem);
	check_watchdog(0);
}

static void post(struct scene *s)
{
	__atomic_fetch_add(&s->posted, 1, __ATOMIC_SEQ_CST);
	s->ops->post(&s->sem);
}

static void take(struct scene *s)
{
	uint32_t taken;

	s->ops->wait(&s->sem);
	taken = __atomic_add_fetch(&s->taken, 1, __ATOMIC_SEQ_CST);
	CHECK(taken <= __atomic_load_n(&s->posted, __ATOMIC_SEQ_CST));
}

static void test_tokens_stay(void **state)
{
	static struct scene s;

	(void)state;
	for (const struct sem_peer *p = sem_peers; p->name; p++) {
		if (!p->ops)
			continue;
		begin(&s, p);
		for (int i = 0; i < 2 * TOKENS; i++)
			post(&s);
		for (int i = 0; i < 2 * TOKENS; i++)
			take(&s);
		end(&s);
	}
}

static void *post_or_take(void *arg)
{
	struct scene *s = arg;
	unsigned role = __atomic_fetch_add(&s->roles, 1, __ATOMIC_RELAXED);

	for (int i = 0; i < TOKENS; i++)
		if (role < s->posters)
			post(s);
		else
			take(s);
	return NULL;
}

static void test_crowd(void **state)
{
	static struct scene s;

	(void)state;
	for (const struct sem_peer *p = sem_peers; p->name; p++) {
		if (!p->ops)
			continue;
		begin(&s, p);
		in_threads(2 * s.posters, post_or_take, &s);
		CHECK_EQ(s.taken, s.posters * TOKENS);
		end(&s);
	}
}

static void *be_interrupted(void *arg)
{
	for (int i = 0; i < INTERRUPTIONS; i++)
		take(arg);
	return NULL;
}

static void on_signal(int number)
{
	(void)number;
}

/* One token at a time, so that the waiter sleeps or spins while the signals come. */
static void interrupt_and_post(struct scene *s, pthread_t waiter)
{
	for (uint32_t i = 0; i < INTERRUPTIONS; i++) {
		CHECK_EQ(pthread_kill(waiter, SIGUSR1), 0);
		post(s);
		while (__atomic_load_n(&s->taken, __ATOMIC_SEQ_CST) <= i)
			sched_yield();
	}
}

static void test_interrupted(void **state)
{
	static struct scene s;
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t waiter;

	(void)state;
	CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	for (const struct sem_peer *p = sem_peers; p->name; p++) {
		if (!p->ops)
			continue;
		begin(&s, p);
		CHECK_EQ(pthread_create(&waiter, NULL, be_interrupted, &s), 0);
		interrupt_and_post(&s, waiter);
		CHECK_EQ(pthread_join(waiter, NULL), 0);
		end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens_stay),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
