/* SPDX-License-Identifier: MIT */
/* System calls of our own: libc's open(), read(), write() and close() are cancellation points,
 * and no function of the library may be one. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/calls.h"
#include "os/file.h"
#include "os/own_fd.h"
#include "os/syscall.h"

bool iw_file_join(char *path, size_t size, const char *head, const char *tail)
{
	size_t before = strlen(head), behind = strlen(tail);
	bool fits = before + behind < size;

	path[0] = '\0';
	if (fits) {
		memcpy(path, head, before);
		memcpy(path + before, tail, behind + 1);
	}
	return fits;
}

int iw_file_read(const char *path, char *text, size_t size)
{
	int fd = iw_own_open_briefly(path);
	long n = fd < 0 ? fd
			: iw_syscall(SYS_read, fd, (long)text, (long)(size - 1), 0, 0, 0);

	if (fd >= 0)
		iw_own_fd_close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return (int)n;
}

/* access(2) is cheaper, and may be forbidden where openat(2) is not. */
bool iw_file_exists(const char *path)
{
	int saved_errno = errno;
	bool exists;

	if (iw_call_allowed(IW_CALL_FILES)) {
		exists = access(path, F_OK) == 0;
	} else {
		int fd = iw_own_open_briefly(path);

		exists = fd >= 0;
		if (exists)
			iw_own_fd_close(fd);
	}
	errno = saved_errno;
	return exists;
}

static void write_to_stderr(const char *text, size_t size)
{
	(void)IW_SYS(SYS_write, STDERR_FILENO, text, size);
}

/*
 * Of a pipe that nobody reads, and of a file that may not grow: a write sends a signal to its
 * thread, which would end the program for a text that it has not written. One that was pending
 * before stays.
 */
static void write_without_signals(const char *text, size_t size)
{
	const struct timespec now = { 0, 0 };
	sigset_t sent, before, pending;
	int signal;

	(void)sigemptyset(&sent);
	(void)sigaddset(&sent, SIGPIPE);
	(void)sigaddset(&sent, SIGXFSZ);
	if (pthread_sigmask(SIG_BLOCK, &sent, &before) != 0)
		return;
	if (sigpending(&pending) != 0)
		(void)sigfillset(&pending);
	errno = 0;
	write_to_stderr(text, size);
	signal = errno == EPIPE ? SIGPIPE : errno == EFBIG ? SIGXFSZ : 0;
	if (signal && !sigismember(&pending, signal)) {
		(void)sigemptyset(&sent);
		(void)sigaddset(&sent, signal);
		(void)IW_SYS(SYS_rt_sigtimedwait, &sent, NULL, &now, _NSIG / CHAR_BIT);
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void iw_file_complain(const char *text, size_t size)
{
	int saved_errno = errno;

	if (iw_call_allowed(IW_CALL_FILES))
		write_without_signals(text, size);
	else if (iw_call_allowed(IW_CALL_AGAIN))
		write_to_stderr(text, size);
	errno = saved_errno;
}
