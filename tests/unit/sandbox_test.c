/* SPDX-License-Identifier: MIT */
/*
 * The first contended wait of a process whose sandbox allows futex(2), what tells a thread who it
 * is, and what this test itself needs. Any other system call ends the process, and is told of. Not
 * of robust mutexes and onces: whether an owner has died is told by /proc only.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/check.h"
#include "common/cmocka_all.h"
#include "common/every_wait.h"

#define ALLOW(name)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter rules[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(futex),
#ifdef SYS_futex_waitv
	ALLOW(futex_waitv),
#endif
	/* Who the caller is, where a word notes it: once a thread; once in a fork. */
	ALLOW(gettid),
	ALLOW(getrandom),
	/* The kernel's own: a sleep goes on by it after the process was stopped. */
	ALLOW(restart_syscall),
	/* Of the test: sleeping, ending threads and the process, and telling. */
	ALLOW(clock_nanosleep),
	ALLOW(rt_sigprocmask),
	ALLOW(rt_sigreturn),
	ALLOW(munmap),
	ALLOW(exit),
	ALLOW(exit_group),
	ALLOW(write),
	/* A thread's stack is given back at its end. */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_DONTNEED, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
};

static const struct sock_fprog filter = { sizeof(rules) / sizeof(rules[0]), rules };

static void tell(int number, siginfo_t *info, void *context)
{
	char text[64];
	int n;

	(void)number;
	(void)context;
	n = snprintf(text, sizeof(text), "system call %d\n", info->si_syscall);
	(void)!write(STDERR_FILENO, text, (size_t)n);
	_exit(EXIT_FAILURE);
}

/* In the last moment: starting a thread takes system calls. */
static void lock_in(void)
{
	const struct sigaction trapped = { .sa_sigaction = tell, .sa_flags = SA_SIGINFO };

	CHECK_EQ(sigaction(SIGSYS, &trapped, NULL), 0);
	CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CHECK_EQ(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			 &filter),
		 0);
}

static void do_nothing(void)
{
}

static const struct every_wait *performed;

static void perform(void)
{
	every_wait_perform(performed, lock_in, do_nothing);
}

static void test_every_wait(void **state)
{
	(void)state;
	for (performed = every_wait; performed->name; performed++) {
		int status = performed->asks_for_owner ? 0 : check_in_child(perform);

		if (status)
			fprintf(stderr, "by a wait: %s\n", performed->name);
		assert_int_equal(status, 0);
	}
}

/* It must be able to fail. */
static void call_another(void)
{
	lock_in();
	(void)getppid();
}

static void test_another_call(void **state)
{
	(void)state;
	assert_int_not_equal(check_in_child(call_another), 0);
}

static bool can_be_locked_in(void)
{
	return check_in_child(lock_in) == 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_wait),
		cmocka_unit_test(test_another_call),
	};

	if (!can_be_locked_in()) {
		puts("skipped: no seccomp(2) here");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
