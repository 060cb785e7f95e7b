/* SPDX-License-Identifier: MIT */
#include "outfile.h"
#include "complain.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(const char *option, const char *path, int error)
{
	return complain("%s: cannot write '%s': %s", option, shown(path, -1),
			error == ENOTSUP ? "not a regular file" : strerror(error));
}

/* The directory, where the file does not exist yet. */
static int check_room(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX] = ".";
	size_t length = slash ? (size_t)(slash - path) + 1 : 0;

	if (length >= sizeof(folder))
		return ENAMETOOLONG;
	if (slash) {
		memcpy(folder, path, length);
		folder[length] = '\0';
	}
	return access(folder, W_OK) ? errno : 0;
}

/* What the rename would replace must be a file that the user could write. */
static int check_place(const char *path)
{
	struct stat st;

	if (!*path)
		return ENOENT;
	if (stat(path, &st))
		return errno == ENOENT ? check_room(path) : errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (!S_ISREG(st.st_mode))
		return ENOTSUP;
	return access(path, W_OK) ? errno : 0;
}

/* Elsewhere that is the standard output: whoever means a file of that name says so. */
static int refuse_dash(const char *option, const char *path)
{
	return strcmp(path, "-") != 0
		       ? 0
		       : complain("%s is '-', but must be the path of a file; ./- is one",
				  option);
}

int outfile_check(const char *option, const char *path)
{
	int error = check_place(path);

	if (refuse_dash(option, path))
		return -EINVAL;
	return error ? cannot(option, path, error) : 0;
}

static void do_nothing(int signal_number)
{
	(void)signal_number;
}

/*
 * At the limit for the size of files the kernel sends SIGXFSZ, which ends the process. After a
 * handler the write fails with EFBIG. Unlike SIG_IGN, a handler is not passed on by execve(2).
 */
static void outlive_the_limit(void)
{
	const struct sigaction ours = { .sa_handler = do_nothing, .sa_flags = SA_RESTART };
	struct sigaction before;

	if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		(void)sigaction(SIGXFSZ, &ours, NULL);
}

int outfile_open(struct outfile *o, const char *option, const char *path)
{
	int error = check_place(path);
	int n;

	*o = (struct outfile){ .option = option, .path = path };
	if (refuse_dash(option, path))
		return -EINVAL;
	if (error)
		return cannot(option, path, error);
	n = snprintf(o->unfinished, sizeof(o->unfinished), "%s.%ld.unfinished", path,
		     (long)getpid());
	if (n >= (int)sizeof(o->unfinished))
		return cannot(option, path, ENAMETOOLONG);
	outlive_the_limit();
	/* "x" fails rather than follow or empty what is there. */
	o->f = fopen(o->unfinished, "wxe");
	return o->f ? 0 : cannot(option, path, errno);
}

int outfile_complete(struct outfile *o)
{
	int error = fflush(o->f) || ferror(o->f) || fsync(fileno(o->f)) ? errno : 0;

	if (fclose(o->f) && !error)
		error = errno;
	o->f = NULL;
	if (!error && rename(o->unfinished, o->path))
		error = errno;
	if (!error)
		return 0;
	unlink(o->unfinished);
	return cannot(o->option, o->path, error);
}

void outfile_abandon(struct outfile *o)
{
	if (!o->f)
		return;
	fclose(o->f);
	o->f = NULL;
	unlink(o->unfinished);
}
