/* SPDX-License-Identifier: MIT */
/* The program, in the place of this process or as its child. */
#include "run.h"
#include "../tools/common/complain.h"

#include <ipcwait/base.h>

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* As execvp(3) does it: what the kernel does not know is for the shell, but no program is. */
static void exec_by_shell(const struct run_program *p)
{
	int argc = 0;
	char **argv;

	while (p->argv[argc])
		argc++;
	argv = calloc((size_t)argc + 2, sizeof(*argv));
	if (!argv)
		return;
	argv[0] = (char *)_PATH_BSHELL;
	argv[1] = (char *)p->path;
	memcpy(argv + 2, p->argv + 1, (size_t)argc * sizeof(*argv));
	execv(_PATH_BSHELL, argv);
	free(argv);
}

int run_exec(const struct run_program *p)
{
	int error;

	execv(p->path, p->argv);
	if (errno == ENOEXEC && p->shell)
		exec_by_shell(p);
	error = errno;
	complain("cannot run '%s': %s", shown(p->argv[0], -1), strerror(error));
	return error == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE;
}

/* A fault of this program itself is no signal to pass on. */
static void passed_on(sigset_t *set)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
				      SIGTRAP, SIGSYS, SIGABRT };

	sigfillset(set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(set, faults[i]);
}

/*
 * What the kernel has sent, a terminal's signal above all, went to the whole process group, and
 * the child has it. Exception: that the terminal is gone is told to the leader of the session
 * alone, by SIGHUP and SIGCONT.
 */
static bool has_it(pid_t pid, const siginfo_t *info)
{
	bool of_session = info->si_signo == SIGHUP || info->si_signo == SIGCONT;

	if (info->si_code > 0)
		return !of_session || getsid(0) != getpid();
	/* What the child sends to its group it sends to itself. */
	return info->si_pid == pid;
}

/* With the value of sigqueue(3), unless the child's queue is full. */
static void pass_on(pid_t pid, const siginfo_t *info)
{
	if (has_it(pid, info))
		return;
	if (info->si_code != SI_QUEUE || sigqueue(pid, info->si_signo, info->si_value) != 0)
		(void)kill(pid, info->si_signo);
}

struct child_end {
	int status;
	struct rusage usage; /* with all that it has waited for */
};

static bool is_job_control(int sig)
{
	return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

static void stop_self(const struct run_watch *watch)
{
	if (watch)
		watch->rest(watch->arg);
	(void)raise(SIGSTOP);
}

/*
 * True: the program has ended. With it, this process stops: the shell waits for both. Other
 * children are orphans, which process 1 of a container gets, or of what this process was before.
 */
static bool look_after(pid_t pid, const struct run_watch *watch, struct child_end *end)
{
	struct child_end found;
	pid_t whose;

	while ((whose = wait4(-1, &found.status, WNOHANG | WUNTRACED, &found.usage)) > 0) {
		if (whose != pid)
			continue;
		*end = found;
		if (!WIFSTOPPED(found.status))
			return true;
		if (is_job_control(WSTOPSIG(found.status)))
			stop_self(watch);
	}
	return false;
}

/* The next signal, and meanwhile @watch when its time has come, which is at *@due. */
static int await_signal(const sigset_t *set, siginfo_t *info, const struct run_watch *watch,
			int64_t *due)
{
	if (!watch)
		return sigwaitinfo(set, info);
	for (;;) {
		int64_t now = ipcwait_now_ns(), left;
		struct timespec span;
		int sig;

		if (now >= *due)
			*due = now + watch->tick(watch->arg);
		left = *due - now;
		span = (struct timespec){ .tv_sec = left / 1000000000,
					  .tv_nsec = left % 1000000000 };
		sig = sigtimedwait(set, info, &span);
		if (sig > 0)
			return sig;
	}
}

static void attend(pid_t pid, const sigset_t *set, const struct run_watch *watch,
		   struct child_end *end)
{
	siginfo_t info;
	int64_t due = 0;

	for (;;) {
		int sig = await_signal(set, &info, watch, &due);

		if (sig == SIGCHLD && look_after(pid, watch, end))
			return;
		if (sig > 0 && sig != SIGCHLD)
			pass_on(pid, &info);
	}
}

/* Who reads what the program writes sees its end when the program closes it, and not later. */
static void let_go(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)dup2(fd, STDIN_FILENO);
	(void)dup2(fd, STDOUT_FILENO);
	if (fd > STDERR_FILENO)
		(void)close(fd);
}

