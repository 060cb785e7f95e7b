/* SPDX-License-Identifier: MIT */
/* The fragment drains until another thread closes. */
#include <ipcwait/spsc.h>

#include "job.h"

#include <pthread.h>
#include <unistd.h>

static void *closer(void *jobs)
{
	usleep(20000);
	ipcwait_spsc_close(jobs);
	return NULL;
}

/* The queue has no other name than the fragment's: the closer is started by the first pop. */
static int pop_beside_closer(struct ipcwait_spsc *jobs, struct job *job, pthread_t *t)
{
	if (!*t)
		pthread_create(t, NULL, closer, jobs);
	return ipcwait_spsc_pop(jobs, job);
}
#define ipcwait_spsc_pop(jobs, job) pop_beside_closer(jobs, job, &t)

int main(void)
{
	struct job job = { 7 };
	pthread_t t = 0;

	/* @BLOCK@ */

	pthread_join(t, NULL);
	if (r || worked != 7)
		return 1;
	ipcwait_spsc_destroy(jobs);
	return 0;
}
