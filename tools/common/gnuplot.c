/* SPDX-License-Identifier: MIT */
#include "gnuplot.h"
#include "complain.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int gnuplot_check(void)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	for (; path && *path; path += *path == ':') {
		int length = (int)strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/gnuplot", length, path);
		if (!access(file, X_OK))
			return 0;
		path += length;
	}
	return complain("--svg needs gnuplot, which is not on the PATH; on Debian: "
			"apt-get install gnuplot-nox");
}

/* The script in a file without a name, or NULL. */
static FILE *make_script(void (*write)(FILE *script, const void *arg), const void *arg)
{
	int fd = memfd_create("gnuplot script", MFD_CLOEXEC);
	FILE *g = fd < 0 ? NULL : fdopen(fd, "w+");

	if (!g)
		return NULL;
	write(g, arg);
	if (!fflush(g) && !fseek(g, 0, SEEK_SET))
		return g;
	fclose(g);
	return NULL;
}

static _Noreturn void be_gnuplot(int script, int out)
{
	if (dup2(script, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(127);
	execlp("gnuplot", "gnuplot", (char *)NULL);
	_exit(127);
}

/* Run it from one file to another. Returns its wait status, or -1. */
static int run(FILE *script, FILE *out)
{
	int status = -1;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0)
		be_gnuplot(fileno(script), fileno(out));
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

int gnuplot_draw(FILE *out, void (*write)(FILE *script, const void *arg), const void *arg)
{
	FILE *script = make_script(write, arg);
	int status = script ? run(script, out) : -1, error = errno;

	if (script)
		fclose(script);
	if (status < 0)
		return complain("--svg: cannot start gnuplot: %s", strerror(error));
	return status ? complain("--svg: gnuplot failed") : 0;
}
