/* SPDX-License-Identifier: MIT */
/*
 * event_stress private|shared SECONDS: threads that give up, and are interrupted, beside others
 * that do not. All that was changed or put there has to be noticed in the end.
 * IW_STRESS_SECONDS and IW_TEST_SEED in the environment: as for sem_stress.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"

#define WAITERS 5
#define MAKERS  3

/* Between two looks whether all has arrived. */
#define BATCH 200

static struct ipcwait_event event;     /* resets itself */
static struct ipcwait_eventcount made; /* of items */
static uint64_t items, taken;          /* of the event count */
static uint64_t changes, noticed;      /* of the event */
static uint64_t begun;                 /* as many as there will be of either */
static bool over;
static uint64_t seed;
static pthread_t waiters[WAITERS];

static uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static bool is_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_RELAXED);
}

/* Every other thread is patient. */
static int64_t deadline(uintptr_t me, uint64_t *random)
{
	return me % 2 ? IPCWAIT_FOREVER
		      : ipcwait_deadline_in_ns((int64_t)(check_random(random) % 200000));
}

static bool take_item(void)
{
	uint64_t n = load(&items);

	while (n)
		if (__atomic_compare_exchange_n(&items, &n, n - 1, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

static void check_result(int r)
{
	CHECK(r == 0 || r == -ETIMEDOUT);
}

static void wait_for_item(uintptr_t me, uint64_t *random)
{
	uint64_t key = ipcwait_eventcount_prepare(&made);

	if (take_item()) {
		ipcwait_eventcount_cancel(&made);
		__atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
	} else if (!is_over()) {
		check_result(ipcwait_eventcount_commit(&made, key, deadline(me, random)));
	}
}

static void notice(uint64_t n)
{
	uint64_t was = load(&noticed);

	while (was < n && !__atomic_compare_exchange_n(&noticed, &was, n, false,
						       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

/* Whoever is let through notices all changes, and passes the signal on in the end. */
static void wait_for_change(uintptr_t me, uint64_t *random)
{
	int r = ipcwait_event_wait_until(&event, deadline(me, random));

	check_result(r);
	if (r == 0)
		notice(load(&changes));
	if (r == 0 && is_over())
		CHECK_EQ(ipcwait_event_set(&event), 0);
}

static void *wait_often(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	uint64_t random = seed + me;

	while (!is_over()) {
		if (me < 2)
			wait_for_change(me, &random);
		else
			wait_for_item(me, &random);
	}
	return NULL;
}

static void *make(void *arg)
{
	(void)arg;
	for (int i = 0; i < BATCH; i++) {
		__atomic_fetch_add(&changes, 1, __ATOMIC_RELAXED);
		CHECK_EQ(ipcwait_event_set(&event), 0);
		__atomic_fetch_add(&items, 1, __ATOMIC_RELAXED);
		CHECK_EQ(ipcwait_eventcount_notify(&made, 1), 0);
	}
	return NULL;
}

static bool all_arrived(void *arg)
{
	(void)arg;
	return load(&taken) == begun && load(&noticed) == begun;
}

static void run_batch(void)
{
	pthread_t makers[MAKERS];

	begun += (uint64_t)MAKERS * BATCH;
	for (int i = 0; i < MAKERS; i++)
		CHECK_EQ(pthread_create(&makers[i], NULL, make, NULL), 0);
	for (int i = 0; i < WAITERS; i++)
		CHECK_EQ(pthread_kill(waiters[i], SIGUSR1), 0);
	for (int i = 0; i < MAKERS; i++)
		CHECK_EQ(pthread_join(makers[i], NULL), 0);
	if (!check_eventually(all_arrived, NULL))
		check_failed(__FILE__, __LINE__, "somebody sleeps beside it: lost wake-up");
}

static void on_signal(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	const char *seconds = getenv("IW_STRESS_SECONDS");
	struct sigaction action = { .sa_handler = on_signal };
	unsigned flags = argc == 3 && strcmp(argv[1], "private") == 0 ? IPCWAIT_PRIVATE : 0;
	int64_t end_ns;

	if (argc != 3 || (!flags && strcmp(argv[1], "shared") != 0)) {
		fputs("usage: event_stress private|shared SECONDS\n", stderr);
		return 2;
	}
	seed = check_seed();
	check_watchdog((unsigned)atoi(seconds ? seconds : argv[2]) + 40);
	end_ns = ipcwait_deadline_in_ns(atoi(seconds ? seconds : argv[2]) *
					INT64_C(1000000000));
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK_EQ(ipcwait_event_init(&event, flags | IPCWAIT_AUTO_RESET), 0);
	CHECK_EQ(ipcwait_eventcount_init(&made, flags), 0);
	for (uintptr_t i = 0; i < WAITERS; i++)
		CHECK_EQ(pthread_create(&waiters[i], NULL, wait_often, (void *)i), 0);
	while (ipcwait_now_ns() < end_ns)
		run_batch();
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	CHECK_EQ(ipcwait_event_set(&event), 0);
	CHECK_EQ(ipcwait_eventcount_notify_all(&made), 0);
	for (int i = 0; i < WAITERS; i++)
		CHECK_EQ(pthread_join(waiters[i], NULL), 0);
	CHECK_EQ(ipcwait_event_fini(&event), 0);
	CHECK_EQ(ipcwait_eventcount_fini(&made), 0);
	printf("%" PRIu64 " items and changes\n", begun);
	return 0;
}
