/* SPDX-License-Identifier: MIT */
/*
 * Handlers that are installed past sigaction(2), and what others go on to; SA_RESTART after a child
 * of vfork(2) that had other handlers. And syscall() with as few arguments as a call takes.
 */
#include <linux/futex.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

typedef void handler(int signal);

/* As the kernel has it. */
struct kernel_action {
	handler *function;
	unsigned long flags;
	void *rest[4];
};

static int ran_first, ran_past, ran_last;
static handler *before_past, *before_last;

static void first(int signal)
{
	(void)signal;
	add(&ran_first, 1);
}

static void past(int signal)
{
	add(&ran_past, 1);
	before_past(signal);
}

static void last(int signal)
{
	/* Each of the two calls the other if one of them stands for both. */
	NEEDS(add(&ran_last, 1) < 100);
	before_last(signal);
}

static void put_past(int signal, handler *function)
{
	struct kernel_action action;

	memset(&action, 0, sizeof(action));
	NEEDS(syscall(SYS_rt_sigaction, signal, NULL, &action, 8) == 0);
	before_past = action.function;
	action.function = function;
	NEEDS(syscall(SYS_rt_sigaction, signal, &action, NULL, 8) == 0);
}

static void expect_ran(int want_first, int want_past, int want_last)
{
	set(&ran_first, 0);
	set(&ran_past, 0);
	set(&ran_last, 0);
	NEEDS(raise(SIGUSR1) == 0);
	expect_number("the first ran", get(&ran_first), want_first);
	expect_number("the one past libc ran", get(&ran_past), want_past);
	expect_number("the last ran", get(&ran_last), want_last);
}

/* sigaction(2), a handler in front of it past libc, and one in front of that by sigaction(2). */
static void chained(void)
{
	struct sigaction action, old;

	handle(SIGUSR1, first, 0);
	put_past(SIGUSR1, past);
	expect_ran(1, 1, 0);
	memset(&action, 0, sizeof(action));
	action.sa_handler = last;
	NEEDS(sigaction(SIGUSR1, &action, &old) == 0);
	expect_true("the one past libc is shown", old.sa_handler == past);
	before_last = old.sa_handler;
	expect_ran(1, 1, 1);
	NEEDS(sigaction(SIGUSR1, &old, NULL) == 0);
	expect_ran(1, 1, 0);
	handle(SIGUSR1, SIG_DFL, 0);
	handle(SIGUSR1, first, 0);
	expect_ran(1, 0, 0);
}

/* The other name of sigaction(), for which there is no declaration. */
int other_sigaction(int signal, const struct sigaction *action,
		    struct sigaction *old) __asm__("__sigaction");

static void must_not_run(int signal)
{
	(void)signal;
	say_stuck(__FILE__, __LINE__, "a handler that was replaced ran");
}

static void by_other_name(void)
{
	struct sigaction old, now;

	handle(SIGUSR1, first, 0);
	NEEDS(other_sigaction(SIGUSR1, NULL, &old) == 0);
	expect_true("shown by __sigaction", old.sa_handler == first);
	handle(SIGUSR1, SIG_DFL, 0);
	handle(SIGUSR1, must_not_run, 0);
	NEEDS(other_sigaction(SIGUSR1, &old, &now) == 0);
	expect_true("shown by __sigaction before", now.sa_handler == must_not_run);
	expect_ran(1, 0, 0);
	NEEDS(sigaction(SIGUSR1, NULL, &now) == 0);
	expect_true("shown by sigaction", now.sa_handler == first);
}

/* Sleeps and spins that a handler with SA_RESTART is run in. */
#define WAITS_MS 150

static sem_t sem;
static int stop;

static void *signal_and_post(void *arg)
{
	pthread_t waiter = *(pthread_t *)arg;

	while (!get(&stop)) {
		NEEDS(pthread_kill(waiter, SIGUSR1) == 0);
		for (volatile int i = 0; i < 3000; i++)
			;
		NEEDS(sem_post(&sem) == 0);
	}
	return NULL;
}

static void expect_no_interruption(const char *name)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + WAITS_MS * INT64_C(1000000);
	pthread_t me = pthread_self(), t;
	long interrupted = 0;

	NEEDS(sem_init(&sem, 0, 0) == 0);
	set(&stop, 0);
	t = begin_thread(signal_and_post, &me);
	while (clock_ns(CLOCK_MONOTONIC) < until)
		interrupted += error_of(sem_wait(&sem)) == EINTR;
	set(&stop, 1);
	(void)end_thread(t);
	expect_number(name, interrupted, 0);
}

/* As those do who start programs. */
static void restarts(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	pid_t child;

	handle(SIGUSR1, first, SA_RESTART);
	child = vfork();
	if (child == 0) {
		(void)sigaction(SIGUSR1, &action, NULL);
		_exit(0);
	}
	expect_child("vfork", child, 0);
	expect_no_interruption("interrupted after a child's default");
	action.sa_handler = SIG_IGN;
	child = vfork();
	if (child == 0) {
		(void)sigaction(SIGUSR1, &action, NULL);
		_exit(0);
	}
	expect_child("vfork", child, 0);
	expect_no_interruption("interrupted after a child's ignoring");
}

/* No flag of this call, or one without a meaning: kernels differ. */
static void realtime(void)
{
	struct timespec timeout = { 0, 1000000 };
	int word = 0;

	say("FUTEX_WAIT, realtime, changed",
	    error_of(syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_CLOCK_REALTIME, 1L, NULL,
			     NULL, 0L)));
	say("FUTEX_WAIT, realtime, unchanged",
	    error_of(syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_CLOCK_REALTIME, 0L,
			     &timeout, NULL, 0L)));
}

#ifdef __x86_64__

#define OF_CALLER UINT64_C(0x5a17c0de0fca11e5)

/*
 * syscall(@number, @a, @b, @c), with OF_CALLER where a seventh argument would be: that is the
 * caller's, who has given none. @after is what it holds then.
 */
long call_beside(long number, const void *a, long b, long c, uint64_t *after);

__asm__(".pushsection .text\n"
	".type call_beside, @function\n"
	"call_beside:\n"
	"	push %rbx\n"
	"	sub $16, %rsp\n"
	"	mov %r8, %rbx\n"
	"	movabs $0x5a17c0de0fca11e5, %rax\n"
	"	mov %rax, (%rsp)\n"
	"	mov %rax, 8(%rsp)\n"
	"	xor %r8d, %r8d\n"
	"	xor %r9d, %r9d\n"
	"	xor %eax, %eax\n"
	"	call syscall@PLT\n"
	"	mov (%rsp), %rdx\n"
	"	mov %rdx, (%rbx)\n"
	"	add $16, %rsp\n"
	"	pop %rbx\n"
	"	ret\n"
	".size call_beside, . - call_beside\n"
	".popsection\n");

static void few_arguments(void)
{
	uint64_t after = 0;
	int word = 0;

	expect_number("FUTEX_WAKE",
		      call_beside(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, &after), 0);
	expect_true("the caller's stack after FUTEX_WAKE", after == OF_CALLER);
	expect("FUTEX_WAIT, changed",
	       error_of(call_beside(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &after)),
	       EAGAIN);
	expect_true("the caller's stack after FUTEX_WAIT", after == OF_CALLER);
	expect_true("getpid", call_beside(SYS_getpid, NULL, 0, 0, &after) == getpid());
	expect_true("the caller's stack after getpid", after == OF_CALLER);
}

#else

static void few_arguments(void)
{
}

#endif

int main(void)
{
	say_begin();
	chained();
	by_other_name();
	restarts();
	realtime();
	few_arguments();
	return say_end();
}
