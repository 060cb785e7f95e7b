/* SPDX-License-Identifier: MIT */
/*
 * pairs: processes in pairs hand 8 bytes to and fro through descriptors. One line of JSON: round
 * trips, CPU time of the processes and of the machine, and with --pause-us what a write takes to
 * end the other's wait. docs/benchmarks/descriptors.md tells what is asked of it.
 */
#include "pairs.h"

#include "../common/clock.h"
#include "../common/quantile.h"
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

#define CPUS_MOST 1024
#define WARM_S    0.1 /* before what is measured, but no longer than that */

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

static _Noreturn void be_child(struct end ends[2], unsigned mine, const struct options *o,
			       uint64_t steps, struct tally *t, const unsigned *cpu)
{
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (o->apart)
		place_on(cpu, 1);
	r = ends_keep(ends, mine);
	if (r == 0)
		r = mine ? play_second(&ends[1], o, steps, t)
			 : play_first(&ends[0], o, steps, t);
	complain("%s", strerror(-r));
	_exit(EXIT_FAILED);
}

static _Noreturn void be_busy(unsigned cpu, bool idly)
{
	const struct sched_param lowest = { 0 };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (idly && sched_setscheduler(0, SCHED_IDLE, &lowest))
		_exit(EXIT_FAILED);
	place_on(&cpu, 1);
	for (;;)
		spin_hint();
}

/* The work-around of old, that keeps the CPUs from halting, or somebody else's work. */
static void start_hogs(const unsigned *cpus, unsigned n, bool idly)
{
	for (unsigned i = 0; i < n; i++) {
		hogs[i] = fork();
		if (hogs[i] == 0)
			be_busy(cpus[i], idly);
		if (hogs[i] > 0)
			continue;
		kill_children();
		give_up("cannot start a hog: %s", strerror(errno));
	}
}

static void start_pairs(const struct options *o, struct tally *t)
{
	uint64_t steps = o->work_us ? o->work_us * clock_steps_per_us() : 0;
	unsigned cpus[CPUS_MOST], n = place_cpus(cpus, CPUS_MOST);

	n = n < CPUS_MOST ? n : CPUS_MOST;
	if (o->beside)
		start_hogs(cpus, n, o->beside == BESIDE_HOG);
	place_two_cores(cpus, n);
	for (unsigned p = 0; p < o->pairs; p++) {
		struct end ends[2];
		int r = ends_open(ends, o);

		for (unsigned i = 0; r == 0 && i < 2; i++) {
			pid_t child = fork();

			if (child == 0)
				be_child(ends, i, o, steps, &t[p], &cpus[(p + i) % n]);
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

static void print(const struct options *o, const struct tally *t, const struct reading *a,
		  const struct reading *b)
{
	double wall_s = (double)(b->at_ns - a->at_ns) / 1e9;
	double begins_s = b->cpu_s[0] - a->cpu_s[0], answers_s = b->cpu_s[1] - a->cpu_s[1];
	uint64_t sum = 0, least = UINT64_MAX, most = 0;

	for (unsigned p = 0; p < o->pairs; p++) {
		uint64_t n = b->turns[p] - a->turns[p];

		sum += n;
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	printf("{\"kind\": \"%s\", \"way\": \"%s\", \"place\": \"%s\", \"pairs\": %llu, "
	       "\"work_us\": %llu, \"pause_us\": %llu, \"window_us\": %llu, ",
	       kind_names[o->kind], way_names[o->way], place_names[o->apart],
	       (unsigned long long)o->pairs, (unsigned long long)o->work_us,
	       (unsigned long long)o->pause_us, (unsigned long long)o->window_us);
	printf("\"round_trips\": %llu, \"seconds\": %.6f, \"per_s\": %.1f, "
	       "\"pair_least_per_s\": %.1f, \"pair_most_per_s\": %.1f, "
	       "\"cpu_s\": %.6f, \"answers_cpu_s\": %.6f, ",
	       (unsigned long long)sum, wall_s, (double)sum / wall_s,
	       (double)least / wall_s, (double)most / wall_s, begins_s + answers_s,
	       answers_s);
	if (isnan(b->machine_s - a->machine_s))
		fputs("\"machine_cpu_s\": null, \"latency\": ", stdout);
	else
		printf("\"machine_cpu_s\": %.2f, \"latency\": ",
		       b->machine_s - a->machine_s);
	print_latency(o, t, a, b);
	puts("}");
}

static void measure(const struct options *o)
{
	static struct reading before, after;
	struct tally *t = mmap(NULL, o->pairs * sizeof(*t), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED)
		give_up("out of memory");
	start_pairs(o, t);
	rest(o->seconds < WARM_S ? o->seconds : WARM_S);
	read_all(&before, o, t);
	rest(o->seconds);
	read_all(&after, o, t);
	check_children();
	kill_children();
	while (wait(NULL) > 0)
		continue;
	print(o, t, &before, &after);
}

int main(int argc, char **argv)
{
	struct options o = { .pairs = 1, .window_us = 50, .seconds = 1 };
	unsigned cpus[2];
	int r = options_parse(&o, argc, argv);

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	if (o.apart && place_cpus(cpus, 2) < 2) {
		complain("--place apart needs two CPUs");
		return EXIT_BAD_INPUT;
	}
	measure(&o);
	return fflush(stdout) ? EXIT_FAILED : EXIT_DONE;
}
