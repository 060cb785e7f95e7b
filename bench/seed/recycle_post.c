/* SPDX-License-Identifier: MIT */
/*
 * Tokens of a semaphore, posted in batches by one thread and waited for one by one by another:
 * one call for the whole batch where there is one, else a call for each.
 */
#include "figures.h"
#include "part.h"
#include "recycle.h"
#include "../../tools/common/complain.h"
#include "../peers/sem_peer.h"

#include <ipcwait/sem.h>
#include <pthread.h>
#include <string.h>

struct sem_kind {
	const char *name;
	const struct sem_ops *ops;
	void (*post_n)(void *sem, uint32_t n); /* NULL: a post for each token */
};

static struct sem_room sem;

static void ipcwait_post_n(void *s, uint32_t n)
{
	if (ipcwait_sem_post_n(s, n))
		give_up("ipcwait_sem_post_n() failed");
}

static const struct sem_kind kinds[] = {
	{ "glibc", &sem_glibc, NULL },
	{ "ipcwait_post_n", &sem_adaptive, ipcwait_post_n },
	{ "ipcwait_post", &sem_adaptive, NULL },
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct sem_kind *find(const char *name)
{
	for (unsigned i = 0; i < N_KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

struct job {
	const struct recycle *plan;
	const struct sem_kind *kind;
};

static void post(const struct sem_kind *kind, uint32_t n)
{
	if (kind->post_n) {
		kind->post_n(&sem, n);
		return;
	}
	while (n--)
		kind->ops->post(&sem);
}

static void *post_all(void *arg)
{
	const struct job *job = arg;
	uint64_t left = job->plan->items;

	part(1);
	while (left) {
		uint64_t n = left < job->plan->give ? left : job->plan->give;

		post(job->kind, (uint32_t)n);
		left -= n;
	}
	return NULL;
}

int recycle_post(const struct recycle *r, struct json *j)
{
	struct job job = { r, find(r->how) };
	struct figures f;
	pthread_t poster;

	job.kind->ops->init(&sem);
	part(0);
	figures_begin(&f);
	if (pthread_create(&poster, NULL, post_all, &job))
		give_up("cannot make a thread");
	for (uint64_t i = 0; i < r->items; i++)
		job.kind->ops->wait(&sem);
	pthread_join(poster, NULL);
	figures_end(&f, j);
	if (job.kind->ops->end)
		job.kind->ops->end(&sem);
	return 0;
}

void recycle_post_list(void)
{
	for (unsigned i = 0; i < N_KINDS; i++)
		printf("post\t%s\t\n", kinds[i].name);
}

const char *recycle_post_refuses(const char *how)
{
	return find(how) ? NULL : "there is no such semaphore, see --list";
}
