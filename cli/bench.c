/* SPDX-License-Identifier: MIT */
/*
 * Two threads hand over to and fro, with the library's semaphores and with glibc's, in turn, so
 * that whatever else the machine does hits both. sem_test measures with more care.
 */
#include "bench.h"
#include "../tools/common/arguments.h"
#include "../tools/common/complain.h"
#include "../tools/common/json_writer.h"
#include "../tools/common/median.h"

#include <ipcwait/base.h>
#include <ipcwait/sem.h>

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#define FORMAT_VERSION 1

#define ROUNDS 5

/* Of a run, which is as many hand-offs as fit; as long for both. */
#define RUN_NS       INT64_C(100000000)
#define LOOK_AFTER   64
#define WORK_US_MOST 10000

static const char help[] =
	"Usage: ipcwait bench [OPTION]...\n"
	"\n"
	"Two threads hand over to each other, with libipcwait's semaphores and with\n"
	"glibc's: how long does a hand-off take, and how much CPU time? Takes a second.\n"
	"\n"
	"  --work US   what each thread does before it hands over, in us (1)\n"
	"  --json      as a JSON object, with every run\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0; 1 it cannot be measured; 2 bad arguments.\n";

struct options {
	uint64_t work_us;
	bool json;
};

static void print_help(void)
{
	fputs(help, stdout);
}

static int set_work(struct options *o, const char *text)
{
	return argument_number("--work", text, 0, WORK_US_MOST, &o->work_us);
}

static const struct argument known[] = {
	{ "--work", ARGUMENT_VALUE, .set = set_work },
	{ "--json", ARGUMENT_FLAG, .at = offsetof(struct options, json) },
	{ "--help", ARGUMENT_PRINT, .print = print_help },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]), NULL };

enum arm { OURS, GLIBC, ARMS };

static const char *const arm_names[ARMS] = { "libipcwait", "glibc" };

union turn {
	struct ipcwait_sem ours;
	sem_t glibc;
};

/* Of one run; the threads take turns with all of it. */
struct run {
	enum arm arm;
	union turn there, back;
	uint64_t loops; /* of work */
	bool over;
};

struct figures {
	double us[ARMS][ROUNDS], cpu_us[ARMS][ROUNDS]; /* per hand-off */
};

static void wait(enum arm arm, union turn *t)
{
	if (arm == OURS)
		(void)ipcwait_sem_wait(&t->ours);
	else
		while (sem_wait(&t->glibc) != 0)
			continue; /* a signal came in between */
}

static void post(enum arm arm, union turn *t)
{
	if (arm == OURS)
		(void)ipcwait_sem_post(&t->ours);
	else
		(void)sem_post(&t->glibc);
}

