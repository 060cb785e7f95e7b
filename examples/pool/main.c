/* SPDX-License-Identifier: MIT */
/*
 * A worker pool: jobs in a ring under a mutex, a condition variable for workers, one for whoever
 * finds the ring full, and a latch for the end. Runs the same jobs with libipcwait's objects
 * and with the C library's, by turns, and says what a job took.
 *
 *	pool [WORKERS [JOBS [JOB_US]]]
 *
 * Each job spins for JOB_US; they come at such a rate that half of the workers would be enough if
 * each had a CPU. What is left is what handing over costs. Whoever posts jobs keeps a CPU busy too:
 * with more workers than there are other CPUs, what is measured is how long they wait for one.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#define RING         64u
#define WORKERS_MOST 256
#define ROUNDS       5

struct pool {
	bool ours; /* whose objects are used */
	struct ipcwait_mutex lock;
	struct ipcwait_cond filled, drained;
	struct ipcwait_latch left;
	pthread_mutex_t c_lock;
	pthread_cond_t c_filled, c_drained;
	/* under the lock */
	int64_t posted_ns[RING];
	unsigned head, tail;
	bool closed;
	int64_t late_ns; /* sum over all jobs of the time until a worker had it */
};

/* 0 workers: one for each CPU but that of whoever posts. */
static unsigned long workers, jobs = 50000, job_us = 10;
static double late_us[2]; /* of all jobs: glibc's, ours */

static void lock(struct pool *p)
{
	if (!p->ours)
		pthread_mutex_lock(&p->c_lock);
	else
		ipcwait_mutex_lock(&p->lock);
}

static void unlock(struct pool *p)
{
	if (p->ours)
		ipcwait_mutex_unlock(&p->lock);
	else
		pthread_mutex_unlock(&p->c_lock);
}

static void wait_on(struct pool *p, struct ipcwait_cond *ours, pthread_cond_t *theirs)
{
	if (!p->ours)
		pthread_cond_wait(theirs, &p->c_lock);
	else
		ipcwait_cond_wait(ours, &p->lock);
}

static void signal_one(struct pool *p, struct ipcwait_cond *ours, pthread_cond_t *theirs)
{
	if (p->ours)
		ipcwait_cond_signal(ours);
	else
		pthread_cond_signal(theirs);
}

static void spin_until(int64_t end_ns)
{
	while (ipcwait_now_ns() < end_ns)
		continue;
}

/* True if there was a job, false at the end. */
static bool take_job(struct pool *p)
{
	bool found;

	lock(p);
	while (p->head == p->tail && !p->closed)
		wait_on(p, &p->filled, &p->c_filled);
	found = p->head != p->tail;
	if (found) {
		p->late_ns += ipcwait_now_ns() - p->posted_ns[p->tail++ % RING];
		signal_one(p, &p->drained, &p->c_drained);
	}
	unlock(p);
	return found;
}

static void *work(void *arg)
{
	struct pool *p = arg;

	while (take_job(p))
		spin_until(ipcwait_now_ns() + (int64_t)job_us * 1000);
	ipcwait_latch_count_down(&p->left, 1);
	return NULL;
}

static void post_job(struct pool *p)
{
	lock(p);
	while (p->head - p->tail == RING)
		wait_on(p, &p->drained, &p->c_drained);
	p->posted_ns[p->head++ % RING] = ipcwait_now_ns();
	signal_one(p, &p->filled, &p->c_filled);
	unlock(p);
}

static void close_pool(struct pool *p)
{
	lock(p);
	p->closed = true;
	if (p->ours)
		ipcwait_cond_broadcast(&p->filled);
	else
		pthread_cond_broadcast(&p->c_filled);
	unlock(p);
}

/* All jobs through one pool. */
static void run(struct pool *p)
{
	int64_t period_ns = (int64_t)job_us * 2000 / (int64_t)workers;
	int64_t next_ns = ipcwait_now_ns();
	pthread_t threads[WORKERS_MOST];

	if (ipcwait_latch_init(&p->left, (uint32_t)workers, 0))
		abort();
	for (unsigned long i = 0; i < workers; i++)
		if (pthread_create(&threads[i], NULL, work, p))
			abort();
	for (unsigned long i = 0; i < jobs; i++) {
		spin_until(next_ns += period_ns);
		post_job(p);
	}
	close_pool(p);
	ipcwait_latch_wait(&p->left);
	for (unsigned long i = 0; i < workers; i++)
		pthread_join(threads[i], NULL);
}

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void measure(bool ours)
{
	struct pool p = { .ours = ours,
			  .c_lock = PTHREAD_MUTEX_INITIALIZER,
			  .c_filled = PTHREAD_COND_INITIALIZER,
			  .c_drained = PTHREAD_COND_INITIALIZER };
	int64_t begin_ns = ipcwait_now_ns();
	double cpu = cpu_seconds();

	run(&p);
	printf("%-10s %8.3f s %8.3f CPU-s   a job is taken up after %8.1f us on average\n",
	       ours ? "libipcwait" : "glibc", (double)(ipcwait_now_ns() - begin_ns) / 1e9,
	       cpu_seconds() - cpu, (double)p.late_ns / 1e3 / (double)jobs);
	late_us[ours] += (double)p.late_ns / 1e3;
}

static _Noreturn void usage(int status)
{
	fputs("usage: pool [WORKERS [JOBS [JOB_US]]], up to 256, 10000000 and 1000000\n",
	      status ? stderr : stdout);
	exit(status);
}

static unsigned long number(const char *text, unsigned long most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text >= '0' && *text <= '9' && !*end && n >= 1 && n <= most)
		return n;
	usage(2);
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (argc == 2 && !strcmp(argv[1], "--help"))
		usage(0);
	workers = cpus > 2 && cpus <= WORKERS_MOST ? (unsigned long)cpus - 1 : 1;
	if (argc > 1)
		workers = number(argv[1], WORKERS_MOST);
	if (argc > 2)
		jobs = number(argv[2], 10000000);
	if (argc > 3)
		job_us = number(argv[3], 1000000);
	for (int i = 0; i < ROUNDS; i++) {
		measure(i % 2);
		measure(!(i % 2));
	}
	printf("%lu workers, jobs of %lu us: with libipcwait a job is taken up %.1f times "
	       "as "
	       "fast\n",
	       workers, job_us, late_us[false] / late_us[true]);
	return 0;
}
