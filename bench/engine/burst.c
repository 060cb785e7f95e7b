/* SPDX-License-Identifier: MIT */
#include "burst.h"
#include "../common/clock.h"
#include "../../tools/common/place.h"
#include "../../tools/common/spin_hint.h"
#include "child.h"
#include "row.h"

#include <ipcwait/policy.h>

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MOST 32
#define HOGS_MOST  64
#define CPUS_MOST  1024

/* A run that takes longer than this has stalled. */
#define STALLED_S 120

/* Busy processes are at work for so long before anything begins. */
#define SETTLED_NS 50000000

struct arena;

/* Between two phases, and before the first. */
struct mark {
	int64_t at_ns, cpu_ns;
};

struct player {
	_Alignas(128) struct sem_room turn; /* it may play */
	_Alignas(128) uint64_t turns;       /* that it has had */
	struct mark marks[BURST_PHASES_MOST + 1];
	uint64_t steps; /* of the phase */
	uint64_t result;
	struct player *other;
	struct arena *arena;
	bool first; /* of its pair */
};

struct arena {
	const struct burst *burst;
	const struct turn *turn;
	pthread_barrier_t start;
	unsigned cpus[CPUS_MOST];
	unsigned n_cpus;
	struct burst_result result;
	struct player players[2 * PAIRS_MOST];
};

static void work(struct player *p)
{
	p->result = clock_work(p->result, p->steps);
}

/* Work, and then the other's turn. */
static void lead(struct player *p)
{
	work(p);
	p->arena->turn->ops->post(&p->other->turn);
	p->arena->turn->ops->wait(&p->turn);
}

/* A piece of work for the other, as much beside it, and as much when it is done. */
static void produce(struct player *p)
{
	p->arena->turn->ops->post(&p->other->turn);
	work(p);
	p->arena->turn->ops->wait(&p->turn);
	work(p);
}

static void follow(struct player *p)
{
	p->arena->turn->ops->wait(&p->turn);
	work(p);
	p->arena->turn->ops->post(&p->other->turn);
}

static unsigned phases_of(const struct burst *b)
{
	unsigned n = 1;

	while (n < BURST_PHASES_MOST && b->phases[n].turns)
		n++;
	return n;
}

static void play_phase(struct player *p, const struct burst_phase *phase)
{
	const struct burst *b = p->arena->burst;
	uint64_t most = phase->turns ? p->turns + phase->turns : UINT64_MAX;
	void (*turn)(struct player *) = !p->first ? follow : b->items ? produce : lead;

	p->steps = phase->steps;
	while (p->turns < most) {
		turn(p);
		__atomic_store_n(&p->turns, p->turns + 1, __ATOMIC_RELAXED);
	}
}

static void mark(struct mark *m)
{
	m->at_ns = clock_now_ns();
	m->cpu_ns = clock_thread_cpu_ns();
}

static void play(struct player *p)
{
	const struct burst *b = p->arena->burst;
	unsigned phases = phases_of(b);

	mark(&p->marks[0]);
	for (unsigned i = 0; i < phases; i++) {
		play_phase(p, &b->phases[i]);
		mark(&p->marks[i + 1]);
	}
}

static void join(struct player *p)
{
	void (*join_turn)(void *room, bool waits) = p->arena->turn->join;

	if (!join_turn)
		return;
	join_turn(&p->turn, true);
	join_turn(&p->other->turn, false);
}

static void *player(void *arg)
{
	struct player *p = arg;

	join(p);
	pthread_barrier_wait(&p->arena->start);
	if (p->arena->burst->one_cpu && !p->arena->burst->stays)
		place_on(p->arena->cpus, p->arena->n_cpus);
	play(p);
	return NULL;
}

static pid_t start_process(struct player *p)
{
	pid_t pid = child_start();

	if (pid)
		return pid;
	player(p);
	_exit(0);
}

struct team {
	pthread_t threads[2 * PAIRS_MOST];
	pid_t pids[2 * PAIRS_MOST];
	unsigned n;
};

static void start(struct team *team, struct arena *a)
{
	team->n = 2 * a->burst->pairs;
	for (unsigned i = 0; i < team->n; i++) {
		struct player *p = &a->players[i];

		p->arena = a;
		p->other = &a->players[i ^ 1];
		p->first = i % 2 == 0;
		a->turn->ops->init(&p->turn);
	}
	for (unsigned i = 0; i < team->n; i++)
		if (a->burst->processes)
			team->pids[i] = start_process(&a->players[i]);
		else if (pthread_create(&team->threads[i], NULL, player, &a->players[i]))
			give_up("cannot start a thread");
}