/* A number of multiplications, each with the result of the one before. */
static void work(uint64_t loops)
{
	volatile uint64_t result;
	uint64_t x = loops;

	for (uint64_t i = 0; i < loops; i++)
		x = x * UINT64_C(6364136223846793005) + 1;
	result = x;
	(void)result;
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* How many loops take @us. */
static uint64_t loops_for(uint64_t us)
{
	const uint64_t tried = 1000000;
	int64_t least = INT64_MAX;

	for (int i = 0; i < 3; i++) {
		int64_t begin = ipcwait_now_ns(), ns;

		work(tried);
		ns = ipcwait_now_ns() - begin;
		least = ns < least ? ns : least;
	}
	return us * 1000 * tried / (uint64_t)(least > 0 ? least : 1);
}

static void *partner(void *arg)
{
	struct run *r = arg;

	for (;;) {
		wait(r->arm, &r->there);
		if (r->over)
			return NULL;
		work(r->loops);
		post(r->arm, &r->back);
	}
}

/* Return: how many hand-offs there were. */
static uint64_t hand_over(struct run *r)
{
	int64_t end = ipcwait_now_ns() + RUN_NS;
	uint64_t n = 0;

	do {
		work(r->loops);
		post(r->arm, &r->there);
		wait(r->arm, &r->back);
		n += 2;
	} while (n % LOOK_AFTER || ipcwait_now_ns() < end);
	r->over = true;
	post(r->arm, &r->there);
	return n;
}

static int measure(struct figures *f, enum arm arm, unsigned round, uint64_t loops)
{
	struct run r = { .arm = arm, .loops = loops };
	int64_t began_at, cpu_before;
	pthread_t thread;
	double n;

	if (arm == GLIBC &&
	    (sem_init(&r.there.glibc, 0, 0) || sem_init(&r.back.glibc, 0, 0)))
		return complain("there are no semaphores");
	if (pthread_create(&thread, NULL, partner, &r) != 0)
		return complain("there are no threads");
	began_at = ipcwait_now_ns();
	cpu_before = cpu_ns();
	n = (double)hand_over(&r);
	f->us[arm][round] = (double)(ipcwait_now_ns() - began_at) / 1e3 / n;
	f->cpu_us[arm][round] = (double)(cpu_ns() - cpu_before) / 1e3 / n;
	return pthread_join(thread, NULL) ? complain("a thread is lost") : 0;
}

static int measure_all(struct figures *f, uint64_t loops)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned k = 0; k < ARMS; k++)
			if (measure(f, (enum arm)((i + k) % ARMS), i, loops))
				return -EINVAL;
	return 0;
}

static double middle(const double v[ROUNDS])
{
	double copy[ROUNDS];

	memcpy(copy, v, sizeof(copy));
	return median(copy, ROUNDS);
}

static void print(const struct figures *f, const struct options *o)
{
	double ours = middle(f->us[OURS]), glibc = middle(f->us[GLIBC]);

	printf("Two threads hand over to each other, after %llu us of work each;\n"
	       "medians of %d runs of each, in turn.\n\n  %-12s %14s %14s\n",
	       (unsigned long long)o->work_us, ROUNDS, "", "us a hand-off", "us of CPU");
	for (unsigned arm = 0; arm < ARMS; arm++)
		printf("  %-12s %14.2f %14.2f\n", arm_names[arm], middle(f->us[arm]),
		       middle(f->cpu_us[arm]));
	if (ours * 1.1 < glibc)
		printf("\n%.1f times as fast, for %.2f times the CPU time.\n", glibc / ours,
		       middle(f->cpu_us[OURS]) / middle(f->cpu_us[GLIBC]));
	else
		puts("\nNothing is gained here: `ipcwait doctor` may know why.");
}

static void write_runs(struct json *j, const char *key, const double v[ROUNDS])
{
	json_open(j, key, '[');
	for (unsigned i = 0; i < ROUNDS; i++)
		json_number(j, NULL, v[i]);
	json_close(j, ']');
}

static void write_json(const struct figures *f, const struct options *o)
{
	struct json j = json_begin(stdout);

	json_text(&j, "program", "ipcwait bench");
	json_whole(&j, "format", FORMAT_VERSION);
	json_text(&j, "libipcwait", ipcwait_version());
	json_whole(&j, "work_us", o->work_us);
	for (unsigned arm = 0; arm < ARMS; arm++) {
		json_open(&j, arm_names[arm], '{');
		json_number(&j, "us_median", middle(f->us[arm]));
		json_number(&j, "cpu_us_median", middle(f->cpu_us[arm]));
		write_runs(&j, "us", f->us[arm]);
		write_runs(&j, "cpu_us", f->cpu_us[arm]);
		json_close(&j, '}');
	}
	json_end(&j);
}

int bench_main(int argc, char **argv)
{
	struct options o = { .work_us = 1 };
	int r = arguments_parse(&o, &arguments, argc, argv);
	static struct figures f;

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	if (measure_all(&f, loops_for(o.work_us)))
		return EXIT_FAILED;
	if (o.json)
		write_json(&f, &o);
	else
		print(&f, &o);
	return EXIT_DONE;
}
