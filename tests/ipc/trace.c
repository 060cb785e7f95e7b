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

/* int3, in the place of an instruction's first byte. */
#define BREAKPOINT 0xccL
#define FIRST_BYTE 0xffL

/* More than it has, and less than to the next mapping with code. */
#define VDSO_BYTES 8192

static int stopped_by;

/* A debug register stops the child. There are hypervisors under which it is set, and does not. */
static bool has_register;

/* Else a breakpoint is written into the child's own copy of the code. */
static struct {
	pid_t child;
	uintptr_t at; /* 0: there is none */
	long code;    /* what was there */
	bool lifted;  /* it is there again, while the child executes it, and then ... */
	int request;  /* ... goes on so */
	bool once;    /* it goes when the child stops */
} broken;

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

static bool is_broken(pid_t child, uintptr_t at)
{
	return broken.at == at && broken.child == child;
}

static long code_at(pid_t child)
{
	uintptr_t at = trace_at(child);

	return is_broken(child, at) ? broken.code : peek(PTRACE_PEEKTEXT, child, at);
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

/* How a child was let run last. */
static struct {
	pid_t child;
	int request;
} runs[64];

static void let_run(int request, pid_t child, int signal)
{
	unsigned slot = (unsigned)child % (sizeof(runs) / sizeof(runs[0]));

	runs[slot].child = child;
	runs[slot].request = request;
	CHECK(ptrace(request, child, NULL, (long)signal) == 0);
}

/*
 * Neither the test nor the child itself has sent the signal that stopped the child: another
 * process stops processes and lets them go on. The child runs on without the signal, as it ran
 * before.
 */
static bool runs_on(pid_t child, int signal)
{
	unsigned slot = (unsigned)child % (sizeof(runs) / sizeof(runs[0]));
	siginfo_t info;

	if ((signal != SIGSTOP && signal != SIGCONT) ||
	    ptrace(PTRACE_GETSIGINFO, child, NULL, &info) != 0 || info.si_pid == child ||
	    info.si_pid == getpid())
		return false;
	let_run(runs[slot].child == child ? runs[slot].request : PTRACE_CONT, child, 0);
	return true;
}

static void write_code(pid_t child, uintptr_t at, long code)
{
	CHECK(ptrace(PTRACE_POKETEXT, child, at, code) == 0);
}

static void set_break(void)
{
	write_code(broken.child, broken.at, (broken.code & ~FIRST_BYTE) | BREAKPOINT);
}

/* The instruction that it stands at is executed as it is, if it is one with a breakpoint. */
static void resume(int request, pid_t child, int signal)
{
	if (is_broken(child, trace_at(child))) {
		write_code(child, broken.at, broken.code);
		broken.lifted = true;
		broken.request = request;
		request = PTRACE_SINGLESTEP;
	}
	let_run(request, child, signal);
}

/* Not a step to what comes behind the breakpoint. */
static bool is_int3(pid_t child)
{
	siginfo_t info;

	CHECK(ptrace(PTRACE_GETSIGINFO, child, NULL, &info) == 0);
	return info.si_code == SI_KERNEL;
}

/* It was hit: the child is back at the instruction. */
static void move_back(pid_t child)
{
	if (trace_at(child) == broken.at + 1 && is_int3(child))
		CHECK(ptrace(PTRACE_POKEUSER, child, offsetof(struct user, regs.rip),
			     broken.at) == 0);
}

/* It has stopped. False: that was for the breakpoint's own ends, and it goes on. */
static bool has_stopped(pid_t child, int signal)
{
	if (broken.child != child || !broken.at)
		return true;
	if (!broken.lifted) {
		if (signal == SIGTRAP)
			move_back(child);
		if (broken.once) {
			write_code(child, broken.at, broken.code);
			broken.at = 0;
		}
		return true;
	}
	set_break();
	broken.lifted = false;
	if (signal != SIGTRAP || broken.request == PTRACE_SINGLESTEP)
		return true;
	let_run(broken.request, child, 0);
	return false;
}

static void break_in_code(pid_t child, uintptr_t address)
{
	if (broken.at && broken.child == child)
		write_code(child, broken.at, broken.code);
	broken.at = 0;
	if (!address)
		return;
	broken.child = child;
	broken.code = peek(PTRACE_PEEKTEXT, child, address);
	broken.lifted = false;
	broken.once = false;
	broken.at = address;
	set_break();
}

/*
 * The kernel's own code reads the clock again and again while its page changes, which where debug
 * registers stop nothing it does at every step. So it is left in one: when it is entered, the
 * address to return to is on the stack.
 */
static bool leaves_vdso(pid_t child)
{
	if (has_register || broken.at || !trace_in_vdso(trace_at(child)))
		return false;
	break_in_code(child,
		      (uintptr_t)peek(PTRACE_PEEKTEXT, child,
				      (uintptr_t)peek(PTRACE_PEEKUSER, child,
						      offsetof(struct user, regs.rsp))));
	broken.once = true;
	return true;
}

void trace_step(pid_t child)
{
	resume(leaves_vdso(child) ? PTRACE_CONT : PTRACE_SINGLESTEP, child, 0);
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

		if (changed == child && WIFSTOPPED(status) &&
		    runs_on(child, WSTOPSIG(status)))
			continue;
		if (changed == child &&
		    !(WIFSTOPPED(status) && !has_stopped(child, WSTOPSIG(status))))
			break;
		CHECK(changed >= 0 || errno == EINTR);
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

static bool set_register(pid_t child, uintptr_t address)
{
	return poke(child, 7, 0) && (!address || (poke(child, 0, (long)address) &&
						  poke(child, 7, BREAKPOINT_ON)));
}

void trace_break_at(pid_t child, uintptr_t address)
{
	if (!has_register)
		break_in_code(child, address);
	else if (!set_register(child, address))
		has_register = false;
}

__attribute__((noinline)) static void landing(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Whether a child stops there. */
static bool breaks(void)
{
	pid_t child = fork();
	bool stops = false;

	CHECK(child >= 0);
	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0)
			landing();
		_exit(EXIT_SUCCESS);
	}
	if (trace_await(child, false) == TRACED_ENDED)
		return false;
	trace_break_at(child, (uintptr_t)landing);
	trace_go_on(child, 0);
	stops = trace_await(child, false) == TRACED_STOPPED &&
		trace_at(child) == (uintptr_t)landing;
	broken.at = 0;
	if (stops) {
		CHECK(kill(child, SIGKILL) == 0);
		CHECK(WIFSIGNALED(check_reap(child)));
	}
	return stops;
}

bool trace_is_slow(void)
{
	return !has_register;
}

bool trace_possible(void)
{
	has_register = true;
	if (breaks())
		return true;
	has_register = false;
	return breaks();
}

void trace_end(pid_t child, int signal)
{
	trace_break_at(child, 0);
	resume(PTRACE_DETACH, child, signal);
}
