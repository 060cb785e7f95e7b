/* SPDX-License-Identifier: MIT */
/*
 * pairs: processes in pairs hand 8 bytes to and fro through descriptors. One line of JSON: round
 * trips, CPU time of the processes and of the machine, and with --pause-us what a write takes to
 * end the other's wait. docs/benchmarks/descriptors.md tells what is asked of it.
 */
#include "pairs.h"

#include "../common/clock.h"
#include "../common/quantile.h"
#include "../common/raw_futex.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/place.h"
#include "../../tools/common/spin_hint.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPUS_MOST   1024
#define PHASES_MOST 3
#define WARM_S      0.1 /* before what is measured, but no longer than that */

const char program_name[] = "pairs";

static pid_t children[2 * PAIRS_MOST];
static pid_t hogs[CPUS_MOST];

/* At one moment, since some other. */
struct reading {
	int64_t at_ns;
	double cpu_s[2]; /* of those that begin a turn, and of those that answer */
	double machine_s;
	uint64_t turns[PAIRS_MOST], samples[PAIRS_MOST];
};

/*
 * CPU seconds of the machine that were not idle, from some moment on. By the clock: idle time is
 * measured, but a CPU that works less than a tick at a time is seldom seen by one. NAN: unknown.
 */
static double machine_cpu_s(void)
{
	unsigned long long idle, waiting;
	double cpus = 0, now_s;
	char line[512];
	FILE *f = fopen("/proc/stat", "re");

	if (!f)
		return NAN;
	now_s = (double)clock_now_ns() / 1e9;
	if (fscanf(f, "cpu %*u %*u %*u %llu %llu", &idle, &waiting) != 2)
		cpus = NAN;
	while (fgets(line, sizeof(line), f))
		cpus += strncmp(line, "cpu", 3) == 0;
	(void)fclose(f);
	return cpus > 0 ? cpus * now_s -
				  (double)(idle + waiting) / (double)sysconf(_SC_CLK_TCK)
			: NAN;
}

/* CPU seconds of that @end of all pairs. Not getrusage(2): they are still running. */
static double ends_cpu_s(const struct options *o, unsigned end)
{
	double sum = 0;

	for (unsigned i = end; i < 2 * o->pairs; i += 2) {
		struct timespec t;
		clockid_t clock;

		if (clock_getcpuclockid(children[i], &clock) || clock_gettime(clock, &t))
			give_up("cannot read the CPU time of a process");
		sum += (double)t.tv_sec + (double)t.tv_nsec / 1e9;
	}
	return sum;
}

static void read_all(struct reading *r, const struct options *o, const struct tally *t)
{
	r->at_ns = clock_now_ns();
	for (unsigned p = 0; p < o->pairs; p++) {
		r->turns[p] = t[p].turns;
		r->samples[p] = t[p].samples;
	}
	r->cpu_s[0] = ends_cpu_s(o, 0);
	r->cpu_s[1] = ends_cpu_s(o, 1);
	r->machine_s = machine_cpu_s();
}

static void rest(double seconds)
{
	const struct timespec t = { (time_t)seconds,
				    (long)((seconds - (double)(time_t)seconds) * 1e9) };

	(void)nanosleep(&t, NULL);
}

static void signal_pairs(int sig)
{
	for (unsigned i = 0; i < 2 * PAIRS_MOST; i++)
		if (children[i] > 0)
			(void)kill(children[i], sig);
}

/* All stand still first: whoever outlives its partner would complain of that. */
static void kill_children(void)
{
	signal_pairs(SIGSTOP);
	signal_pairs(SIGKILL);
	for (unsigned i = 0; i < CPUS_MOST; i++)
		if (hogs[i] > 0)
			(void)kill(hogs[i], SIGKILL);
}

/* Before main() returns nobody ends by himself. */
static void check_children(void)
{
	if (waitpid(-1, NULL, WNOHANG) == 0)
		return;
	kill_children();
	give_up("a process of a pair has ended");
}

/* What the processes of all pairs have in common. */
struct crew {
	const struct options *o;
	struct stage *stage;
	uint64_t steps_per_us; /* known before anything is busy */
	unsigned cpus[CPUS_MOST], n_cpus;
};

/* Until all may begin. The waits are none of the library's, which learns from those. */
static void await_go(struct stage *s)
{
	__atomic_add_fetch(&s->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&s->go, __ATOMIC_ACQUIRE))
		raw_futex_wait_shared(&s->go, 0);
}

