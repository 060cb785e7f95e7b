/* SPDX-License-Identifier: MIT */
/* preload/signals.c, called in the place of libc: what it counts, and what it shows. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"

#include "signals.h"

/* sigset() and siginterrupt() */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

typedef void handler(int);

/* In no header any more. */
handler *bsd_signal(int number, handler *f);
handler *__sysv_signal(int number, handler *f);

static volatile int got, got_other, got_late;
static volatile const siginfo_t *got_info;
static volatile const void *got_context;

static void on_signal(int number)
{
	got = number;
}

static void on_other(int number)
{
	got_other = number;
}

static void on_info(int number, siginfo_t *info, void *context)
{
	got = number;
	got_info = info;
	got_context = context;
	assert_int_equal(info->si_signo, number);
}

/* What one @number does to the counts: 1 any, 2 interrupting. */
static unsigned counted(int number)
{
	struct handled before = iw_handled;

	got = got_other = got_late = 0;
	assert_int_equal(raise(number), 0);
	assert_true(got == number || got_other == number || got_late == 1);
	assert_true(iw_handled.any - before.any <= 1);
	assert_true(iw_handled.interrupting - before.interrupting <= 1);
	return (iw_handled.any - before.any) +
	       2 * (iw_handled.interrupting - before.interrupting);
}

static void install(int number, handler *f, int flags)
{
	struct sigaction action = { .sa_handler = f, .sa_flags = flags };

	assert_int_equal(sigaction(number, &action, NULL), 0);
}

static handler *installed(int number)
{
	struct sigaction now;

	assert_int_equal(sigaction(number, NULL, &now), 0);
	return now.sa_handler;
}

static int to_default(void **state)
{
	(void)state;
	install(SIGUSR1, SIG_DFL, 0);
	return 0;
}

static void test_each_of_them_is_counted(void **state)
{
	(void)state;
	install(SIGUSR1, on_signal, 0);
	assert_int_equal(counted(SIGUSR1), 3);
	install(SIGUSR1, on_signal, SA_RESTART);
	assert_int_equal(counted(SIGUSR1), 1);
	install(SIGUSR1, on_other, SA_NODEFER);
	assert_int_equal(counted(SIGUSR1), 3);
	assert_int_equal(got, 0);
}

