/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ipcwait/futex.h>

#include "common/check.h"
#include "common/sem_word.h"
#include "process.h"
#include "stage.h"

/*
 * How long a wait with a deadline lasts, in ns: enough to fall asleep while the victim is
 * stepped, and while it runs to a breakpoint.
 */
#define PATIENCE_NS         INT64_C(200000000)
#define PATIENCE_HURRIED_NS INT64_C(1000000)

/* In which everybody must have come home, however busy the machine, in ns. */
#define LONG_NS INT64_C(100000000000)

/* A short run waits for the alarm of whom nobody wakes once in so many times. */
#define ALARMS_RARE 16

/* A value that the library does not leave in errno by chance. */
#define ERRNO_MARK 4711

struct region *stage_region;
const struct suspect *stage_suspect;

static const struct scene *playing;
static struct sigaction playing_action;
static cpu_set_t anywhere;
static unsigned tracers_cpu;

/* The thread that makes calls, and what it does next. */
static struct {
	sem_t begin, over;
	void (*call)(struct stage *st);
	struct stage *st;
} caller;

static void await(sem_t *sem)
{
	while (sem_wait(sem) != 0)
		CHECK(errno == EINTR);
}

/* For which a first wait spins, in ns: until all that is learned at waits has been learned, once
 * for all processes, which inherit it; and what a thread has of its own. */
#define WARM_UP_NS        INT64_C(5000000)
#define WARM_UP_THREAD_NS INT64_C(5000)

/* All that is done once a process or a thread, which takes too many instructions to step. */
static void warm_up(int64_t ns)
{
	struct ipcwait_sem other = IPCWAIT_SEM_INIT(0);
	struct ipcwait_mutex own;

	CHECK_EQ(ipcwait_window_set_preset(&other.window, IPCWAIT_SPIN), 0);
	CHECK_EQ(ipcwait_sem_wait_until(&other, ipcwait_deadline_in_ns(ns)), -ETIMEDOUT);
	sem_fabricate(&other, WORD(0, 0, 1));
	CHECK_EQ(ipcwait_sem_post(&other), 0);
	CHECK_EQ(ipcwait_mutex_init(&own, IPCWAIT_ROBUST), 0);
	CHECK_EQ(ipcwait_mutex_lock(&own), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&own), 0);
}

static void *make_calls(void *arg)
{
	warm_up(WARM_UP_NS);
	process_pin(0, tracers_cpu);
	for (;;) {
		CHECK(sem_post(&caller.over) == 0);
		await(&caller.begin);
		caller.call(caller.st);
	}
	return arg;
}

void stage_call(struct stage *st, void (*call)(struct stage *st))
{
	caller.st = st;
	caller.call = call;
	CHECK(sem_post(&caller.begin) == 0);
	await(&caller.over);
}

void stage_build(bool on_highest_cpu)
{
	pthread_t thread;

	CHECK(sched_getaffinity(0, sizeof(anywhere), &anywhere) == 0);
	tracers_cpu = process_cpu(on_highest_cpu);
	CHECK(sem_init(&caller.begin, 0, 0) == 0 && sem_init(&caller.over, 0, 0) == 0);
	CHECK_EQ(pthread_create(&thread, NULL, make_calls, NULL), 0);
	await(&caller.over);
	process_pin(0, tracers_cpu);
}

static void run_anywhere(void)
{
	CHECK(sched_setaffinity(0, sizeof(anywhere), &anywhere) == 0);
}

/* The first instruction after the call. */
__attribute__((noinline)) static void curtain(struct region *r)
{
	r->stop = 1;
}

static void play(struct region *r)
{
	stage_region = r;
	run_anywhere();
	warm_up(WARM_UP_THREAD_NS);
	CHECK(sigaction(SIGUSR1, &playing_action, NULL) == 0);
	if (playing->before)
		playing->before(r);
	errno = ERRNO_MARK;
	trace_me();
	playing->act(r);
	curtain(r);
	CHECK_EQ(errno, ERRNO_MARK);
}

static void reach(const struct stage *st, uintptr_t address)
{
	trace_break_at(st->victim, address);
	trace_go_on(st->victim, 0);
	CHECK_EQ(trace_await(st->victim, false), TRACED_STOPPED);
	CHECK_EQ(trace_at(st->victim), address);
	trace_break_at(st->victim, 0);
}

/* Traced and tracer share a CPU: the one runs when the other waits for it. */
static void start_victim(struct stage *st)
{
	st->victim = region_fork(st->r, play);
	trace_begin(st->victim);
	process_pin(st->victim, tracers_cpu);
	reach(st, (uintptr_t)st->scene->act);
}

void stage_open(struct stage *st, void (*handler)(int signal), bool restarts)
{
	stage_suspect = st->suspect;
	playing = st->scene;
	playing_action.sa_handler = handler ? handler : SIG_IGN;
	playing_action.sa_flags = restarts ? SA_RESTART : 0;
	st->r = region_create();
	st->r->patience_ns = st->hurried ? PATIENCE_HURRIED_NS : PATIENCE_NS;
	st->suspect->prepare(st);
	start_victim(st);
	if (st->suspect->gather)
		st->suspect->gather(st);
}

