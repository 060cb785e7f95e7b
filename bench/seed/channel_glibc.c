/* SPDX-License-Identifier: MIT */
/* A place for one number under a mutex, with a condition variable for either side. */
#include "channel.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

struct channel {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	int64_t value;
	bool full;
};

static void make(struct channel *c, int shared)
{
	pthread_mutexattr_t lock;
	pthread_condattr_t cond;

	pthread_mutexattr_init(&lock);
	pthread_condattr_init(&cond);
	pthread_mutexattr_setpshared(&lock, shared);
	pthread_condattr_setpshared(&cond, shared);
	pthread_mutex_init(&c->lock, &lock);
	pthread_cond_init(&c->filled, &cond);
	pthread_cond_init(&c->emptied, &cond);
	pthread_mutexattr_destroy(&lock);
	pthread_condattr_destroy(&cond);
}

static void *create(void)
{
	struct channel *c = calloc(1, sizeof(*c));

	if (c)
		make(c, PTHREAD_PROCESS_PRIVATE);
	return c;
}

static void *create_shared(void)
{
	struct channel *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (c == MAP_FAILED)
		return NULL;
	make(c, PTHREAD_PROCESS_SHARED);
	return c;
}

static void send(void *channel, int64_t value)
{
	struct channel *c = channel;

	pthread_mutex_lock(&c->lock);
	while (c->full)
		pthread_cond_wait(&c->emptied, &c->lock);
	c->value = value;
	c->full = true;
	pthread_cond_signal(&c->filled);
	pthread_mutex_unlock(&c->lock);
}

static int64_t receive(void *channel)
{
	struct channel *c = channel;
	int64_t value;

	pthread_mutex_lock(&c->lock);
	while (!c->full)
		pthread_cond_wait(&c->filled, &c->lock);
	value = c->value;
	c->full = false;
	pthread_cond_signal(&c->emptied);
	pthread_mutex_unlock(&c->lock);
	return value;
}

static void end(struct channel *c)
{
	pthread_cond_destroy(&c->filled);
	pthread_cond_destroy(&c->emptied);
	pthread_mutex_destroy(&c->lock);
}

static void destroy(void *channel)
{
	end(channel);
	free(channel);
}

static void destroy_shared(void *channel)
{
	end(channel);
	munmap(channel, sizeof(struct channel));
}

const struct channel_ops channel_glibc = {
	.name = "glibc",
	.create = create,
	.send = send,
	.receive = receive,
	.destroy = destroy,
};

const struct channel_ops channel_glibc_shared = {
	.name = "glibc",
	.create = create_shared,
	.send = send,
	.receive = receive,
	.destroy = destroy_shared,
};
