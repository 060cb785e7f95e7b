/* SPDX-License-Identifier: MIT */
#include "team.h"
#include "finish.h"
#include "../../tools/common/complain.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* SIGCHLD stays blocked, so that team_wait() can wait for it. */
void team_prepare(void)
{
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
}

_Noreturn static void be_child(struct team_member *m, pid_t parent, const sigset_t *mask)
{
	finish_is_parents();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILED); /* it died before the call above */
	sigprocmask(SIG_SETMASK, mask, NULL);
	m->body(m->arg);
	_exit(0);
}

/* With all signals blocked, so that no handler runs in a child that is not ready for it. */
static int start_process(struct team *t, unsigned i)
{
	struct team_member *m = &t->member[i];
	pid_t parent = getpid();
	sigset_t all, mask;
	int error;

	fflush(stdout);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	m->pid = fork();
	error = errno;
	if (m->pid == 0)
		be_child(m, parent, &mask);
	if (m->pid > 0)
		finish_kills(i, m->pid);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return m->pid < 0 ? -error : 0;
}

static int start_member(struct team *t, unsigned i)
{
	struct team_member *m = &t->member[i];

	m->ended = false;
	m->status = 0;
	if (t->processes)
		return start_process(t, i);
	return -pthread_create(&m->thread, NULL, m->body, m->arg);
}

int team_start(struct team *t)
{
	for (unsigned i = 0; i < t->size; i++) {
		int r = start_member(t, i);

		if (r)
			return r;
	}
	return 0;
}

static void timespec_in_ms(struct timespec *t, int ms)
{
	t->tv_sec = ms / 1000;
	t->tv_nsec = ms % 1000 * 1000000L;
}

static bool reap(struct team *t)
{
	bool all = true;

	for (unsigned i = 0; i < t->size; i++) {
		struct team_member *m = &t->member[i];

		if (!m->ended && waitpid(m->pid, &m->status, WNOHANG) == m->pid) {
			m->ended = true;
			finish_kills(i, 0);
		}
		all &= m->ended;
	}
	return all;
}

static bool wait_processes(struct team *t, int ms)
{
	struct timespec timeout;
	sigset_t chld;

	if (reap(t))
		return true;
	timespec_in_ms(&timeout, ms);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigtimedwait(&chld, NULL, &timeout);
	return reap(t);
}

/* Not pthread_clockjoin_np(), which the thread sanitizer does not know. */
static bool wait_threads(struct team *t, int ms)
{
	struct timespec until, more;

	clock_gettime(CLOCK_REALTIME, &until);
	timespec_in_ms(&more, ms);
	until.tv_sec += more.tv_sec + (until.tv_nsec + more.tv_nsec) / 1000000000L;
	until.tv_nsec = (until.tv_nsec + more.tv_nsec) % 1000000000L;
	for (unsigned i = 0; i < t->size; i++) {
		struct team_member *m = &t->member[i];

		if (m->ended)
			continue;
		if (pthread_timedjoin_np(m->thread, NULL, &until))
			return false;
		m->ended = true;
	}
	return true;
}

bool team_wait(struct team *t, int ms)
{
	return t->processes ? wait_processes(t, ms) : wait_threads(t, ms);
}
