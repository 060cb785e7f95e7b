/* SPDX-License-Identifier: MIT */
#include "runner.h"
#include "../common/clock.h"
#include "quota.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/machine.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A row that takes this many times as long as it should, and a minute, has stalled. */
#define PATIENCE   10
#define PATIENCE_S 60

static sigset_t before;

static void awaited(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

void runner_prepare(void)
{
	sigset_t set;

	awaited(&set);
	sigprocmask(SIG_BLOCK, &set, &before);
	signal(SIGPIPE, SIG_IGN);
}

_Noreturn static void be_row(const struct row *row, struct report *r,
			     const struct options *o, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILED); /* it died before the call above */
	/* A Ctrl-C goes to all processes of the terminal; the main program sees to it. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigprocmask(SIG_SETMASK, &before, NULL);
	row->run(r, o);
	_exit(0);
}

static int look_at(const struct row *row, int status)
{
	if (WIFSIGNALED(status)) {
		complain("%s was ended by: %s", row->name, strsignal(WTERMSIG(status)));
		return EXIT_FAILED;
	}
	return WEXITSTATUS(status) ? EXIT_FAILED : 0; /* it has said why */
}

/* Until the child has ended, a signal comes, or patience runs out. */
static int watch(const struct row *row, const struct options *o, pid_t pid)
{
	double scale = o->scale > 1 ? o->scale : 1;
	double rounds = o->rounds > 5 ? o->rounds / 5.0 : 1;
	struct timespec patience = { 0 };
	sigset_t set;

	patience.tv_sec = (time_t)(row->seconds * scale * rounds * PATIENCE) + PATIENCE_S;
	awaited(&set);
	for (;;) {
		int status, number = sigtimedwait(&set, NULL, &patience);

		if (number == SIGCHLD && waitpid(pid, &status, WNOHANG) == pid)
			return look_at(row, status);
		if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return 128 + number;
		}
		if (number < 0 && errno == EAGAIN) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			complain("%s has stalled", row->name);
			return EXIT_FAILED;
		}
	}
}

/*
 * CPU seconds, busy or stolen, of all but this program's processes, which count when they have
 * ended and been waited for. NAN: not available.
 */
static double seconds_of_others(void)
{
	struct machine_time machine;

	if (machine_time_read(&machine))
		return NAN;
	return machine.busy_s + machine.stolen_s - machine_own_seconds(RUSAGE_CHILDREN);
}

static int run_in_process(const struct row *row, struct report *r, const struct options *o)
{
	double others_s = seconds_of_others();
	int64_t begin_ns = clock_now_ns();
	pid_t parent = getpid(), pid = fork();
	int status;

	if (pid < 0) {
		complain("cannot start a process: %s", strerror(errno));
		return EXIT_FAILED;
	}
	if (!pid)
		be_row(row, r, o, parent);
	status = watch(row, o, pid);
	quota_remove(r->group);
	r->seconds = (double)(clock_now_ns() - begin_ns) / 1e9;
	r->busy_others = (seconds_of_others() - others_s) / r->seconds;
	return status;
}

static int run_with_cheap_wakes(const struct row *row, struct report *r,
				const struct options *o)
{
	int fd = wakes_hold(), status;

	if (fd < 0) {
		report_unavailable(r, WAKES_DEVICE ": %s", strerror(-fd));
		return 0;
	}
	wakes_settle();
	status = run_in_process(row, r, o);
	wakes_release(fd);
	wakes_settle();
	return status;
}

int runner_run(const struct row *row, struct report *r, const struct options *o)
{
	return r->wakes == WAKES_CHEAP ? run_with_cheap_wakes(row, r, o)
				       : run_in_process(row, r, o);
}
