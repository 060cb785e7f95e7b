/* SPDX-License-Identifier: MIT */
/*
 * Condition variables in memory that processes share, with a robust mutex: turns and queues,
 * deadlines, processes that are stopped, and processes that are killed. What the others may
 * expect then is in <ipcwait/cond.h>, "Death".
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/cond_word.h"
#include "process.h"
#include "region.h"

#define ROUNDS  5000
#define WAITERS 6
#define WORKERS 4
#define KILLS   150

/* In the region's ring, whose words are used for nothing else. */
struct room {
	struct ipcwait_cond c, d;
	uint32_t turn, items, stop;
	uint32_t released,
		dead; /* waits that have ended, and how many were told of a death */
	uint64_t work;
};

_Static_assert(sizeof(struct room) <= sizeof(((struct region *)0)->ring), "it has room");

static struct room *room_of(struct region *r)
{
	return (struct room *)(void *)r->ring;
}

static struct region *create(void)
{
	struct region *r = region_create();

	CHECK_EQ(ipcwait_mutex_init(&r->mutex, IPCWAIT_ROBUST), 0);
	return r;
}

/* @r is the result of what has got the mutex. */
static void own(struct region *r, int result)
{
	if (result == -EOWNERDEAD) {
		room_of(r)->dead++;
		(void)guarded_repair(&r->guarded);
		result = ipcwait_mutex_consistent(&r->mutex);
	}
	CHECK_EQ(result, 0);
}

static void lock(struct region *r)
{
	own(r, ipcwait_mutex_lock(&r->mutex));
}

static void unlock(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
}

static void take_turns(struct region *r, uint32_t me)
{
	struct room *room = room_of(r);

	for (int i = 0; i < ROUNDS; i++) {
		lock(r);
		while (room->turn != me)
			own(r, ipcwait_cond_wait(me ? &room->c : &room->d, &r->mutex));
		room->turn = !me;
		CHECK_EQ(ipcwait_cond_signal(me ? &room->d : &room->c), 0);
		unlock(r);
	}
}

static void take_the_other_turns(struct region *r)
{
	take_turns(r, 1);
}

static void ping_pong(void)
{
	struct region *r = create();
	pid_t child = region_fork(r, take_the_other_turns);

	take_turns(r, 0);
	region_join(child);
	CHECK_EQ(ipcwait_cond_fini(&room_of(r)->c), 0);
	CHECK_EQ(ipcwait_cond_fini(&room_of(r)->d), 0);
	region_destroy(r);
}

static void consume(struct region *r)
{
	struct room *room = room_of(r);

	for (int i = 0; i < ROUNDS; i++) {
		lock(r);
		while (!room->items)
			own(r, ipcwait_cond_wait(&room->c, &r->mutex));
		room->items--;
		unlock(r);
	}
}

static void queue(void)
{
	struct region *r = create();
	pid_t child[3];

	for (int i = 0; i < 3; i++)
		child[i] = region_fork(r, consume);
	for (int i = 0; i < 3 * ROUNDS; i++) {
		lock(r);
		room_of(r)->items++;
		unlock(r);
		CHECK_EQ(ipcwait_cond_signal(&room_of(r)->c), 0);
	}
	for (int i = 0; i < 3; i++)
		region_join(child[i]);
	CHECK_EQ(room_of(r)->items, 0);
	CHECK_EQ(ipcwait_cond_fini(&room_of(r)->c), 0);
	region_destroy(r);
}

static void wait_until_deadline(struct region *r)
{
	lock(r);
	r->result = ipcwait_cond_wait_until(&room_of(r)->c, &r->mutex, r->deadline_ns);
	CHECK(r->result == 0 || ipcwait_now_ns() >= r->deadline_ns);
	unlock(r);
}

static void deadlines(void)
{
	struct region *r = create();

	r->deadline_ns = ipcwait_deadline_in_ns(5000000);
	region_join(region_fork(r, wait_until_deadline));
	CHECK_EQ(r->result, -ETIMEDOUT);
	CHECK_EQ(cond_tickets(&room_of(r)->c), 0);
	CHECK_EQ(ipcwait_cond_fini(&room_of(r)->c), 0);
	region_destroy(r);
}

static void wait_once(struct region *r)
{
	lock(r);
	own(r, ipcwait_cond_wait(&room_of(r)->c, &r->mutex));
	room_of(r)->released++;
	unlock(r);
}

struct awaited {
	struct region *r;
	uint32_t n;
};

/* As many hold tickets: they sleep, or will at once. */
static bool asleep(void *arg)
{
	const struct awaited *a = arg;
	const struct ipcwait_cond *c = &room_of(a->r)->c;

	return cond_tickets(c) == a->n && !arrivals_spinner(cond_arrivals(c));
}

static void await_asleep(struct region *r, uint32_t n)
{
	struct awaited a = { r, n };

	CHECK(check_eventually(asleep, &a));
}

static bool have_been_released(void *arg)
{
	const struct awaited *a = arg;

	return __atomic_load_n(&room_of(a->r)->released, __ATOMIC_RELAXED) >= a->n;
}

static void await_released(struct region *r, uint32_t n)
{
	struct awaited a = { r, n };

	CHECK(check_eventually(have_been_released, &a));
}

/* One after the other, so that the first have the first tickets. */
static void start(struct region *r, pid_t *child)
{
	for (uint32_t i = 0; i < WAITERS; i++) {
		child[i] = region_fork(r, wait_once);
		await_asleep(r, i + 1);
	}
}

