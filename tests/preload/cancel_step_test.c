/* SPDX-License-Identifier: MIT */
/*
 * A thread is cancelled at every instruction of its wait, and asleep in it: under the preload
 * module only. The thread is stepped by a process that traces it alone; others do what they are
 * ordered to meanwhile. It is cancelled, with a cleanup handler that has the mutex, or it has got
 * what came; never both, never neither; and a signal that it did not take reaches somebody else.
 */
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cond_word.h"
#include "say.h"

/* In a build, of each call in each way. */
#define TRIALS 8

enum call { WAIT, WAIT_CHECKED, TIMEDWAIT, CLOCKWAIT, SEM_WAIT, SEM_TIMEDWAIT, CALLS };

/* When something comes. */
enum way { LATER, BEFORE, AFTER, ASLEEP, WAYS };

enum order { DONE, BEGIN, VICTIM, COME, CANCEL, OTHER, END };

static struct {
	int call, order, came, tid, go, returned;
} * shared;

/* In the child. */
static pthread_mutex_t mutex;
static pthread_cond_t cond;
static sem_t sem;
static pthread_t victim, other;
static int waiting, told, cleaned, others;

static bool is_sem(int call)
{
	return call >= SEM_WAIT;
}

static int wait_by(int call)
{
	struct timespec real = in_ms(CLOCK_REALTIME, 600000),
			mono = in_ms(CLOCK_MONOTONIC, 600000);

	switch (call) {
	case TIMEDWAIT:
		return pthread_cond_timedwait(&cond, &mutex, &real);
	case CLOCKWAIT:
		return pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &mono);
	case SEM_WAIT:
		return sem_wait(&sem);
	case SEM_TIMEDWAIT:
		return sem_timedwait(&sem, &real);
	default:
		return pthread_cond_wait(&cond, &mutex);
	}
}

static void clean_up(void *arg)
{
	(void)arg;
	cleaned++;
	if (is_sem(shared->call))
		return;
	NEEDS(pthread_mutex_trylock(&mutex) == EBUSY);
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	if (shared->call == WAIT_CHECKED)
		NEEDS(pthread_mutex_unlock(&mutex) == EPERM);
}

