/* SPDX-License-Identifier: MIT */
/*
 * What a hand-off and an uncontended operation take in this process, in ns: once around between
 * two threads over two semaphores, and a mutex that nobody else wants. `python3 bench/page` runs
 * it with and without a statistics page.
 */
#include <ipcwait/ipcwait.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#define SLICE_NS INT64_C(300000000)
#define BATCH    10000

static struct ipcwait_sem ping, pong;
static struct ipcwait_mutex mutex;
static int done;

static void *answer(void *unused)
{
	(void)unused;
	for (;;) {
		ipcwait_sem_wait(&ping);
		if (done)
			return NULL;
		ipcwait_sem_post(&pong);
	}
}

static void around(void)
{
	for (int i = 0; i < BATCH; i++) {
		ipcwait_sem_post(&ping);
		ipcwait_sem_wait(&pong);
	}
}

static void alone(void)
{
	for (int i = 0; i < BATCH; i++) {
		ipcwait_mutex_lock(&mutex);
		ipcwait_mutex_unlock(&mutex);
	}
}

/* ns for one of a batch, after a batch that warms up. */
static double measure(void (*batch)(void))
{
	int64_t begin, now;
	uint64_t n = 0;

	batch();
	begin = now = ipcwait_now_ns();
	for (; now - begin < SLICE_NS; now = ipcwait_now_ns()) {
		batch();
		n += BATCH;
	}
	return (double)(now - begin) / (double)n;
}

int main(void)
{
	pthread_t thread;
	double handoff, uncontended;

	if (ipcwait_sem_init(&ping, 0, 0) || ipcwait_sem_init(&pong, 0, 0) ||
	    ipcwait_mutex_init(&mutex, 0) || pthread_create(&thread, NULL, answer, NULL))
		return 1;
	handoff = measure(around);
	uncontended = measure(alone);
	done = 1;
	ipcwait_sem_post(&ping);
	pthread_join(thread, NULL);
	printf("%.2f %.3f\n", handoff, uncontended);
	return 0;
}
