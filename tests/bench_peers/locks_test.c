/* SPDX-License-Identifier: MIT */
/* Every lock that is there: four threads count under it, and no count is lost. */
#include "bench/common/clock.h"
#include "bench/peers/peers.h"
#include "common/cmocka_all.h"
#include "peers_test.h"

#include <string.h>

struct scene {
	struct lock_room lock;
	const struct lock_ops *ops;
	int64_t until_ns;
	uint64_t counted; /* under the lock */
	uint64_t rounds;  /* of all threads that have ended */
};

/* In two accesses, so that a second thread inside would be seen. */
static void count(struct scene *s)
{
	uint64_t n = __atomic_load_n(&s->counted, __ATOMIC_RELAXED);

	__atomic_store_n(&s->counted, n + 1, __ATOMIC_RELAXED);
}

/* For a time and not a number: a lock in a queue may cost a time slice for each turn. */
static void *count_for_a_while(void *arg)
{
	struct scene *s = arg;
	struct lock_hold hold = { 0 };
	uint64_t n = 0;

	do {
		s->ops->lock(&s->lock, &hold);
		count(s);
		s->ops->unlock(&s->lock, &hold);
		n++;
	} while (clock_now_ns() < s->until_ns);
	__atomic_fetch_add(&s->rounds, n, __ATOMIC_RELAXED);
	return NULL;
}

static void check_exclusion(const struct lock_peer *p)
{
	static struct scene s;

	now_testing(p->name);
	s = (struct scene){ .ops = p->ops };
	memset(&s.lock, 0xa5, sizeof(s.lock));
	s.ops->init(&s.lock);
	s.until_ns = clock_now_ns() + 100 * 1000 * 1000;
	in_threads(4, count_for_a_while, &s);
	CHECK_EQ(s.counted, s.rounds);
	CHECK(s.rounds >= 4);
	if (s.ops->end)
		s.ops->end(&s.lock);
}

static void test_exclusion(void **state)
{
	(void)state;
	for (const struct lock_peer *p = lock_peers; p->name; p++)
		if (p->ops)
			check_exclusion(p);
	for (const struct lock_peer *p = token_peers; p->name; p++)
		check_exclusion(p);
	check_watchdog(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exclusion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