static void *wait_stepped(void *arg)
{
	int old;

	(void)arg;
	if (!is_sem(shared->call))
		NEEDS(pthread_mutex_lock(&mutex) == 0);
	pthread_cleanup_push(clean_up, NULL);
	set(&shared->tid, (int)syscall(SYS_gettid));
	while (!get(&shared->go))
		;
	NEEDS(wait_by(shared->call) == 0);
	set(&shared->returned, 1);
	NEEDS(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
	pthread_cleanup_pop(0);
	told++;
	if (!is_sem(shared->call))
		NEEDS(pthread_mutex_unlock(&mutex) == 0);
	return NULL;
}

static void *wait_beside(void *arg)
{
	(void)arg;
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	set(&waiting, 1);
	NEEDS(pthread_cond_wait(&cond, &mutex) == 0);
	told++;
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	return NULL;
}

static void begin_other(void)
{
	if (is_sem(shared->call))
		return;
	others = 1;
	other = begin_thread(wait_beside, NULL);
	NEEDS(becomes(&waiting, 1));
	/* It has let go of the mutex: it waits. */
	NEEDS(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
}

static void begin_trial(void)
{
	pthread_mutexattr_t attr;

	waiting = told = cleaned = others = 0;
	NEEDS(pthread_mutexattr_init(&attr) == 0);
	if (shared->call == WAIT_CHECKED)
		NEEDS(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK) == 0);
	NEEDS(pthread_mutex_init(&mutex, &attr) == 0);
	/* As a static initializer leaves it. */
	memset(&cond, 0, sizeof(cond));
	NEEDS(sem_init(&sem, 0, 0) == 0);
}

static void come(void)
{
	shared->came = 1;
	NEEDS(is_sem(shared->call) ? sem_post(&sem) == 0 : pthread_cond_signal(&cond) == 0);
}

static bool somebody_told(void *arg)
{
	bool is;

	(void)arg;
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	is = told > 0;
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	return is;
}

static void end_others(void)
{
	const struct ipcwait_cond *own = (const struct ipcwait_cond *)&cond;

	if (!shared->came)
		come();
	NEEDS(eventually(somebody_told, NULL));
	NEEDS(told == 1);
	NEEDS(pthread_cond_broadcast(&cond) == 0);
	if (others)
		NEEDS(end_thread(other) == NULL);
	NEEDS(cond_inside(own) == 0 && cond_tickets(own) == 0);
	NEEDS(pthread_cond_destroy(&cond) == 0 && pthread_mutex_destroy(&mutex) == 0);
	memset(&cond, 0xff, sizeof(cond));
}

static void end_trial(void)
{
	bool cancelled = end_thread(victim) == PTHREAD_CANCELED;
	int value;

	NEEDS(cancelled == (cleaned == 1) && cancelled == !shared->returned);
	NEEDS(shared->came || cancelled);
	if (!is_sem(shared->call)) {
		end_others();
		return;
	}
	NEEDS(sem_getvalue(&sem, &value) == 0);
	NEEDS(value == (shared->came && cancelled) && sem_destroy(&sem) == 0);
}

/* The end of a step that the tracer has not waited for. */
static void on_trap(int number)
{
	(void)number;
}

static void obey(void *arg)
{
	(void)alarm(*(unsigned *)arg);
	handle(SIGTRAP, on_trap, SA_RESTART);
	NEEDS(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	for (;;) {
		switch (get(&shared->order)) {
		case DONE:
			pass_us(10);
			continue;
		case BEGIN:
			begin_trial();
			break;
		case VICTIM:
			victim = begin_thread(wait_stepped, NULL);
			break;
		case COME:
			come();
			break;
		case CANCEL:
			NEEDS(pthread_cancel(victim) == 0);
			break;
		case OTHER:
			begin_other();
			break;
		default:
			end_trial();
		}
		set(&shared->order, DONE);
	}
}

/* In the parent. */
static pid_t child, stepped;
static cpu_set_t own_cpu;

static void tell(enum order o)
{
	int status;

	set(&shared->order, o);
	while (get(&shared->order) != DONE) {
		if (waitpid(child, &status, WNOHANG) == child) {
			dprintf(1, "the child has ended: %x\n", (unsigned)status);
			exit(EXIT_FAILURE);
		}
		(void)sched_yield();
	}
}

static bool asleep(void)
{
	char path[64], text[256], *state = NULL;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", child, stepped);
	f = fopen(path, "re");
	NEEDS(f != NULL);
	if (fgets(text, sizeof(text), f))
		state = strrchr(text, ')');
	(void)fclose(f);
	return state && state[2] == 'S';
}

/* True if it has stopped, false if it sleeps. */
static bool await_stop(int *status)
{
	for (;;) {
		for (int i = 0; i < 100; i++) {
			if (waitpid(stepped, status, __WALL | WNOHANG) == stepped)
				return true;
			(void)sched_yield();
		}
		if (asleep())
			return false;
	}
}

/* Another process may stop this one and let it go on: nothing of the test's does. */
static bool is_of_others(int signal)
{
	return signal == SIGSTOP || signal == SIGCONT;
}

/* Whoever stops the process meanwhile has not ended the step. */
static bool step(void)
{
	int status;

	do {
		NEEDS(ptrace(PTRACE_SINGLESTEP, stepped, NULL, NULL) == 0);
		if (!await_stop(&status))
			return false;
	} while (WIFSTOPPED(status) && (status >> 16 || is_of_others(WSTOPSIG(status))));
	NEEDS(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	return true;
}

static bool seize(void)
{
	int status;

	while (!(stepped = get(&shared->tid)))
		(void)sched_yield();
	if (ptrace(PTRACE_SEIZE, stepped, NULL, NULL) != 0)
		return false;
	NEEDS(ptrace(PTRACE_INTERRUPT, stepped, NULL, NULL) == 0);
	NEEDS(waitpid(stepped, &status, __WALL) == stepped && WIFSTOPPED(status));
	/* A step is fastest beside its tracer. */
	(void)sched_setaffinity(stepped, sizeof(own_cpu), &own_cpu);
	set(&shared->go, 1);
	return true;
}

/* It goes its own way, with the signal that has stopped it, if one has. */
static void let_go(bool sleeps)
{
	int status = 0, signal = 0;

	if (sleeps) {
		NEEDS(ptrace(PTRACE_INTERRUPT, stepped, NULL, NULL) == 0);
		NEEDS(waitpid(stepped, &status, __WALL) == stepped && WIFSTOPPED(status));
		if (!(status >> 16) && WSTOPSIG(status) != SIGTRAP &&
		    !is_of_others(WSTOPSIG(status)))
			signal = WSTOPSIG(status);
	}
	NEEDS(ptrace(PTRACE_DETACH, stepped, NULL, (void *)(intptr_t)signal) == 0);
}

/* So many instructions, until it sleeps or the call has returned. */
static unsigned steps(unsigned n, bool *sleeps)
{
	unsigned k = 0;

	*sleeps = false;
	while (k < n && !*sleeps && !get(&shared->returned)) {
		*sleeps = !step();
		k++;
	}
	return k;
}

/* From asleep: something has come. */
static void steps_awake(unsigned n, unsigned *k)
{
	bool sleeps;
	int status;

	tell(COME);
	tell(OTHER);
	NEEDS(waitpid(stepped, &status, __WALL) == stepped && WIFSTOPPED(status));
	*k = steps(n, &sleeps);
	NEEDS(!sleeps);
}

/* Cancelled after @n instructions. Returns how many there were; fewer if there are no more. */
static unsigned try_at(enum call call, enum way way, unsigned n)
{
	bool sleeps = false;
	unsigned k;

	*shared = (__typeof__(*shared)){ .call = (int)call };
	tell(BEGIN);
	if (way != ASLEEP)
		tell(OTHER);
	tell(VICTIM);
	if (!seize()) {
		dprintf(1, "skipped: no thread can be traced here\n");
		exit(77);
	}
	k = steps(way == ASLEEP ? UINT32_MAX : n, &sleeps);
	if (way == ASLEEP) {
		NEEDS(sleeps);
		sleeps = false;
		steps_awake(n, &k);
	}
	if (way == BEFORE)
		tell(COME);
	tell(CANCEL);
	if (way == AFTER)
		tell(COME);
	let_go(sleeps);
	tell(END);
	return k;
}

static int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* At a few instructions that are equally far apart, then at any for so long. */
static void try_all(enum call call, enum way way, int64_t seconds)
{
	unsigned length = try_at(call, way, UINT32_MAX), tried = 1;
	int64_t until = now_ns() + seconds * INT64_C(1000000000);
	unsigned seed = (unsigned)now_ns();

	for (unsigned n = 0; n < TRIALS; n++, tried++)
		(void)try_at(call, way, n * length / TRIALS);
	for (; now_ns() < until; tried++)
		(void)try_at(call, way, (unsigned)rand_r(&seed) % length);
	dprintf(1, "call %d, way %d: %u instructions, cancelled at %u\n", call, way, length,
		tried);
}

int main(void)
{
	const char *seconds = getenv("IW_STRESS_SECONDS");
	int64_t each_s = seconds ? atoi(seconds) : 0;
	unsigned limit_s = 250 + 2 * CALLS * WAYS * (unsigned)each_s;

#ifndef __x86_64__
	dprintf(1, "skipped: stepping through a loop of load and store may never end\n");
	return 77;
#endif
	say_begin();
	(void)alarm(limit_s);
	shared = shared_memory(sizeof(*shared));
	child = begin_child(obey, &limit_s);
	CPU_ZERO(&own_cpu);
	CPU_SET(sched_getcpu(), &own_cpu);
	(void)sched_setaffinity(0, sizeof(own_cpu), &own_cpu);
	for (int call = 0; call < CALLS; call++)
		for (int way = 0; way < WAYS; way++)
			try_all((enum call)call, (enum way)way, each_s);
	NEEDS(kill(child, SIGKILL) == 0);
	expect_child("the child", child, SIGKILL);
	return say_end();
}
