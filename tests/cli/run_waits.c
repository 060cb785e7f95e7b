/* SPDX-License-Identifier: MIT */
/*
 * A program that waits, for the tests of `ipcwait run`: two threads hand a token to and fro.
 *
 * Arguments are done in turn: a number N hands over N times, "close" closes all descriptors,
 * "fork" goes on in a child that the parent waits for, "pause" says so and goes on when a byte or
 * the end of the standard input comes, "children" forks as often as the next argument says, one
 * child after the other, "queued" waits for SIGUSR1 and tells its value, "kill" and "_exit" end
 * the process, and "again" executes the program anew with the arguments that come then.
 */
#include <errno.h>
#include <semaphore.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DESCRIPTORS 1024

static sem_t to, fro;

static void *answer(void *rounds)
{
	for (intptr_t i = 0; i < (intptr_t)rounds; i++) {
		(void)sem_wait(&to);
		(void)sem_post(&fro);
	}
	return NULL;
}

static void hand_over(long rounds)
{
	pthread_t other;

	if (pthread_create(&other, NULL, answer, (void *)(intptr_t)rounds) != 0)
		abort();
	for (long i = 0; i < rounds; i++) {
		(void)sem_post(&to);
		(void)sem_wait(&fro);
	}
	(void)pthread_join(other, NULL);
}

static void close_all(void)
{
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		(void)close(fd);
}

static void go_on_in_child(void)
{
	pid_t pid = fork();
	int status = 1;

	if (pid == 0)
		return;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		abort();
	exit(WEXITSTATUS(status));
}

/* Not by SIGSTOP: who disturbs the tests stops processes too, and lets them go on. */
static void pause_here(void)
{
	char byte;

	dprintf(STDOUT_FILENO, "paused %ld\n", (long)getpid());
	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
		;
}

/* It is blocked before the line comes. */
static void tell_value(void)
{
	siginfo_t info = { .si_signo = 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	dprintf(STDOUT_FILENO, "ready\n");
	while (sigwaitinfo(&set, &info) != SIGUSR1)
		;
	dprintf(STDOUT_FILENO, "value %d\n", info.si_value.sival_int);
}

static void have_children(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			abort();
	}
}

int main(int argc, char **argv)
{
	(void)sem_init(&to, 0, 0);
	(void)sem_init(&fro, 0, 0);
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "close"))
			close_all();
		else if (!strcmp(argv[i], "fork"))
			go_on_in_child();
		else if (!strcmp(argv[i], "pause"))
			pause_here();
		else if (!strcmp(argv[i], "queued"))
			tell_value();
		else if (!strcmp(argv[i], "children") && i + 1 < argc)
			have_children(strtol(argv[++i], NULL, 10));
		else if (!strcmp(argv[i], "kill"))
			(void)kill(getpid(), SIGKILL);
		else if (!strcmp(argv[i], "_exit"))
			_exit(0);
		else if (!strcmp(argv[i], "again")) {
			argv[i] = argv[0];
			(void)execv(argv[0], argv + i);
			abort();
		} else {
			hand_over(strtol(argv[i], NULL, 10));
		}
	}
	return 0;
}
