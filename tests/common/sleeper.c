/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <time.h>

#include "common/check.h"
#include "common/sem_word.h"
#include "common/sleeper.h"

struct awaited {
	const struct ipcwait_sem *sem;
	unsigned sleepers;
};

static bool announced(void *arg)
{
	const struct awaited *awaited = arg;

	return word_sleepers(sem_word(awaited->sem)) == awaited->sleepers;
}

void sleeper_await(const struct ipcwait_sem *sem, unsigned n)
{
	struct awaited awaited = { sem, n };

	CHECK(check_eventually(announced, &awaited));
}

static void *wait_once(void *arg)
{
	struct sleeper *sleeper = arg;

	if (sleeper->deadline_ns == IPCWAIT_FOREVER)
		sleeper->result = ipcwait_sem_wait(sleeper->sem);
	else
		sleeper->result =
			ipcwait_sem_wait_until(sleeper->sem, sleeper->deadline_ns);
	__atomic_store_n(&sleeper->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

void sleeper_start(struct sleeper *sleeper, struct ipcwait_sem *sem, int64_t deadline_ns)
{
	sleeper->sem = sem;
	sleeper->deadline_ns = deadline_ns;
	sleeper->result = 0;
	sleeper->done = 0;
	CHECK(pthread_create(&sleeper->thread, NULL, wait_once, sleeper) == 0);
}

int sleeper_done(const struct sleeper *sleeper)
{
	return __atomic_load_n(&sleeper->done, __ATOMIC_ACQUIRE);
}

int sleeper_join(struct sleeper *sleeper)
{
	CHECK(pthread_join(sleeper->thread, NULL) == 0);
	return sleeper->result;
}

void sleeper_disturb(struct sleeper *sleeper, int signal, int most)
{
	const struct timespec pause = { 0, 500000 };

	for (int i = 0; i < most && !sleeper_done(sleeper); i++) {
		CHECK(pthread_kill(sleeper->thread, signal) == 0);
		(void)nanosleep(&pause, NULL);
	}
}
