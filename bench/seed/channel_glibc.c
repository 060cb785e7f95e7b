/* SPDX-License-Identifier: MIT */
/* A place for one number under a mutex, with a condition variable for either side. */
#include "channel.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct channel {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	int64_t value;
	bool full;
};

static void *create(void)
{
	struct channel *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->filled, NULL);
	pthread_cond_init(&c->emptied, NULL);
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

static void destroy(void *channel)
{
	struct channel *c = channel;

	pthread_cond_destroy(&c->filled);
	pthread_cond_destroy(&c->emptied);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

const struct channel_ops channel_glibc = {
	.name = "glibc",
	.create = create,
	.send = send,
	.receive = receive,
	.destroy = destroy,
};