/* Each of the dead uses up one signal, and a broadcast reaches all others. */
static void killed_asleep(void)
{
	struct region *r = create();
	struct ipcwait_cond *c = &room_of(r)->c;
	pid_t child[WAITERS];

	start(r, child);
	region_kill(child[0]);
	region_kill(child[1]);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(ipcwait_cond_signal(c), 0);
	region_join(child[2]);
	CHECK_EQ(room_of(r)->released, 1);
	CHECK_EQ(ipcwait_cond_broadcast(c), 0);
	for (int i = 3; i < WAITERS; i++)
		region_join(child[i]);
	/* The dead never leave. */
	CHECK_EQ(ipcwait_cond_fini(c), -EBUSY);
	CHECK_EQ(ipcwait_cond_signal(c), 0);
	region_destroy(r);
}

/* A signal for a process that is stopped waits for it; others are not in its way. */
static void stopped(void)
{
	struct region *r = create();
	struct ipcwait_cond *c = &room_of(r)->c;
	pid_t child[WAITERS];

	start(r, child);
	process_stop(child[0]);
	for (int i = 1; i < WAITERS; i++)
		CHECK_EQ(ipcwait_cond_signal(c), 0);
	await_released(r, WAITERS - 2);
	CHECK_EQ(room_of(r)->released, WAITERS - 2);
	CHECK_EQ(ipcwait_cond_broadcast(c), 0);
	region_join(child[WAITERS - 1]);
	process_go_on(child[0]);
	for (int i = 0; i < WAITERS - 1; i++)
		region_join(child[i]);
	CHECK_EQ(ipcwait_cond_fini(c), 0);
	region_destroy(r);
}

static void die_with_the_mutex(struct region *r)
{
	lock(r);
	guarded_begin(&r->guarded);
	CHECK_EQ(ipcwait_cond_broadcast(&room_of(r)->c), 0);
	for (;;)
		(void)pause();
}

/* One of those who lock the mutex again is told. */
static void killed_with_the_mutex(void)
{
	struct region *r = create();
	pid_t child[WAITERS], owner;

	start(r, child);
	owner = region_fork(r, die_with_the_mutex);
	await_asleep(r, 0);
	region_kill(owner);
	for (int i = 0; i < WAITERS; i++)
		region_join(child[i]);
	CHECK_EQ(room_of(r)->dead, 1);
	CHECK_EQ(ipcwait_cond_fini(&room_of(r)->c), 0);
	region_destroy(r);
}

/* The next worker's. */
static uint64_t work_seed;

static pid_t start_worker(struct region *r, void (*work)(struct region *r))
{
	work_seed += 7919;
	return region_fork(r, work);
}

/* Everything that may be done with it, at random, until it is told to stop. */
static void work(struct region *r)
{
	struct room *room = room_of(r);
	uint64_t seed = work_seed;

	lock(r);
	while (!room->stop) {
		uint64_t x = check_random(&seed);
		int result = 0;

		guarded_begin(&r->guarded);
		room->work++;
		guarded_end(&r->guarded);
		if (x % 8 == 0)
			CHECK_EQ(ipcwait_cond_broadcast(&room->c), 0);
		else if (x % 8 < 4)
			CHECK_EQ(ipcwait_cond_signal(&room->c), 0);
		else if (x % 8 == 4)
			result = ipcwait_cond_wait(&room->c, &r->mutex);
		else
			result = ipcwait_cond_wait_until(
				&room->c, &r->mutex,
				ipcwait_deadline_in_ns((int64_t)(x >> 8) % 50000));
		if (result != -ETIMEDOUT)
			own(r, result);
	}
	unlock(r);
}

/* Whoever was released by a process that died before its wake, too. */
static bool have_ended(void *arg)
{
	struct awaited *a = arg;
	int status;

	CHECK_EQ(ipcwait_cond_broadcast(&room_of(a->r)->c), 0);
	while (a->n && waitpid(-1, &status, WNOHANG) > 0) {
		CHECK_EQ(status, 0);
		a->n--;
	}
	return a->n == 0;
}

static void killed_anywhere(void)
{
	struct region *r = create();
	struct awaited a = { r, WORKERS };
	uint64_t seed = check_seed();
	pid_t child[WORKERS];

	work_seed = check_random(&seed);
	for (int i = 0; i < WORKERS; i++)
		child[i] = start_worker(r, work);
	for (int i = 0; i < KILLS; i++) {
		unsigned victim = check_random(&seed) % WORKERS;

		(void)usleep(check_random(&seed) % 2000);
		/* Lest all of them wait without a deadline. */
		CHECK_EQ(ipcwait_cond_broadcast(&room_of(r)->c), 0);
		region_kill(child[victim]);
		child[victim] = start_worker(r, work);
	}
	lock(r);
	room_of(r)->stop = 1;
	unlock(r);
	CHECK(check_eventually(have_ended, &a));
	printf("%llu steps, %u deaths with the mutex\n",
	       (unsigned long long)room_of(r)->work, room_of(r)->dead);
	region_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(ping_pong),       CHILD_TEST(queue),
		CHILD_TEST(deadlines),       CHILD_TEST(killed_asleep),
		CHILD_TEST(stopped),         CHILD_TEST(killed_with_the_mutex),
		CHILD_TEST(killed_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