static void take_place(const struct crew *c, unsigned pair, unsigned mine)
{
	bool apart = c->o->place == PLACE_APART;

	if (c->o->place != PLACE_FREE)
		place_on(&c->cpus[(pair + (apart ? mine : 0)) % c->n_cpus], 1);
	if (c->o->nice && nice((int)c->o->nice) == -1)
		give_up("cannot be nicer: %s", strerror(errno));
	await_go(c->stage);
	if (c->o->place == PLACE_START)
		place_on(c->cpus, c->n_cpus);
}

static _Noreturn void be_child(const struct crew *c, struct end ends[2], unsigned pair,
			       unsigned mine, struct tally *t)
{
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	r = ends_keep(ends, mine);
	if (r == 0) {
		take_place(c, pair, mine);
		r = mine ? play_second(&ends[1], c->o, c->stage, t)
			 : play_first(&ends[0], c->o, c->stage, t);
	}
	complain("%s", strerror(-r));
	_exit(EXIT_FAILED);
}

/* @cpu: where, NULL: anywhere */
static _Noreturn void be_busy(const unsigned *cpu, bool idly)
{
	const struct sched_param lowest = { 0 };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (idly && sched_setscheduler(0, SCHED_IDLE, &lowest))
		_exit(EXIT_FAILED);
	if (cpu)
		place_on(cpu, 1);
	for (;;)
		spin_hint();
}

/* The work-around of old, that keeps the CPUs from halting, or somebody else's work. */
static void start_hogs(const struct crew *c)
{
	bool one = c->o->beside == BESIDE_ONE;
	unsigned n = c->o->beside == BESIDE_NONE ? 0 : one ? 1 : c->n_cpus;

	for (unsigned i = 0; i < n; i++) {
		hogs[i] = fork();
		if (hogs[i] == 0)
			be_busy(one ? NULL : &c->cpus[i], c->o->beside == BESIDE_HOG);
		if (hogs[i] > 0)
			continue;
		kill_children();
		give_up("cannot start a hog: %s", strerror(errno));
	}
}

static void find_cpus(struct crew *c)
{
	unsigned n = place_cpus(c->cpus, CPUS_MOST);

	c->n_cpus = n < CPUS_MOST ? n : CPUS_MOST;
	place_two_cores(c->cpus, c->n_cpus);
}

static void start_pairs(const struct crew *c, struct tally *t)
{
	for (unsigned p = 0; p < c->o->pairs; p++) {
		struct end ends[2];
		int r = ends_open(ends, c->o);

		for (unsigned i = 0; r == 0 && i < 2; i++) {
			pid_t child = fork();

			if (child == 0)
				be_child(c, ends, p, i, &t[p]);
			if (child < 0)
				r = -errno;
			else
				children[2 * p + i] = child;
		}
		if (r) {
			kill_children();
			give_up("cannot start pair %u: %s", p, strerror(-r));
		}
		ends_close(ends);
	}
}

static void print_latency(const struct options *o, const struct tally *t,
			  const struct reading *a, const struct reading *b)
{
	uint64_t *found = malloc(o->pairs * SAMPLES * sizeof(*found));
	size_t n = 0;

	if (!found)
		give_up("out of memory");
	for (unsigned p = 0; p < o->pairs; p++) {
		uint64_t i = a->samples[p], end = b->samples[p];

		for (i = end - i > SAMPLES ? end - SAMPLES : i; i < end; i++)
			found[n++] = t[p].latency_ns[i % SAMPLES];
	}
	if (n)
		printf("{\"samples\": %zu, \"median_ns\": %llu, \"p90_ns\": %llu}", n,
		       (unsigned long long)quantile(found, n, 0.5),
		       (unsigned long long)quantile(found, n, 0.9));
	else
		fputs("null", stdout);
	free(found);
}

static uint64_t turns_between(const struct options *o, const struct reading *a,
			      const struct reading *b)
{
	uint64_t sum = 0;

	for (unsigned p = 0; p < o->pairs; p++)
		sum += b->turns[p] - a->turns[p];
	return sum;
}

static double cpu_between(const struct reading *a, const struct reading *b)
{
	return b->cpu_s[0] - a->cpu_s[0] + b->cpu_s[1] - a->cpu_s[1];
}

static void print_phases(const struct options *o, const struct reading *r, unsigned n)
{
	fputs("\"phases\": [", stdout);
	for (unsigned i = 0; i < n; i++)
		printf("%s{\"round_trips\": %llu, \"seconds\": %.6f, \"cpu_s\": %.6f}",
		       i ? ", " : "",
		       (unsigned long long)turns_between(o, &r[i], &r[i + 1]),
		       (double)(r[i + 1].at_ns - r[i].at_ns) / 1e9,
		       cpu_between(&r[i], &r[i + 1]));
	fputs("], ", stdout);
}

