/* SPDX-License-Identifier: MIT */
/* Every condition variable that is there: turns are taken, and a broadcast reaches everybody. */
#include "bench/peers/peers.h"
#include "common/cmocka_all.h"
#include "peers_test.h"

#include <string.h>

#define ROUNDS  500
#define WAITERS 4

struct scene {
	struct cond_room room;
	const struct cond_ops *ops;
	unsigned roles;
	/* under the lock */
	int turn;
	int here; /* waiters of the round */
	int round;
	int passed; /* rounds, of all waiters */
};

static void begin(struct scene *s, const struct cond_peer *p)
{
	now_testing(p->name);
	*s = (struct scene){ .ops = p->ops };
	memset(&s->room, 0xa5, sizeof(s->room));
	s->ops->init(&s->room);
}

static void end(struct scene *s)
{
	if (s->ops->end)
		s->ops->end(&s->room);
	check_watchdog(0);
}

static void *take_turns(void *arg)
{
	struct scene *s = arg;
	int own = (int)__atomic_fetch_add(&s->roles, 1, __ATOMIC_RELAXED);

	for (int i = 0; i < ROUNDS; i++) {
		s->ops->lock(&s->room);
		while (s->turn != own)
			s->ops->wait(&s->room, own);
		s->turn = !own;
		s->passed++;
		s->ops->signal(&s->room, !own);
		s->ops->unlock(&s->room);
	}
	return NULL;
}

static void test_ping_pong(void **state)
{
	static struct scene s;

	(void)state;
	for (const struct cond_peer *p = cond_peers; p->name; p++) {
		if (!p->ops)
			continue;
		begin(&s, p);
		in_threads(2, take_turns, &s);
		CHECK_EQ(s.passed, 2 * ROUNDS);
		end(&s);
	}
}

/* Condition 0 is the next round, condition 1 that all waiters are here. */
static void wait_for_rounds(struct scene *s)
{
	for (int i = 0; i < ROUNDS; i++) {
		s->ops->lock(&s->room);
		if (++s->here == WAITERS)
			s->ops->signal(&s->room, 1);
		while (s->round == i)
			s->ops->wait(&s->room, 0);
		s->passed++;
		s->ops->unlock(&s->room);
	}
}

static void call_rounds(struct scene *s)
{
	for (int i = 0; i < ROUNDS; i++) {
		s->ops->lock(&s->room);
		while (s->here < WAITERS)
			s->ops->wait(&s->room, 1);
		CHECK_EQ(s->passed, i * WAITERS);
		s->here = 0;
		s->round = i + 1;
		s->ops->broadcast(&s->room, 0);
		s->ops->unlock(&s->room);
	}
}

static void *call_or_wait(void *arg)
{
	struct scene *s = arg;

	if (__atomic_fetch_add(&s->roles, 1, __ATOMIC_RELAXED) == 0)
		call_rounds(s);
	else
		wait_for_rounds(s);
	return NULL;
}

static void test_broadcast(void **state)
{
	static struct scene s;

	(void)state;
	for (const struct cond_peer *p = cond_peers; p->name; p++) {
		if (!p->ops)
			continue;
		begin(&s, p);
		in_threads(1 + WAITERS, call_or_wait, &s);
		CHECK_EQ(s.passed, ROUNDS * WAITERS);
		end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ping_pong),
		cmocka_unit_test(test_broadcast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