static void test_the_program_is_shown_its_own(void **state)
{
	struct sigaction action = { .sa_sigaction = on_info,
				    .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
	struct sigaction old;

	(void)state;
	assert_ptr_equal(installed(SIGUSR1), SIG_DFL);
	assert_ptr_equal(signal(SIGUSR1, on_signal), SIG_DFL);
	assert_ptr_equal(installed(SIGUSR1), on_signal);
	assert_ptr_equal(signal(SIGUSR1, on_other), on_signal);
	assert_int_equal(sigaddset(&action.sa_mask, SIGUSR2), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
	assert_ptr_equal(old.sa_handler, on_other);
	assert_int_equal(sigaction(SIGUSR1, NULL, &old), 0);
	assert_ptr_equal(old.sa_sigaction, on_info);
	assert_int_equal(old.sa_flags & (SA_SIGINFO | SA_RESTART | SA_ONSTACK),
			 SA_SIGINFO | SA_RESTART | SA_ONSTACK);
	assert_int_equal(sigismember(&old.sa_mask, SIGUSR2), 1);
	assert_int_equal(sigismember(&old.sa_mask, SIGHUP), 0);
	/* The program's struct is as it was. */
	assert_ptr_equal(action.sa_sigaction, on_info);
	assert_int_equal(counted(SIGUSR1), 1);
	assert_non_null((const void *)got_info);
	assert_non_null((const void *)got_context);
}

static void test_default_and_ignored_are_no_functions(void **state)
{
	uint32_t before;

	(void)state;
	install(SIGUSR1, on_signal, 0);
	assert_ptr_equal(signal(SIGUSR1, SIG_IGN), on_signal);
	assert_ptr_equal(installed(SIGUSR1), SIG_IGN);
	before = iw_handled.any;
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(iw_handled.any, before);
	assert_ptr_equal(signal(SIGUSR1, on_other), SIG_IGN);
	assert_ptr_equal(signal(SIGUSR1, SIG_DFL), on_other);
	assert_ptr_equal(installed(SIGUSR1), SIG_DFL);
	assert_ptr_equal(signal(SIGUSR1, on_signal), SIG_DFL);
}

static void test_signal_restarts_unless_told(void **state)
{
	(void)state;
	assert_ptr_not_equal(signal(SIGUSR1, on_signal), SIG_ERR);
	assert_int_equal(counted(SIGUSR1), 1);
	assert_int_equal(siginterrupt(SIGUSR1, 1), 0);
	assert_int_equal(counted(SIGUSR1), 3);
	assert_ptr_equal(signal(SIGUSR1, on_other), on_signal);
	assert_int_equal(counted(SIGUSR1), 3);
	assert_int_equal(siginterrupt(SIGUSR1, 0), 0);
	assert_int_equal(counted(SIGUSR1), 1);
	assert_ptr_equal(installed(SIGUSR1), on_other);
	assert_ptr_equal(bsd_signal(SIGUSR1, on_signal), on_other);
	assert_int_equal(counted(SIGUSR1), 1);
	assert_ptr_equal(ssignal(SIGUSR1, on_other), on_signal);
	assert_int_equal(counted(SIGUSR1), 1);
}

static void once_by(handler *(*with)(int, handler *))
{
	assert_ptr_equal(with(SIGUSR1, on_signal), SIG_DFL);
	assert_ptr_equal(installed(SIGUSR1), on_signal);
	assert_int_equal(counted(SIGUSR1), 3);
	assert_ptr_equal(installed(SIGUSR1), SIG_DFL);
}

static void test_system_v_runs_it_once(void **state)
{
	(void)state;
	once_by(sysv_signal);
	once_by(__sysv_signal);
}

static void test_sigset_holds(void **state)
{
	uint32_t before;

	(void)state;
	assert_ptr_equal(sigset(SIGUSR1, on_signal), SIG_DFL);
	assert_int_equal(counted(SIGUSR1), 3);
	assert_ptr_equal(sigset(SIGUSR1, SIG_HOLD), on_signal);
	assert_ptr_equal(installed(SIGUSR1), on_signal);
	before = iw_handled.any;
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(iw_handled.any, before);
	/* It lets in what it has held, to the new one. */
	got_other = 0;
	assert_ptr_equal(sigset(SIGUSR1, on_other), SIG_HOLD);
	assert_int_equal(got_other, SIGUSR1);
	assert_int_equal(iw_handled.any, before + 1);
	assert_ptr_equal(installed(SIGUSR1), on_other);
}

static void refused(int number)
{
	struct sigaction action = { .sa_handler = on_signal };

	errno = 0;
	assert_int_equal(sigaction(number, &action, NULL), -1);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_ptr_equal(signal(number, on_signal), SIG_ERR);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_ptr_equal(sysv_signal(number, on_signal), SIG_ERR);
	assert_int_equal(errno, EINVAL);
}

static void test_what_is_refused(void **state)
{
	static const int numbers[] = {
		SIGKILL, SIGSTOP, 0, -1, 32, 33, 65, 4711, INT32_MIN
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		refused(numbers[i]);
	assert_ptr_equal(installed(SIGKILL), SIG_DFL);
	install(SIGUSR1, on_signal, 0);
	assert_ptr_equal(signal(SIGUSR1, SIG_ERR), SIG_ERR);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(installed(SIGUSR1), on_signal);
	assert_int_equal(counted(SIGUSR1), 3);
}

static void test_errno_is_left_alone(void **state)
{
	(void)state;
	errno = 4711;
	install(SIGUSR1, on_signal, 0);
	assert_ptr_equal(signal(SIGUSR1, on_other), on_signal);
	assert_int_equal(siginterrupt(SIGUSR1, 1), 0);
	assert_int_equal(counted(SIGUSR1), 3);
	assert_int_equal(errno, 4711);
}

static void test_all_64(void **state)
{
	(void)state;
	for (int number = 1; number <= 64; number++) {
		struct sigaction action = { .sa_handler = on_signal }, before;

		if (number == SIGKILL || number == SIGSTOP || number == 32 || number == 33)
			continue;
		assert_int_equal(sigaction(number, &action, &before), 0);
		assert_int_equal(counted(number), 3);
		assert_ptr_equal(installed(number), on_signal);
		assert_int_equal(sigaction(number, &before, NULL), 0);
		assert_ptr_equal(installed(number), before.sa_handler);
	}
}

static void test_one_struct_for_both(void **state)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	/* Which the compiler is not to know. */
	struct sigaction *volatile same = &action;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, same), 0);
	assert_ptr_equal(action.sa_handler, SIG_DFL);
	assert_int_equal(counted(SIGUSR1), 1);
	action = (struct sigaction){ .sa_handler = on_other };
	assert_int_equal(sigaction(SIGUSR1, &action, same), 0);
	assert_ptr_equal(action.sa_handler, on_signal);
	assert_true(action.sa_flags & SA_RESTART);
	assert_int_equal(counted(SIGUSR1), 3);
	assert_int_equal(got_other, SIGUSR1);
}

/* As the system call has it on the CPUs that have signals in 64 bits. */
struct kernel_action {
	handler *function;
	unsigned long flags;
	uint64_t rest[2];
};

static handler *in_kernel(int number)
{
	struct kernel_action now = { .function = NULL };

	assert_int_equal(syscall(SYS_rt_sigaction, number, NULL, &now, 8), 0);
	return now.function;
}

