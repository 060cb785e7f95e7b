/* SPDX-License-Identifier: MIT */
#include "child.h"
#include "row.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t child_start(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		give_up("cannot start a process: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILED); /* it died before the call above */
	return 0;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

void child_end(pid_t pid, const char *name)
{
	int status = wait_for(pid);

	if (WIFSIGNALED(status))
		give_up("%s: a run was ended by: %s", name, strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		_exit(EXIT_FAILED); /* it has said why */
}

void child_kill(const pid_t *pids, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	for (unsigned i = 0; i < n; i++)
		wait_for(pids[i]);
}
