/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "process.h"
#include "trace.h"

/* The first bytes of syscall, rdtsc and rdtscp, little-endian. */
#define SYSCALL 0x050f
#define RDTSC   0x310f
#define RDTSCP  0xf9010f

/* In debug register 7: breakpoint 0 is on, for execution. */
#define BREAKPOINT_ON 1L

/* More than it has, and less than to the next mapping with code. */
#define VDSO_BYTES 8192

static int stopped_by;

void trace_me(void)
{
	CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	CHECK(raise(SIGSTOP) == 0);
}

void trace_begin(pid_t child)
{
	CHECK_EQ(trace_await(child, false), TRACED_STOPPED);
	CHECK_EQ(trace_signal(), SIGSTOP);
	CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL) == 0);
}

/* A word of the child's registers or memory. */
static long peek(int request, pid_t child, uintptr_t where)
{
	long word;

	errno = 0;
	word = ptrace(request, child, where, NULL);
	CHECK(errno == 0);
	return word;
}

uintptr_t trace_at(pid_t child)
{
	return (uintptr_t)peek(PTRACE_PEEKUSER, child, offsetof(struct user, regs.rip));
}

static long code_at(pid_t child)
{
	return peek(PTRACE_PEEKTEXT, child, trace_at(child));
}

long trace_at_syscall(pid_t child)
{
	if ((code_at(child) & 0xffff) != SYSCALL)
		return -1;
	return peek(PTRACE_PEEKUSER, child, offsetof(struct user, regs.rax));
}

long trace_in_syscall(pid_t child)
{
	return peek(PTRACE_PEEKUSER, child, offsetof(struct user, regs.orig_rax));
}

bool trace_at_clock(pid_t child)
{
	long code = code_at(child);

	return (code & 0xffff) == RDTSC || (code & 0xffffff) == RDTSCP;
}

/* The fourth argument. */
void trace_sleep_for_ever(pid_t child)
{
	CHECK(ptrace(PTRACE_POKEUSER, child, offsetof(struct user, regs.r10), 0L) == 0);
}

bool trace_in_vdso(uintptr_t at)
{
	return at - getauxval(AT_SYSINFO_EHDR) < VDSO_BYTES;
}

static void resume(int request, pid_t child, int signal)
{
	CHECK(ptrace(request, child, NULL, (long)signal) == 0);
}

void trace_step(pid_t child)
{
	resume(PTRACE_SINGLESTEP, child, 0);
}

void trace_go_on_to_syscall(pid_t child)
{
	resume(PTRACE_SYSCALL, child, 0);
}

void trace_go_on(pid_t child, int signal)
{
	resume(PTRACE_CONT, child, signal);
}

enum traced trace_await(pid_t child, bool may_sleep)
{
	int status;

	for (;;) {
		pid_t changed = waitpid(child, &status, may_sleep ? WNOHANG : 0);

		if (changed == child)
			break;
		CHECK(changed == 0 || errno == EINTR);
		if (changed == 0 && process_state(child) == 'S')
			return TRACED_ASLEEP;
		(void)sched_yield();
	}
	if (WIFSTOPPED(status)) {
		stopped_by = WSTOPSIG(status);
		return TRACED_STOPPED;
	}
	CHECK_EQ(status, 0);
	return TRACED_ENDED;
}

int trace_signal(void)
{
	return stopped_by;
}

static bool poke(pid_t child, unsigned debug_register, long value)
{
	size_t at = offsetof(struct user, u_debugreg) + debug_register * sizeof(long);

	return ptrace(PTRACE_POKEUSER, child, at, value) == 0;
}

void trace_break_at(pid_t child, uintptr_t address)
{
	CHECK(poke(child, 7, 0));
	if (address)
		CHECK(poke(child, 0, (long)address) && poke(child, 7, BREAKPOINT_ON));
}

bool trace_possible(void)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			(void)raise(SIGSTOP);
		_exit(EXIT_SUCCESS);
	}
	status = check_reap(child);
	if (!WIFSTOPPED(status))
		return false;
	status = poke(child, 0, (long)trace_at(child)) && poke(child, 7, BREAKPOINT_ON);
	CHECK(kill(child, SIGKILL) == 0);
	CHECK(WIFSIGNALED(check_reap(child)));
	return status;
}

void trace_end(pid_t child, int signal)
{
	resume(PTRACE_DETACH, child, signal);
}