static void (*seated)(struct region *r);

static void sit(struct region *r)
{
	run_anywhere();
	seated(r);
}

static void sit_traced(struct region *r)
{
	run_anywhere();
	warm_up(WARM_UP_THREAD_NS);
	trace_me();
	seated(r);
}

static pid_t seat(struct stage *st, void (*body)(struct region *r), bool traced)
{
	CHECK(st->others < STAGE_OTHERS);
	seated = body;
	return st->other[st->others++] = region_fork(st->r, traced ? sit_traced : sit);
}

static void await_sleep(pid_t pid)
{
	while (process_state(pid) != 'S') {
		CHECK(process_state(pid) != 'Z');
		(void)sched_yield();
	}
}

void stage_seat(struct stage *st, void (*body)(struct region *r))
{
	await_sleep(seat(st, body, false));
}

void stage_seat_traced(struct stage *st, void (*body)(struct region *r))
{
	pid_t pid = seat(st, body, true);

	trace_begin(pid);
	do
		trace_go_on_to_syscall(pid);
	while (trace_await(pid, true) == TRACED_STOPPED);
}

void stage_hold(struct stage *st)
{
	CHECK_EQ(trace_await(st->other[0], false), TRACED_STOPPED);
	st->held = true;
}

void stage_release(struct stage *st)
{
	trace_end(st->other[0], 0);
	st->held = false;
}

unsigned stage_asleep(struct stage *st)
{
	unsigned asleep = 0;

	for (unsigned i = 0; i < st->others; i++) {
		char state = process_state(st->other[i]);

		/* One look: an alarm may ring between two. */
		while (!process_quiet_in(state)) {
			(void)sched_yield();
			state = process_state(st->other[i]);
		}
		asleep += state == 'S';
	}
	return asleep;
}

void stage_await_home(struct stage *st, unsigned asleep, struct ipcwait_word64 *futex)
{
	static unsigned owed;
	int64_t until_ns = ipcwait_deadline_in_ns(LONG_NS);
	bool awaited;

	if (stage_asleep(st) <= asleep)
		return;
	awaited = st->thorough || owed++ % ALARMS_RARE == 0;
	while (stage_asleep(st) > asleep) {
		CHECK(ipcwait_now_ns() < until_ns);
		if (!awaited)
			CHECK(ipcwait_futex_wake((uint32_t *)futex, UINT32_MAX, 0) >= 0);
		stage_let_pass(STAGE_LONG_NS);
	}
}

/* Where it does not stop for a signal, it gets one by stopping for it. */
static void go_on(const struct stage *st, enum stage_go how)
{
	if (how == STAGE_STEP)
		trace_step(st->victim);
	else if (how == STAGE_CALL)
		trace_go_on_to_syscall(st->victim);
	else if (how == STAGE_GO_ON)
		trace_go_on(st->victim, 0);
	else if (st->asleep)
		CHECK(kill(st->victim, SIGUSR1) == 0);
	else
		trace_go_on(st->victim, SIGUSR1);
}

static enum traced await_victim(struct stage *st, bool may_sleep)
{
	for (;;) {
		enum traced came = trace_await(st->victim, may_sleep);

		if (came == TRACED_ASLEEP) {
			st->slept++;
			st->suspect->meanwhile(st);
		} else if (came == TRACED_STOPPED && trace_signal() != SIGTRAP) {
			CHECK(trace_signal() == SIGUSR1 || trace_signal() == SIGCHLD);
			trace_go_on(st->victim, trace_signal());
		} else {
			st->ended = came == TRACED_ENDED;
			return came;
		}
	}
}

enum traced stage_resume(struct stage *st, enum stage_go how)
{
	if (st->scene->between)
		st->scene->between(st);
	go_on(st, how);
	return await_victim(st, st->scene->sleeps);
}

enum traced stage_sleep(struct stage *st)
{
	enum traced came;

	trace_go_on(st->victim, 0);
	came = trace_await(st->victim, true);
	st->ended = came == TRACED_ENDED;
	return came;
}

/* Asleep it stops for the signal, else it gets it when it is let go. */
void stage_stop(struct stage *st)
{
	CHECK(kill(st->victim, SIGSTOP) == 0);
	if (st->asleep) {
		CHECK_EQ(trace_await(st->victim, false), TRACED_STOPPED);
		CHECK_EQ(trace_signal(), SIGSTOP);
	}
	trace_end(st->victim, st->asleep ? SIGSTOP : 0);
	while (process_state(st->victim) != 'T')
		(void)sched_yield();
}

void stage_continue(struct stage *st)
{
	CHECK(kill(st->victim, SIGCONT) == 0);
	CHECK_EQ(await_victim(st, true), TRACED_ENDED);
}

void stage_let_pass(long ns)
{
	const struct timespec time = { 0, ns };

	(void)nanosleep(&time, NULL);
}

bool stage_over(const struct stage *st)
{
	return trace_at(st->victim) == (uintptr_t)curtain;
}

void stage_close(struct stage *st)
{
	for (unsigned i = 0; i < st->others; i++)
		region_join(st->other[i]);
	region_destroy(st->r);
}