/* What has been read by the system call stands for the same handler, whenever it comes back. */
static void test_put_back(void **state)
{
	static const int numbers[] = { SIGUSR1, SIGUSR2 };
	handler *read;

	(void)state;
	install(SIGUSR1, on_signal, SA_RESTART);
	read = in_kernel(SIGUSR1);
	for (unsigned i = 0; i < 4; i++)
		install(SIGUSR1, i % 2 ? on_other : on_signal, 0);
	for (unsigned i = 0; i < 2; i++) {
		install(numbers[i], read, 0);
		assert_ptr_equal(installed(numbers[i]), on_signal);
		assert_int_equal(counted(numbers[i]), 3);
		assert_int_equal(got, numbers[i]);
		install(numbers[i], read, SA_RESTART);
		assert_int_equal(counted(numbers[i]), 1);
		assert_ptr_equal(signal(numbers[i], read), on_signal);
		assert_ptr_equal(signal(numbers[i], SIG_DFL), on_signal);
	}
}

#define ROUNDS 20000

struct installer {
	pthread_t thread;
	handler *function;
	int flags;
	unsigned wrong; /* pairs that nobody has installed */
};

static bool is_pair(const struct sigaction *action)
{
	bool restarts = action->sa_flags & SA_RESTART;

	return action->sa_handler == (restarts ? on_signal : on_other);
}

static void *install_again(void *arg)
{
	struct installer *me = arg;
	struct sigaction action = { .sa_handler = me->function, .sa_flags = me->flags },
			 old;

	for (unsigned i = 0; i < ROUNDS; i++) {
		CHECK_EQ(sigaction(SIGUSR1, &action, &old), 0);
		me->wrong += !is_pair(&old);
	}
	return NULL;
}

/* Each is shown what was there, and what is there has its own flags. */
static void test_two_install_at_once(void **state)
{
	struct installer two[] = { { .function = on_signal, .flags = SA_RESTART },
				   { .function = on_other } };

	(void)state;
	install(SIGUSR1, on_other, 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(
			pthread_create(&two[i].thread, NULL, install_again, &two[i]), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_join(two[i].thread, NULL), 0);
	assert_int_equal(two[0].wrong + two[1].wrong, 0);
	assert_int_equal(counted(SIGUSR1), installed(SIGUSR1) == on_signal ? 1 : 3);
}

static void on_late(int number)
{
	(void)number;
	got_late++;
}

/* A child that shares the memory until it executes a program has signals of its own. */
static void test_a_child_of_vfork(void **state)
{
	int status;
	pid_t child;

	(void)state;
	install(SIGUSR1, on_signal, 0);
	child = vfork();
	if (!child) {
		const struct sigaction twice[] = { { .sa_handler = on_other },
						   { .sa_handler = on_late } };

		_exit(sigaction(SIGUSR1, &twice[0], NULL) ||
		      sigaction(SIGUSR1, &twice[1], NULL));
	}
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	assert_int_equal(status, 0);
	assert_int_equal(counted(SIGUSR1), 3);
	assert_int_equal(got, SIGUSR1);
}

static void on_last(int number)
{
	(void)number;
	got_late++;
}

/* The last test: a new handler of this process has no place afterwards. */
static void test_more_than_there_are_places(void **state)
{
	(void)state;
	for (uintptr_t i = 1; i < 100; i++) {
		handler *f = (handler *)(i * 4096);

		install(SIGUSR1, f, i % 2 ? SA_RESTART : 0);
		assert_ptr_equal(installed(SIGUSR1), f);
	}
	install(SIGUSR1, on_last, 0);
	assert_ptr_equal(installed(SIGUSR1), on_last);
	assert_int_equal(counted(SIGUSR1), 0);
	/* Those that have one keep it. */
	install(SIGUSR1, on_other, 0);
	assert_int_equal(counted(SIGUSR1), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_each_of_them_is_counted, to_default),
		cmocka_unit_test_setup(test_the_program_is_shown_its_own, to_default),
		cmocka_unit_test_setup(test_default_and_ignored_are_no_functions,
				       to_default),
		cmocka_unit_test_setup(test_signal_restarts_unless_told, to_default),
		cmocka_unit_test_setup(test_system_v_runs_it_once, to_default),
		cmocka_unit_test_setup(test_sigset_holds, to_default),
		cmocka_unit_test_setup(test_what_is_refused, to_default),
		cmocka_unit_test_setup(test_errno_is_left_alone, to_default),
		cmocka_unit_test(test_all_64),
		cmocka_unit_test_setup(test_one_struct_for_both, to_default),
		cmocka_unit_test_setup(test_put_back, to_default),
		cmocka_unit_test_setup(test_two_install_at_once, to_default),
		cmocka_unit_test_setup(test_a_child_of_vfork, to_default),
		cmocka_unit_test_setup(test_more_than_there_are_places, to_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