/* @r: before the first of @n phases, and after each */
static void print(const struct options *o, const struct tally *t, const struct reading *r,
		  unsigned n)
{
	const struct reading *a = &r[0], *b = &r[n];
	double wall_s = (double)(b->at_ns - a->at_ns) / 1e9;
	uint64_t sum = turns_between(o, a, b), least = UINT64_MAX, most = 0;

	for (unsigned p = 0; p < o->pairs; p++) {
		uint64_t turns = b->turns[p] - a->turns[p];

		least = turns < least ? turns : least;
		most = turns > most ? turns : most;
	}
	printf("{\"kind\": \"%s\", \"way\": \"%s\", \"place\": \"%s\", \"pairs\": %llu, "
	       "\"work_us\": %llu, \"pause_us\": %llu, \"window_us\": %llu, ",
	       kind_names[o->kind], way_names[o->way], place_names[o->place],
	       (unsigned long long)o->pairs, (unsigned long long)o->work_us,
	       (unsigned long long)o->pause_us, (unsigned long long)o->window_us);
	printf("\"round_trips\": %llu, \"seconds\": %.6f, \"per_s\": %.1f, "
	       "\"pair_least_per_s\": %.1f, \"pair_most_per_s\": %.1f, "
	       "\"cpu_s\": %.6f, \"answers_cpu_s\": %.6f, ",
	       (unsigned long long)sum, wall_s, (double)sum / wall_s,
	       (double)least / wall_s, (double)most / wall_s, cpu_between(a, b),
	       b->cpu_s[1] - a->cpu_s[1]);
	print_phases(o, r, n);
	if (isnan(b->machine_s - a->machine_s))
		fputs("\"machine_cpu_s\": null, \"latency\": ", stdout);
	else
		printf("\"machine_cpu_s\": %.2f, \"latency\": ",
		       b->machine_s - a->machine_s);
	print_latency(o, t, a, b);
	puts("}");
}

static void *shared(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		give_up("out of memory");
	return p;
}

static void let_go(const struct options *o, struct stage *s)
{
	__atomic_store_n(&s->go, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < 2 * o->pairs; i++)
		raw_futex_wake_one_shared(&s->go);
}

/* All are ready, and what is beside them has been at work for a while. */
static void await_ready(const struct options *o, struct stage *s)
{
	while (__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE) < 2 * o->pairs) {
		check_children();
		rest(0.001);
	}
	rest(WARM_S);
}

/* Read before the first phase and after each. Return: how many phases there were. */
static unsigned take_readings(const struct crew *c, const struct tally *t,
			      struct reading r[PHASES_MOST + 1])
{
	const struct options *o = c->o;
	const uint64_t work_us[PHASES_MOST] = { o->work_us, o->long_us, o->work_us };
	unsigned n = o->long_us ? PHASES_MOST : 1;

	c->stage->steps = c->steps_per_us * o->work_us;
	if (o->place == PLACE_START) {
		await_ready(o, c->stage);
		read_all(&r[0], o, t);
		let_go(o, c->stage);
	} else {
		let_go(o, c->stage);
		rest(o->seconds < WARM_S ? o->seconds : WARM_S);
		read_all(&r[0], o, t);
	}
	for (unsigned i = 0; i < n; i++) {
		c->stage->steps = c->steps_per_us * work_us[i];
		rest(o->seconds / n);
		read_all(&r[i + 1], o, t);
	}
	return n;
}

static void measure(const struct options *o)
{
	static struct reading readings[PHASES_MOST + 1];
	static struct crew crew;
	struct tally *t = shared(o->pairs * sizeof(*t));
	unsigned n;

	crew.o = o;
	crew.stage = shared(sizeof(*crew.stage));
	if (o->work_us || o->long_us)
		crew.steps_per_us = clock_steps_per_us();
	find_cpus(&crew);
	start_hogs(&crew);
	start_pairs(&crew, t);
	n = take_readings(&crew, t, readings);
	check_children();
	kill_children();
	while (wait(NULL) > 0)
		continue;
	print(o, t, readings, n);
}

int main(int argc, char **argv)
{
	struct options o = { .pairs = 1, .window_us = 50, .seconds = 1 };
	unsigned cpus[2];
	int r = options_parse(&o, argc, argv);

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	if (o.place == PLACE_APART && place_cpus(cpus, 2) < 2) {
		complain("--place apart needs two CPUs");
		return EXIT_BAD_INPUT;
	}
	measure(&o);
	return fflush(stdout) ? EXIT_FAILED : EXIT_DONE;
}
