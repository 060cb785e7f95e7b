/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void become(char *const argv[], const char *out, const char *err)
{
	int from = open("/dev/null", O_RDONLY);
	int to = open(out ? out : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int to_err = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	dup2(from, STDIN_FILENO);
	dup2(to, STDOUT_FILENO);
	dup2(to_err, STDERR_FILENO);
	/* Survives the exec: whatever the program waits for, it does not wait longer. */
	alarm(CHILD_SECONDS_MOST);
	execv(argv[0], argv);
	dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* The last line that the program wrote on stderr. */
static void last_words(const char *path, char *why, int size)
{
	char *text = child_read_file(path);
	char *line = text;

	if (text && *text) {
		text[strlen(text) - 1] = 0;
		line = strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
	}
	snprintf(why, (size_t)size, "%s", text ? line : "");
	free(text);
}

bool child_run(char *const argv[], const char *out, const char *err, char *why, int size)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		become(argv, out, err);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		snprintf(why, (size_t)size, "cannot start it: %s", strerror(errno));
		return false;
	}
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	last_words(err, why, size);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		snprintf(why, (size_t)size, "took more than %d s", CHILD_SECONDS_MOST);
	else if (WIFSIGNALED(status))
		snprintf(why, (size_t)size, "died: %s", strsignal(WTERMSIG(status)));
	else if (!*why)
		snprintf(why, (size_t)size, "ended with status %d", WEXITSTATUS(status));
	return false;
}

char *child_read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	char *text = NULL;
	size_t n = 0;

	if (f && !fstat(fileno(f), &st))
		text = malloc((size_t)st.st_size + 1);
	if (text) {
		n = fread(text, 1, (size_t)st.st_size, f);
		text[n] = 0;
	}
	if (f)
		fclose(f);
	return text;
}
