/* SPDX-License-Identifier: MIT */
/* A program without a race, whose orders are a barrier, a semaphore and a condition variable. */
#include <pthread.h>
#include <semaphore.h>

static pthread_barrier_t b;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t s;
static int data, ready, more;

static void *other(void *arg)
{
	for (int i = 0; i < 20; i++) {
		pthread_barrier_wait(&b);
		data = i;
		pthread_barrier_wait(&b);
		sem_wait(&s);
		more = i;
		pthread_mutex_lock(&m);
		ready = 1;
		pthread_cond_signal(&c);
		pthread_mutex_unlock(&m);
	}
	return arg;
}

int main(void)
{
	pthread_t t;
	int wrong = 0;

	pthread_barrier_init(&b, NULL, 2);
	sem_init(&s, 0, 0);
	pthread_create(&t, NULL, other, NULL);
	for (int i = 0; i < 20; i++) {
		pthread_barrier_wait(&b);
		pthread_barrier_wait(&b);
		wrong |= data != i;
		more = -1;
		sem_post(&s);
		pthread_mutex_lock(&m);
		while (!ready)
			pthread_cond_wait(&c, &m);
		ready = 0;
		pthread_mutex_unlock(&m);
		wrong |= more != i;
	}
	pthread_join(t, NULL);
	return wrong;
}
