/* SPDX-License-Identifier: MIT */
/*
 * A child process, instruction by instruction.
 *
 * On x86-64 only. Elsewhere an atomic operation may be a loop of load-reserved and
 * store-conditional, which never ends if the thread is stopped in it.
 *
 * A step costs 17 us on the project's guest, where the tracer and its child share a CPU, and a
 * breakpoint as much each time that it is hit. So an instruction in the middle of a long call
 * is reached by a breakpoint.
 */
#ifndef TESTS_IPC_TRACE_H
#define TESTS_IPC_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum traced {
	TRACED_STOPPED, /* by a step, a breakpoint or a signal */
	TRACED_ASLEEP,  /* in the kernel, for as long as nobody wakes it */
	TRACED_ENDED,
};

/* True if this process may trace its children, and set breakpoints there. */
bool trace_possible(void);

/* Debug registers stop nothing, as under some hypervisors: a breakpoint takes several steps. */
bool trace_is_slow(void);

/* In the child: stop until the tracer steps on. */
void trace_me(void);

/* In the parent: wait until the child has stopped in trace_me(). It dies with its tracer. */
void trace_begin(pid_t child);

/* The next instruction of the stopped child; the number of the system call that it makes, or
 * -1; of the one that it has entered; whether it reads the clock. */
uintptr_t trace_at(pid_t child);
long trace_at_syscall(pid_t child);
long trace_in_syscall(pid_t child);
bool trace_at_clock(pid_t child);

/* The address belongs to the code that the kernel maps into every process. */
bool trace_in_vdso(uintptr_t at);

/* It is about to call futex(2): that sleep has no time-out. */
void trace_sleep_for_ever(pid_t child);

/* Let it go on: by one instruction, until it enters or leaves a system call, or freely, with a
 * signal if that is not 0. */
void trace_step(pid_t child);
void trace_go_on_to_syscall(pid_t child);
void trace_go_on(pid_t child, int signal);

/* What has come of that. If @may_sleep is false, it is known that the child does not. */
enum traced trace_await(pid_t child, bool may_sleep);

/* The signal that has stopped it. */
int trace_signal(void);

/* Stop whenever it is about to execute the instruction at that address; 0: no more. */
void trace_break_at(pid_t child, uintptr_t address);

/* It goes its own way, with a signal if that is not 0. */
void trace_end(pid_t child, int signal);

#endif
