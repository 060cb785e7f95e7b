/* SPDX-License-Identifier: MIT */
/*
 * Starts a program in one of the ways that libc has: start_child WAY PATH [NAME]. In a way that
 * looks through the folders of PATH the program is NAME.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return EXIT_FAILURE;
	return WEXITSTATUS(status);
}

static int by_vfork(const char *path, char **argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		(void)execve(path, argv, environ);
		_exit(127);
	}
	return wait_for(pid);
}

/* From the folder that it is in: which that is, the module cannot tell. */
static int by_spawn_elsewhere(const char *path, char **argv)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions) ||
	    posix_spawn_file_actions_addchdir_np(&actions, "."))
		return EXIT_FAILURE;
	return posix_spawn(&pid, path, &actions, NULL, argv, environ) ? 127 : wait_for(pid);
}

static const char *program;
static char **arguments;

static void start_program(int signal)
{
	(void)signal;
	(void)execve(program, arguments, environ);
	_exit(127);
}

/* On a stack of the least size that signal(7) recommends. */
static int by_handler(const char *path, char **argv)
{
	struct sigaction action = { .sa_handler = start_program, .sa_flags = SA_ONSTACK };
	size_t bytes = (size_t)sysconf(_SC_SIGSTKSZ);
	stack_t stack = { .ss_sp = malloc(bytes), .ss_size = bytes };

	program = path;
	arguments = argv;
	if (!stack.ss_sp || sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL))
		return EXIT_FAILURE;
	return raise(SIGUSR1);
}

static int by_spawn(const char *way, const char *path, const char *name, char **argv)
{
	pid_t pid;
	int r = strcmp(way, "posix_spawnp") == 0
			? posix_spawnp(&pid, name, NULL, NULL, argv, environ)
			: posix_spawn(&pid, path, NULL, NULL, argv, environ);

	return r ? 127 : wait_for(pid);
}

static void by_exec(const char *way, const char *path, const char *name, char **argv)
{
	if (strcmp(way, "execve") == 0)
		(void)execve(path, argv, environ);
	else if (strcmp(way, "execv") == 0)
		(void)execv(path, argv);
	else if (strcmp(way, "execvp") == 0)
		(void)execvp(name, argv);
	else if (strcmp(way, "execvpe") == 0)
		(void)execvpe(name, argv, environ);
	else if (strcmp(way, "execl") == 0)
		(void)execl(path, path, "one", (char *)NULL);
	else if (strcmp(way, "execlp") == 0)
		(void)execlp(name, path, "one", (char *)NULL);
	else if (strcmp(way, "execle") == 0)
		(void)execle(path, path, "one", (char *)NULL, environ);
	else if (strcmp(way, "fexecve") == 0)
		(void)fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, environ);
	else if (strcmp(way, "execveat") == 0)
		(void)execveat(AT_FDCWD, path, argv, environ, 0);
	else if (strcmp(way, "a place") == 0)
		(void)execveat(open(path, O_PATH | O_CLOEXEC), "", argv, environ,
			       AT_EMPTY_PATH);
}

int main(int argc, char **argv)
{
	const char *name = argc > 3 ? argv[3] : "";
	static char *args[] = { NULL, (char *)"one", NULL };

	if (argc < 3)
		return EXIT_FAILURE;
	args[0] = argv[2];
	if (strcmp(argv[1], "vfork") == 0)
		return by_vfork(argv[2], args);
	if (strcmp(argv[1], "handler") == 0)
		return by_handler(argv[2], args);
	if (strcmp(argv[1], "elsewhere") == 0)
		return by_spawn_elsewhere(argv[2], args);
	if (strncmp(argv[1], "posix_", 6) == 0)
		return by_spawn(argv[1], argv[2], name, args);
	by_exec(argv[1], argv[2], name, args);
	perror(argv[1]);
	return 127;
}