static void add_costs(const struct player *p, unsigned phases, struct burst_result *result)
{
	for (unsigned i = 0; i < phases; i++) {
		const struct mark *m = &p->marks[i];
		struct burst_cost *cost = &result->phases[i];
		double seconds = (double)(m[1].at_ns - m[0].at_ns) / 1e9;

		cost->seconds = seconds > cost->seconds ? seconds : cost->seconds;
		cost->cpu_seconds += (double)(m[1].cpu_ns - m[0].cpu_ns) / 1e9;
	}
}

/* Until all have had their turns. */
static void finish(struct team *team, struct arena *a)
{
	int64_t begin = INT64_MAX, end = 0;
	unsigned phases = phases_of(a->burst);

	for (unsigned i = 0; i < team->n; i++) {
		const struct player *p = &a->players[i];

		if (a->burst->processes)
			child_end(team->pids[i], a->turn->ops->name);
		else
			pthread_join(team->threads[i], NULL);
		begin = p->marks[0].at_ns < begin ? p->marks[0].at_ns : begin;
		end = p->marks[phases].at_ns > end ? p->marks[phases].at_ns : end;
		add_costs(p, phases, &a->result);
	}
	a->result.seconds = (double)(end - begin) / 1e9;
}

static void sleep_until(int64_t ns)
{
	const struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		continue;
}

/* Until the time is over. Threads end with their process. */
static void stop(struct team *team, struct arena *a, int64_t begin_ns)
{
	sleep_until(begin_ns + a->burst->window_ns);
	a->result.seconds = (double)(clock_now_ns() - begin_ns) / 1e9;
	for (unsigned i = 0; i < team->n; i++)
		a->result.hand_offs +=
			(double)__atomic_load_n(&a->players[i].turns, __ATOMIC_RELAXED);
	if (a->burst->processes)
		child_kill(team->pids, team->n);
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static double cpu_seconds(int who)
{
	struct rusage u;

	if (getrusage(who, &u))
		return 0;
	return seconds(&u.ru_utime) + seconds(&u.ru_stime);
}

_Noreturn static void be_burst(struct arena *a)
{
	struct team team;
	int64_t begin_ns;

	alarm(STALLED_S);
	if (a->burst->moves &&
	    ipcwait_policy_set_default(&(struct ipcwait_policy){ .place = 1 }))
		give_up("cannot set the policy");
	if (a->burst->one_cpu)
		place_on(a->cpus, 1);
	if (a->burst->nice && nice(a->burst->nice) == -1)
		give_up("cannot be nicer");
	start(&team, a);
	pthread_barrier_wait(&a->start);
	begin_ns = clock_now_ns();
	if (a->burst->phases[0].turns)
		finish(&team, a);
	else
		stop(&team, a, begin_ns);
	a->result.cpu_seconds =
		cpu_seconds(a->burst->processes ? RUSAGE_CHILDREN : RUSAGE_SELF);
	_exit(0);
}

static void make_barrier(struct arena *a)
{
	pthread_barrierattr_t shared;

	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&a->start, &shared, 2 * a->burst->pairs + 1);
	pthread_barrierattr_destroy(&shared);
}

/* More than one are spread over the CPUs. */
static void start_hogs(const struct arena *a, pid_t hogs[HOGS_MOST])
{
	for (unsigned i = 0; i < a->burst->hogs; i++) {
		hogs[i] = child_start();
		if (hogs[i])
			continue;
		if (a->burst->hogs > 1)
			place_on(&a->cpus[i % a->n_cpus], 1);
		for (;;)
			spin_hint();
	}
	if (a->burst->hogs)
		sleep_until(clock_now_ns() + SETTLED_NS);
}

static struct arena *make_arena(const struct burst *b, const struct turn *turn)
{
	struct arena *a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned usable;

	if (a == MAP_FAILED)
		give_up("no memory");
	a->burst = b;
	a->turn = turn;
	usable = place_cpus(a->cpus, CPUS_MOST);
	a->n_cpus = usable < CPUS_MOST ? usable : CPUS_MOST;
	make_barrier(a);
	return a;
}

void burst_run(const struct burst *b, const struct turn *turn, struct burst_result *result)
{
	struct arena *a = make_arena(b, turn);
	pid_t hogs[HOGS_MOST], pid;

	start_hogs(a, hogs);
	pid = child_start();
	if (!pid)
		be_burst(a);
	child_end(pid, turn->ops->name);
	*result = a->result;
	child_kill(hogs, b->hogs);
	munmap(a, sizeof(*a));
}
