/* SPDX-License-Identifier: MIT */
#include "crowd.h"
#include "../common/clock.h"
#include "../common/place.h"
#include "quota.h"
#include "row.h"
#include "../common/spin_hint.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAIRS_MOST 32
#define CPUS_MOST  64

/* A run that takes longer than this has stalled. */
#define STALLED_S 120

struct arena;

struct player {
	_Alignas(128) struct sem_room turn; /* it may play */
	struct player *other;
	struct arena *arena;
	bool first; /* of its pair */
	int64_t begin_ns, end_ns;
	uint64_t result;
};

struct arena {
	const struct sem_ops *ops;
	uint64_t trips, steps;
	pthread_barrier_t start;
	int64_t cpu_ns; /* of the process, at the start */
	struct player players[2 * PAIRS_MOST];
};

static void play(struct player *p, uint64_t trips)
{
	const struct arena *a = p->arena;

	for (uint64_t i = 0; i < trips; i++) {
		if (!p->first)
			a->ops->wait(&p->turn);
		p->result = clock_work(p->result, a->steps);
		a->ops->post(&p->other->turn);
		if (p->first)
			a->ops->wait(&p->turn);
	}
}

static void *player(void *arg)
{
	struct player *p = arg;

	play(p, p->arena->trips / 10 + 1);
	if (pthread_barrier_wait(&p->arena->start) == PTHREAD_BARRIER_SERIAL_THREAD)
		p->arena->cpu_ns = clock_process_cpu_ns();
	p->begin_ns = clock_now_ns();
	play(p, p->arena->trips);
	p->end_ns = clock_now_ns();
	return NULL;
}

static void play_all(struct arena *a, unsigned players, struct crowd_cost *cost)
{
	pthread_t threads[2 * PAIRS_MOST];
	int64_t begin = INT64_MAX, end = 0;

	pthread_barrier_init(&a->start, NULL, players);
	for (unsigned i = 0; i < players; i++) {
		struct player *p = &a->players[i];

		p->arena = a;
		p->other = &a->players[i ^ 1];
		p->first = i % 2 == 0;
		a->ops->init(&p->turn);
	}
	for (unsigned i = 0; i < players; i++)
		if (pthread_create(&threads[i], NULL, player, &a->players[i]))
			give_up("cannot start a thread");
	for (unsigned i = 0; i < players; i++) {
		pthread_join(threads[i], NULL);
		begin = a->players[i].begin_ns < begin ? a->players[i].begin_ns : begin;
		end = a->players[i].end_ns > end ? a->players[i].end_ns : end;
	}
	cost->seconds = (double)(end - begin) / 1e9;
	cost->cpu_seconds = (double)(clock_process_cpu_ns() - a->cpu_ns) / 1e9;
}

static void stay_on(unsigned n)
{
	unsigned cpus[CPUS_MOST];
	unsigned usable = place_cpus(cpus, CPUS_MOST);

	if (usable > n)
		place_on(cpus, n);
}

_Noreturn static void be_crowd(const struct crowd *c, struct arena *a,
			       struct crowd_cost *cost)
{
	int r = c->group ? quota_join(c->group) : 0;

	if (r)
		give_up("cannot enter the control group %s: %s", c->group, strerror(-r));
	alarm(STALLED_S);
	play_all(a, 2 * c->pairs, cost);
	_exit(0);
}

/* Returns the child's pid, in the parent. The child dies with it. */
static pid_t start_child(unsigned cpus)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		give_up("cannot start a process: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILED); /* it died before the call above */
	stay_on(cpus);
	return 0;
}

static pid_t start_hog(unsigned cpus)
{
	pid_t pid = start_child(cpus);

	if (pid)
		return pid;
	for (;;)
		spin_hint();
}

static void end_child(pid_t pid, const char *name)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (WIFSIGNALED(status))
		give_up("%s: a run was ended by: %s", name, strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		_exit(EXIT_FAILED); /* it has said why */
}

void crowd_run(const struct crowd *c, const struct sem_ops *ops, uint64_t trips,
	       struct crowd_cost *cost)
{
	size_t size = sizeof(struct arena) + sizeof(*cost);
	struct arena *a =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t hog = c->hog ? start_hog(c->cpus) : 0, pid;
	struct crowd_cost *shared;

	if (a == MAP_FAILED)
		give_up("no memory");
	shared = (struct crowd_cost *)(void *)(a + 1);
	a->ops = ops;
	a->trips = trips;
	a->steps = c->steps;
	pid = start_child(c->cpus);
	if (!pid)
		be_crowd(c, a, shared);
	end_child(pid, ops->name);
	*cost = *shared;
	munmap(a, size);
	if (hog) {
		kill(hog, SIGKILL);
		waitpid(hog, NULL, 0);
	}
}
