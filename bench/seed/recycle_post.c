/* SPDX-License-Identifier: MIT */
/*
 * Tokens of a semaphore, posted in batches by one thread and waited for one by one by another:
 * one call for the whole batch where there is one, else a call for each.
 */
#include "figures.h"
#include "part.h"
#include "recycle.h"
#include "../common/complain.h"

#include <errno.h>
#include <ipcwait/sem.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

struct sem_kind {
	const char *name;
	void (*post)(uint32_t n);
	void (*wait)(void);
};

static sem_t glibc_sem;
static struct ipcwait_sem ipcwait_sem;

static void glibc_post(uint32_t n)
{
	while (n--)
		if (sem_post(&glibc_sem))
			give_up("sem_post() failed");
}

static void glibc_wait(void)
{
	while (sem_wait(&glibc_sem))
		if (errno != EINTR)
			give_up("sem_wait() failed");
}

static void ipcwait_post_batch(uint32_t n)
{
	if (ipcwait_sem_post_n(&ipcwait_sem, n))
		give_up("ipcwait_sem_post_n() failed");
}

static void ipcwait_post_single(uint32_t n)
{
	while (n--)
		if (ipcwait_sem_post(&ipcwait_sem))
			give_up("ipcwait_sem_post() failed");
}

static void ipcwait_wait_one(void)
{
	int r;

	do
		r = ipcwait_sem_wait(&ipcwait_sem);
	while (r == -EINTR);
	if (r)
		give_up("ipcwait_sem_wait() returned %d", r);
}

static const struct sem_kind kinds[] = {
	{ "glibc", glibc_post, glibc_wait },
	{ "ipcwait_post_n", ipcwait_post_batch, ipcwait_wait_one },
	{ "ipcwait_post", ipcwait_post_single, ipcwait_wait_one },
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

static void *post_all(void *arg)
{
	const struct job *job = arg;
	uint64_t left = job->plan->items;

	part(1);
	while (left) {
		uint64_t n = left < job->plan->give ? left : job->plan->give;

		job->kind->post((uint32_t)n);
		left -= n;
	}
	return NULL;
}

int recycle_post(const struct recycle *r, struct json *j)
{
	struct job job = { r, find(r->how) };
	struct figures f;
	pthread_t poster;

	if (sem_init(&glibc_sem, 0, 0) ||
	    ipcwait_sem_init(&ipcwait_sem, 0, IPCWAIT_PRIVATE))
		give_up("cannot make a semaphore");
	part(0);
	figures_begin(&f);
	if (pthread_create(&poster, NULL, post_all, &job))
		give_up("cannot make a thread");
	for (uint64_t i = 0; i < r->items; i++)
		job.kind->wait();
	pthread_join(poster, NULL);
	figures_end(&f, j);
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
