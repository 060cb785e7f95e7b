/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/lines.h"
#include "os/own_fd.h"
#include "os/syscall.h"

bool iw_lines_open(struct iw_lines *l, const char *path, size_t bytes_most)
{
	l->fd = iw_own_open_briefly(path);
	l->begin = l->end = 0;
	l->left = bytes_most;
	l->skipping = false;
	return l->fd >= 0;
}

/* Make room and read more. False at the end. */
static bool fill(struct iw_lines *l)
{
	int saved_errno = errno;
	size_t room;
	long n;

	if (l->begin == 0 && l->end == sizeof(l->text)) {
		l->skipping = true;
		l->end = 0;
	}
	memmove(l->text, l->text + l->begin, l->end - l->begin);
	l->end -= l->begin;
	l->begin = 0;
	room = sizeof(l->text) - l->end;
	n = IW_SYS(SYS_read, l->fd, l->text + l->end, room < l->left ? room : l->left);
	errno = saved_errno;
	if (n <= 0)
		return false;
	l->end += (size_t)n;
	l->left -= (size_t)n;
	return true;
}

char *iw_lines_next(struct iw_lines *l)
{
	for (;;) {
		char *line = l->text + l->begin;
		char *newline = memchr(line, '\n', l->end - l->begin);
		bool rest = l->skipping;

		if (!newline) {
			if (!fill(l))
				return NULL;
			continue;
		}
		*newline = '\0';
		l->begin = (size_t)(newline + 1 - l->text);
		l->skipping = false;
		if (!rest)
			return line;
	}
}

void iw_lines_close(struct iw_lines *l)
{
	int saved_errno = errno;

	(void)IW_SYS(SYS_close, l->fd);
	errno = saved_errno;
}
