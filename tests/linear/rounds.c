/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "linear/random_history.h"
#include "linear/rounds.h"
#include "linear/wing_gong.h"

/* Rounds in a long run, for one in a short. */
#define TIMES_DEEP 5

/* That 64 rounds take, at most. */
#define ROUNDS_SECONDS 120

/* Each so many is judged again after so many changes. */
#define CHANGED_EVERY 4
#define CHANGES       3

/* The longest nap, in ns, to which the kernel adds as much. */
#define NAP 30000

/* Between two signals, in ns. */
#define SIGNALS_APART 40000

static struct {
	const struct rounds *r;
	unsigned round, rounds;
	unsigned waiting, met; /* threads at the meeting, and how often they have met */
	unsigned running;      /* threads in their turn, without thread 0 */
	unsigned parked;       /* of these */
	unsigned returned;     /* waits that came back, but not by a deadline */
	bool over;
	uint64_t clock;
	pthread_t thread[ROUNDS_THREADS_MAX];
	struct rounds_user user[ROUNDS_THREADS_MAX + 1]; /* the last: the host */
	struct history_op memory[ROUNDS_THREADS_MAX + 1][SPEC_OPS];
	struct wing_gong *checker;
	uint64_t seed;
	uint64_t ops, beside, refused, changed, gave_up;
} run;

static unsigned load(const unsigned *n)
{
	return __atomic_load_n(n, __ATOMIC_ACQUIRE);
}

static unsigned add(unsigned *n, int by)
{
	return __atomic_add_fetch(n, (unsigned)by, __ATOMIC_ACQ_REL);
}

unsigned rounds_below(struct rounds_user *me, unsigned limit)
{
	return (unsigned)((check_random(&me->seed) >> 20) % limit);
}

int64_t rounds_deadline(struct rounds_user *me, unsigned most_ns)
{
	return rounds_below(me, 8) ? ipcwait_deadline_in_ns(rounds_below(me, most_ns)) : 0;
}

