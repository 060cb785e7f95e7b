/* SPDX-License-Identifier: MIT */
/* The fragment waits until another thread has put something in. */
#include <ipcwait/cond.h>
#include <ipcwait/mutex.h>

#include <pthread.h>
#include <stdbool.h>

static struct ipcwait_mutex lock;
static struct ipcwait_cond filled;
static int length, taken;

static bool queue_is_empty(void)
{
	return length == 0;
}

static void take_from_queue(void)
{
	length--;
	taken++;
}

static void *consumer(void *arg)
{
	/* @BLOCK@ */
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, consumer, NULL);
	ipcwait_mutex_lock(&lock);
	length = 1;
	ipcwait_cond_signal(&filled);
	ipcwait_mutex_unlock(&lock);
	pthread_join(t, NULL);
	return !(taken == 1 && length == 0);
}
