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

struct files {
	int in, out, err;
};

/* Not to be closed by exec(): where the standard ones are not open, these become them. */
static int open_new(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

static void close_files(const struct files *f)
{
	if (f->in >= 0)
		close(f->in);
	if (f->out >= 0)
		close(f->out);
	if (f->err >= 0)
		close(f->err);
}

static bool open_files(struct files *f, const char *out, const char *err, char *why,
		       int size)
{
	const char *bad = "/dev/null";

	*f = (struct files){ open(bad, O_RDONLY), -1, -1 };
	if (f->in >= 0)
		f->out = open_new(bad = out ? out : bad);
	if (f->out >= 0)
		f->err = open_new(bad = err);
	if (f->err >= 0)
		return true;
	snprintf(why, (size_t)size, "cannot open %s: %s", bad, strerror(errno));
	close_files(f);
	return false;
}

static void become(char *const argv[], const struct files *f)
{
	if (dup2(f->err, STDERR_FILENO) < 0)
		_exit(127);
	if (dup2(f->in, STDIN_FILENO) >= 0 && dup2(f->out, STDOUT_FILENO) >= 0) {
		/* Survives the exec: whatever the program waits for, it does not wait longer. */
		alarm(CHILD_SECONDS_MOST);
		execv(argv[0], argv);
	}
	dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* The last line that the program wrote on stderr, whether it was ended or not. */
static void last_words(const char *path, char *why, int size)
{
	char *text = child_read_file(path);
	size_t n = text ? strlen(text) : 0;
	const char *line;

	while (n && text[n - 1] == '\n')
		text[--n] = 0;
	line = n ? strrchr(text, '\n') : NULL;
	snprintf(why, (size_t)size, "%s", line ? line + 1 : n ? text : "");
	free(text);
}

static bool judge(int status, const char *err, char *why, int size)
{
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

bool child_run(char *const argv[], const char *out, const char *err, char *why, int size)
{
	struct files files;
	int status = 0;
	pid_t pid;
	bool ran;

	if (!open_files(&files, out, err, why, size))
		return false;
	pid = fork();
	if (!pid)
		become(argv, &files);
	ran = pid > 0 && waitpid(pid, &status, 0) == pid;
	if (!ran)
		snprintf(why, (size_t)size, "cannot start it: %s", strerror(errno));
	close_files(&files);
	return ran && judge(status, err, why, size);
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