void rounds_dawdle(struct rounds_user *me)
{
	unsigned n = rounds_below(me, 16);

	if (n == 0)
		(void)sched_yield();
	for (unsigned i = n < 8 ? 0 : 1u << n % 8; i; i--)
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void rounds_nap(struct rounds_user *me)
{
	if (rounds_below(me, 8) == 0)
		(void)nanosleep(&(struct timespec){ 0, rounds_below(me, NAP) }, NULL);
	else
		rounds_dawdle(me);
}

unsigned rounds_flags(unsigned round)
{
	return round & 1 ? IPCWAIT_PRIVATE : 0;
}

void rounds_set_preset(struct ipcwait_window *window, unsigned round)
{
	static const enum ipcwait_preset presets[] = { IPCWAIT_ADAPTIVE, IPCWAIT_BLOCK,
						       IPCWAIT_SPIN, IPCWAIT_BLOCK };

	CHECK_EQ(ipcwait_window_set_preset(window, presets[round / 2 % 4]), 0);
}

void rounds_park(void)
{
	(void)add(&run.parked, 1);
}

void rounds_unpark(void)
{
	(void)add(&run.parked, -1);
	rounds_came_back();
}

void rounds_came_back(void)
{
	(void)add(&run.returned, 1);
}

unsigned rounds_parked(void)
{
	return load(&run.parked);
}

void rounds_release_all(struct rounds_user *me, bool any_time,
			unsigned (*release)(struct rounds_user *me))
{
	while (load(&run.running)) {
		unsigned returned, running, parked, come_back = 0;

		/* Who is parked goes to sleep, and others are about to expire. */
		if (rounds_below(me, 2))
			(void)nanosleep(&(struct timespec){ 0, rounds_below(me, NAP) },
					NULL);
		returned = load(&run.returned);
		running = load(&run.running);
		parked = rounds_parked();
		/* In this order: who has come back since is seen in @returned. */
		if (running && (any_time ? parked > 0 : parked == running) &&
		    load(&run.returned) == returned)
			come_back = release(me);
		do
			(void)sched_yield();
		while (load(&run.returned) - returned < come_back);
	}
}

int64_t rounds_record(struct rounds_user *me, unsigned code, int64_t arg,
		      int64_t (*operation)(int64_t arg))
{
	struct history_op *op = history_call(&me->part, me->id, code, arg);

	history_return(&me->part, op, operation(arg));
	return op->result;
}

/* Those who run see the end of it at the same time. */
static void meet(void)
{
	unsigned met = load(&run.met);

	if (add(&run.waiting, 1) == run.r->threads) {
		run.waiting = 0;
		(void)add(&run.met, 1);
		return;
	}
	while (load(&run.met) == met)
		(void)sched_yield();
}

static size_t collect(struct history_op *all)
{
	size_t n = 0;

	for (unsigned i = 0; i <= ROUNDS_THREADS_MAX; i++) {
		struct history *part = &run.user[i].part;

		CHECK(n + part->count <= SPEC_OPS);
		memcpy(all + n, part->ops, part->count * sizeof(*all));
		n += part->count;
		part->count = 0;
	}
	return run.r->prepare ? run.r->prepare(all, n) : n;
}

/* Operations that were not alone. */
static size_t overlapping(const struct history_op *ops, size_t n)
{
	size_t beside = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			if (ops[i].thread != ops[k].thread && ops[i].call < ops[k].ret &&
			    ops[k].call < ops[i].ret) {
				beside++;
				break;
			}
	return beside;
}

static void judge(struct history_op *ops, size_t n)
{
	enum wing_gong_answer answer = wing_gong_check(run.checker, ops, n);

	run.ops += n;
	run.beside += overlapping(ops, n);
	run.gave_up += answer == WING_GONG_GAVE_UP;
	if (answer == WING_GONG_NO) {
		printf("%s, round %u:\n", run.r->name, run.round);
		wing_gong_print(run.checker, stdout);
		(void)fflush(stdout);
		CHECK(!"a history that nothing explains");
	}
	if (run.round % CHANGED_EVERY)
		return;
	for (unsigned i = 0; i < CHANGES; i++)
		n = random_change(ops, n, &run.seed);
	run.changed++;
	run.refused += wing_gong_check(run.checker, ops, n) == WING_GONG_NO;
}

/* Between rounds, in thread 0. */
static void end_round(void)
{
	struct history_op all[SPEC_OPS];

	if (run.r->last_words)
		run.r->last_words(&run.user[ROUNDS_THREADS_MAX]);
	judge(all, collect(all));
}

/* The watchdog is for rounds that do not end, not for a machine that is busy. */
static void begin_round(void)
{
	if (run.round % 64 == 0)
		check_watchdog(ROUNDS_SECONDS);
	run.clock = 0;
	run.running = run.r->threads - 1;
	run.r->begin(run.round);
}

static void *work(void *arg)
{
	struct rounds_user *me = arg;

	for (unsigned round = 0; round < run.rounds; round++) {
		if (me->id == 0) {
			run.round = round;
			begin_round();
		}
		meet();
		run.r->turn(me);
		if (me->id)
			(void)add(&run.running, -1);
		meet();
		if (me->id == 0)
			end_round();
	}
	if (me->id == 0)
		__atomic_store_n(&run.over, true, __ATOMIC_RELEASE);
	return NULL;
}

static void on_signal(int signal)
{
	(void)signal;
}

/* No thread has been joined yet, so there is none that cannot be reached. */
static void send_signals(void)
{
	const struct sigaction action = { .sa_handler = on_signal };
	const struct timespec pause = { 0, SIGNALS_APART };
	uint64_t seed = run.seed;

	CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	while (!__atomic_load_n(&run.over, __ATOMIC_ACQUIRE)) {
		(void)pthread_kill(run.thread[check_random(&seed) % run.r->threads],
				   SIGUSR1);
		(void)nanosleep(&pause, NULL);
	}
}

static void make_users(void)
{
	for (unsigned i = 0; i <= ROUNDS_THREADS_MAX; i++) {
		struct rounds_user *user = &run.user[i];

		user->id = i;
		user->seed = run.seed + i * 7919;
		history_begin(&user->part, run.memory[i], SPEC_OPS);
		user->part.clock = &run.clock;
	}
}

static uint64_t sleeps(void)
{
	struct ipcwait_stats st;

	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	return st.kind[run.r->kind].futex_waits;
}

/* For the watchdog. */
static void report(void)
{
	static const char text[] = "the rounds did not end of: ";

	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)!write(STDERR_FILENO, run.r->name, strlen(run.r->name));
	(void)!write(STDERR_FILENO, "\n", 1);
}

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void rounds_run(const struct rounds *r)
{
	double began = seconds();
	uint64_t slept;

	memset(&run, 0, sizeof(run));
	run.r = r;
	check_watchdog_report = report;
	slept = sleeps();
	run.rounds = r->count * (getenv("IW_STRESS_SECONDS") ? TIMES_DEEP : 1);
	run.seed = check_seed();
	run.checker = wing_gong_create(&r->spec);
	make_users();
	for (unsigned i = 0; i < r->threads; i++)
		CHECK_EQ(pthread_create(&run.thread[i], NULL, work, &run.user[i]), 0);
	if (r->signals)
		send_signals();
	for (unsigned i = 0; i < r->threads; i++)
		CHECK_EQ(pthread_join(run.thread[i], NULL), 0);
	wing_gong_destroy(run.checker);
	printf("# %s: %u rounds, %" PRIu64 " operations, %" PRIu64
	       " %% beside others, %" PRIu64 " sleeps, %.2f s; of %" PRIu64
	       " changed %" PRIu64 " refused, gave up %" PRIu64 "\n",
	       r->name, run.rounds, run.ops, 100 * run.beside / run.ops, sleeps() - slept,
	       seconds() - began, run.changed, run.refused, run.gave_up);
	CHECK(run.refused > run.changed / 20);
	CHECK(run.gave_up <= run.rounds / 100);
}
