/* SPDX-License-Identifier: MIT */
/*
 * pool WORKLOAD SECONDS: four threads whose jobs come through a pipe, one or sixteen at a time.
 * An operation is a job, there and back: its answer comes through another pipe.
 */
#include "meter.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#define THREADS 4
#define LAST    UINT64_MAX /* a job that ends who takes it */

struct way {
	const char *name;
	unsigned at_once;
	int (*take)(int epoll, uint64_t *job);
};

static int jobs[2], answers[2]; /* to read from, to write to */

static bool moved(ssize_t bytes)
{
	return bytes == (ssize_t)sizeof(uint64_t);
}

static int take_by_read(int epoll, uint64_t *job)
{
	(void)epoll;
	return moved(read(jobs[0], job, sizeof(*job))) ? 0 : -1;
}

/* The pipe does not block then: another thread may have been faster. */
static int take_by_epoll(int epoll, uint64_t *job)
{
	struct epoll_event event;

	for (;;) {
		if (epoll_wait(epoll, &event, 1, -1) < 0)
			return -1;
		if (moved(read(jobs[0], job, sizeof(*job))))
			return 0;
		if (errno != EAGAIN)
			return -1;
	}
}

static const struct way ways[] = {
	{ "pipe1", 1, take_by_read },
	{ "pipe16", 16, take_by_read },
	{ "epoll1", 1, take_by_epoll },
	{ "epoll16", 16, take_by_epoll },
};

static void give_up(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void put(int fd, uint64_t word)
{
	if (!moved(write(fd, &word, sizeof(word))))
		give_up("write");
}

static int watch_jobs(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	int epoll = epoll_create1(0);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, jobs[0], &event))
		give_up("epoll");
	return epoll;
}

static void *work(void *way)
{
	const struct way *w = way;
	int epoll = watch_jobs();
	uint64_t job;

	for (;;) {
		if (w->take(epoll, &job))
			give_up("take");
		if (job == LAST)
			break;
		put(answers[1], job);
	}
	close(epoll);
	return NULL;
}

static void take_answer(void)
{
	uint64_t answer;

	if (!moved(read(answers[0], &answer, sizeof(answer))))
		give_up("read");
}

/* So many jobs are out at any time; in the end all of them come back, and do not count. */
static void submit(const struct way *w, struct meter *m)
{
	uint64_t job = 0, out = 0;
	bool on = true;

	while (on || out) {
		while (on && out < w->at_once) {
			put(jobs[1], job++);
			out++;
		}
		take_answer();
		out--;
		on = on && meter_on(m);
	}
}

static int measure(const struct way *w, double seconds)
{
	pthread_t threads[THREADS];
	struct meter m;

	if (pipe(jobs) || pipe(answers))
		give_up("pipe");
	if (w->take == take_by_epoll && fcntl(jobs[0], F_SETFL, O_NONBLOCK))
		give_up("fcntl");
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)w))
			return EXIT_FAILURE;
	meter_start(&m, seconds, 16);
	submit(w, &m);
	for (unsigned i = 0; i < THREADS; i++)
		put(jobs[1], LAST);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return meter_show(m.operations, m.seconds);
}

int main(int argc, char **argv)
{
	double seconds = meter_seconds(argc, argv);

	for (size_t i = 0; seconds > 0 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			return measure(&ways[i], seconds);
	return meter_usage("pipe1, pipe16, epoll1, epoll16");
}
