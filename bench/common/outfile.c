/* SPDX-License-Identifier: MIT */
#include "outfile.h"
#include "complain.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(const struct outfile *o, const char *path, int error)
{
	return complain("%s: cannot write '%s': %s", o->option, shown_path(path),
			error == ENOTSUP ? "not a regular file" : strerror(error));
}

/* What the rename would replace must be a file that the user could write. */
static int check_place(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == ENOENT ? 0 : errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (!S_ISREG(st.st_mode))
		return ENOTSUP;
	return access(path, W_OK) ? errno : 0;
}

int outfile_open(struct outfile *o, const char *option, const char *path)
{
	int error = check_place(path);
	int n, m;

	*o = (struct outfile){ .option = option };
	n = snprintf(o->path, sizeof(o->path), "%s", path);
	m = snprintf(o->unfinished, sizeof(o->unfinished), "%s.%ld.unfinished", path,
		     (long)getpid());
	if (error)
		return cannot(o, path, error);
	if (n >= PATH_MAX || m >= PATH_MAX)
		return cannot(o, path, ENAMETOOLONG);
	/* "x" fails rather than follow or empty what is there. */
	o->f = fopen(o->unfinished, "wxe");
	return o->f ? 0 : cannot(o, path, errno);
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
	return cannot(o, o->path, error);
}

void outfile_abandon(struct outfile *o)
{
	if (!o->f)
		return;
	fclose(o->f);
	o->f = NULL;
	unlink(o->unfinished);
}
