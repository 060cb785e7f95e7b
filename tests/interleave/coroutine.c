/* SPDX-License-Identifier: MIT */
/*
 * Coroutines: each has a stack of its own and is entered by _longjmp(), which unlike
 * swapcontext() makes no system call. At the top of its stack each waits for the next
 * execution, so that one that was abandoned half-way is entered again from the top.
 */
#include <signal.h>
#include <ucontext.h>

#include "interleave/world.h"

#define STACK_BYTES 65536

static ucontext_t creator, created;
static char stacks[MODEL_THREADS_MAX][STACK_BYTES] __attribute__((aligned(64)));

/* The bottom of every coroutine's stack. */
static void run_thread(void)
{
	if (_setjmp(world.threads[world.current].top) == 0)
		(void)swapcontext(&created, &creator);
	world.scenario->thread(world.current);
	sched_end_thread();
}

void coroutine_enter(unsigned next)
{
	world.current = next;
	if (next == NOBODY) {
		world.current = HOST;
		_longjmp(world.out, 1);
	}
	iw_thread = world.threads[next].own;
	_longjmp(world.threads[next].here, 1);
}

/* A signal of the processor's, in the code under test. */
static void on_crash(int signal)
{
	(void)signal;
	model_fail(MODEL_CRASH,
		   "the processor raised a signal: a bad address, most likely");
}

static void catch_crashes(void)
{
	static char stack[65536];
	stack_t alternative = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = on_crash,
				    .sa_flags = SA_ONSTACK | SA_NODEFER };

	(void)sigaltstack(&alternative, NULL);
	(void)sigaction(SIGSEGV, &action, NULL);
	(void)sigaction(SIGBUS, &action, NULL);
	(void)sigaction(SIGFPE, &action, NULL);
}

void coroutine_prepare(void)
{
	catch_crashes();
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++) {
		(void)getcontext(&created);
		created.uc_stack.ss_sp = stacks[i];
		created.uc_stack.ss_size = STACK_BYTES;
		makecontext(&created, run_thread, 0);
		world.current = i;
		(void)swapcontext(&creator, &created);
	}
	world.current = HOST;
}
