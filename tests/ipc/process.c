/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "process.h"

char process_state(pid_t pid)
{
	char path[32], text[512];
	const char *name_end;
	ssize_t bytes;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	bytes = read(fd, text, sizeof(text) - 1);
	CHECK(bytes > 0);
	CHECK(close(fd) == 0);
	text[bytes] = '\0';
	name_end = strrchr(text, ')');
	CHECK(name_end && name_end[1] == ' ');
	return name_end[2];
}

bool process_quiet(pid_t pid)
{
	return process_quiet_in(process_state(pid));
}

bool process_quiet_in(char state)
{
	return strchr("SZt", state) != NULL;
}

void process_stop(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, (long)PTRACE_O_EXITKILL) == 0) {
		CHECK(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0);
		CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
		return;
	}
	CHECK(kill(pid, SIGSTOP) == 0);
	while (process_state(pid) != 'T')
		(void)sched_yield();
}

void process_go_on(pid_t pid)
{
	/* It fails for a process that is not traced. */
	if (ptrace(PTRACE_DETACH, pid, NULL, 0L) != 0)
		CHECK(kill(pid, SIGCONT) == 0);
}

int64_t process_cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	CHECK_EQ(clock_getcpuclockid(pid, &clock), 0);
	CHECK(clock_gettime(clock, &used) == 0);
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

unsigned process_cpu(bool highest)
{
	cpu_set_t allowed;
	unsigned chosen = CPU_SETSIZE;

	CHECK(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &allowed) && (highest || chosen == CPU_SETSIZE))
			chosen = cpu;
	}
	return chosen;
}

void process_pin(pid_t pid, unsigned cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK(sched_setaffinity(pid, sizeof(one), &one) == 0);
}