static double seconds(struct timeval span)
{
	return (double)span.tv_sec + (double)span.tv_usec / 1e6;
}

/* Signals wait from before the child is there, and SIGCHLD is not ignored, as it may have been. */
int run_child(const struct run_program *p, const struct run_watch *watch,
	      struct run_end *end)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	int64_t begin_ns = ipcwait_now_ns();
	struct child_end found;
	struct sigaction old;
	sigset_t set, mask;
	pid_t pid;

	passed_on(&set);
	sigprocmask(SIG_BLOCK, &set, &mask);
	sigaction(SIGCHLD, &usual, &old);
	pid = fork();
	if (!pid) {
		sigaction(SIGCHLD, &old, NULL);
		sigprocmask(SIG_SETMASK, &mask, NULL);
		_exit(run_exec(p));
	}
	if (pid < 0)
		return complain("cannot fork: %s", strerror(errno));
	let_go();
	attend(pid, &set, watch, &found);
	end->seconds = (double)(ipcwait_now_ns() - begin_ns) / 1e9;
	end->wait_status = found.status;
	end->user_seconds = seconds(found.usage.ru_utime);
	end->system_seconds = seconds(found.usage.ru_stime);
	return 0;
}

/* Not those that whoever has started this process lets it ignore, as nohup(1) does. */
static void add_unless_ignored(sigset_t *set, int sig)
{
	struct sigaction how;

	if (!sigaction(sig, NULL, &how) && how.sa_handler != SIG_IGN)
		sigaddset(set, sig);
}

void run_block_ends(sigset_t *set)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		add_unless_ignored(set, ends[i]);
	sigprocmask(SIG_BLOCK, set, NULL);
}

/* To be stopped and continued ends sigtimedwait(2) with EINTR. */
bool run_pause(const sigset_t *set, int64_t span_ns)
{
	int64_t end_ns = ipcwait_now_ns() + span_ns;

	for (;;) {
		int64_t left = end_ns - ipcwait_now_ns();
		struct timespec span = { 0 };
		int sig;

		if (left > 0)
			span = (struct timespec){ .tv_sec = left / 1000000000,
						  .tv_nsec = left % 1000000000 };
		sig = sigtimedwait(set, NULL, &span);
		if (sig == SIGTSTP)
			stop_self(NULL);
		else if (sig > 0 || errno != EINTR)
			return sig > 0;
	}
}

int run_until_signal(const sigset_t *set, const struct run_watch *watch)
{
	int64_t due = 0;
	siginfo_t info;
	int sig;

	while ((sig = await_signal(set, &info, watch, &due)) == SIGTSTP)
		stop_self(watch);
	return sig;
}

/* The signal that ended the program, and shall end this process; 0: none. */
static int last_signal;

int run_status_of(int wait_status)
{
	if (!WIFSIGNALED(wait_status))
		return WEXITSTATUS(wait_status);
	last_signal = WTERMSIG(wait_status);
	return RUN_SIGNAL + last_signal;
}

static int ending_signal;

void run_end_by_signal(int status)
{
	if (last_signal && status == RUN_SIGNAL + last_signal)
		ending_signal = last_signal;
}

/*
 * The last of all that runs at exit: what the library does there is done. A shell ends a loop at
 * Ctrl-C if what it has started is ended by SIGINT, as strace(1) does it too. The program has left
 * a core file if there is to be one. As process 1, which no signal of its own ends, it goes on to
 * exit.
 */
__attribute__((destructor(101))) static void end_by_signal(void)
{
	sigset_t set;

	if (!ending_signal)
		return;
	sigemptyset(&set);
	sigaddset(&set, ending_signal);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)signal(ending_signal, SIG_DFL);
	(void)raise(ending_signal);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}
