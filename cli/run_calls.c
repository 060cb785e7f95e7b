/* SPDX-License-Identifier: MIT */
/*
 * Where a filter of system calls (seccomp(2)) is in force, as in every container: which of the
 * preload module's own calls it allows. A child tries them, since a filter may kill who makes one;
 * the next child goes on behind the call that has killed the one before.
 */
#include "run.h"
#include "../tools/common/calls_form.h"
#include "../tools/common/complain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* A descriptor that is none, and a path that leads nowhere: the call is made, and does nothing. */
#define NO_FD   (-1)
#define NO_PATH ""

/*
 * The call went through the filter: it succeeds, or fails with what the kernel itself says to it.
 */
static bool passes(long result, int error)
{
	return result >= 0 || errno == error;
}

static bool try_yield(void)
{
	return passes(sched_yield(), 0);
}

static bool try_flags(void)
{
	return passes(fcntl(NO_FD, F_GETFL), EBADF);
}

static bool try_kind(void)
{
	struct stat st;

	return passes(fstat(NO_FD, &st), EBADF);
}

static bool try_read_now(void)
{
	char byte;
	struct iovec one = { &byte, 1 };

	return passes(preadv2(NO_FD, &one, 1, -1, RWF_NOWAIT), EBADF);
}

static bool try_poll(void)
{
	const struct timespec now = { 0, 0 };

	return passes(ppoll(NULL, 0, &now, NULL), 0);
}

static bool try_recv(void)
{
	char byte;

	return passes(recv(NO_FD, &byte, 1, MSG_DONTWAIT), EBADF);
}

static bool try_affinity(void)
{
	unsigned long mask[128];

	return getpid() > 0 &&
	       passes(sched_getaffinity(0, sizeof(mask), (cpu_set_t *)mask), 0);
}

/* Both are no advice for no memory at all. */
static bool try_forget(void)
{
	return passes(madvise(NULL, 0, -1), EINVAL) &&
	       passes(madvise(NULL, 0, MADV_WIPEONFORK), EINVAL);
}

static bool try_thread_id(void)
{
	return passes(gettid(), 0) && getpid() > 0 && passes(sched_getcpu(), 0);
}

static bool try_random(void)
{
	char byte;

	return passes(getrandom(&byte, 1, GRND_NONBLOCK), EAGAIN);
}

/* Nothing is waited for. */
static bool try_signals(void)
{
	const struct timespec now = { 0, 0 };
	sigset_t none, pending;

	sigemptyset(&none);
	return clock_nanosleep(CLOCK_MONOTONIC, 0, &now, NULL) == 0 &&
	       passes(sigpending(&pending), 0) &&
	       passes(sigtimedwait(&none, NULL, &now), EAGAIN);
}

/* What the statistics page, a record, the tally and the library's own messages take. */
static bool try_making_files(void)
{
	struct rlimit most;
	struct statfs fs;
	char entry;

	return passes(mkdir(NO_PATH, 0), ENOENT) && passes(unlink(NO_PATH), ENOENT) &&
	       passes(unlinkat(AT_FDCWD, NO_PATH, 0), ENOENT) &&
	       passes(sigprocmask(SIG_BLOCK, NULL, NULL), 0) && try_signals() &&
	       passes(linkat(AT_FDCWD, NO_PATH, AT_FDCWD, NO_PATH, 0), ENOENT) &&
	       passes(ftruncate(NO_FD, 0), EBADF) && passes(fstatfs(NO_FD, &fs), EBADF) &&
	       passes(fallocate(NO_FD, 0, 0, 1), EBADF) &&
	       passes(pwrite(NO_FD, "", 1, 0), EBADF) &&
	       passes(flock(NO_FD, LOCK_UN), EBADF) &&
	       passes(getdents64(NO_FD, &entry, sizeof(entry)), EBADF) &&
	       passes(getrlimit(RLIMIT_FSIZE, &most), 0);
}

static bool try_files(void)
{
	struct stat st;
	char byte;

	return passes(access(NO_PATH, F_OK), ENOENT) &&
	       passes(stat(NO_PATH, &st), ENOENT) &&
	       passes(readlink(NO_PATH, &byte, 1), ENOENT) && passes((long)geteuid(), 0) &&
	       try_kind() && try_flags() && try_making_files();
}

static bool try_option(void)
{
	int value;
	socklen_t length = sizeof(value);

	return passes(getsockopt(NO_FD, SOL_SOCKET, SO_RCVTIMEO, &value, &length), EBADF);
}

/* The mask stays what it is. */
static bool try_move(void)
{
	unsigned long mask[128] = { 0 };
	long bytes = sched_getaffinity(0, sizeof(mask), (cpu_set_t *)mask);

	return passes(bytes, 0) && passes(sched_getscheduler(0), 0) &&
	       passes(sigprocmask(SIG_BLOCK, NULL, NULL), 0) &&
	       passes(sched_setaffinity(0, sizeof(mask), (cpu_set_t *)mask), 0);
}

static const struct {
	enum calls_bit bit;
	bool (*try)(void);
} calls[] = {
	{ CALLS_YIELD, try_yield },         { CALLS_FLAGS, try_flags },
	{ CALLS_KIND, try_kind },           { CALLS_READ_NOW, try_read_now },
	{ CALLS_POLL, try_poll },           { CALLS_RECV, try_recv },
	{ CALLS_AFFINITY, try_affinity },   { CALLS_FORGET, try_forget },
	{ CALLS_THREAD_ID, try_thread_id }, { CALLS_RANDOM, try_random },
	{ CALLS_FILES, try_files },         { CALLS_OPTION, try_option },
	{ CALLS_MOVE, try_move },
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* Shared with the children. */
struct trial {
	unsigned next; /* the first call that has not been begun */
	unsigned allowed;
};

static void try_calls(struct trial *t)
{
	while (t->next < CALLS) {
		unsigned i = t->next++;

		if (calls[i].try())
			t->allowed |= calls[i].bit;
	}
}

/*
 * False: no child could be made. SIGCHLD may be ignored: then waitpid() only waits. A child that is
 * killed leaves no dump: its parent is not to be dumped meanwhile.
 */
static bool try_in_child(struct trial *t)
{
	pid_t pid = fork();

	if (!pid) {
		try_calls(t);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0;
}

/* The calls that are allowed; 0 if that cannot be tried out. */
static unsigned find_allowed(void)
{
	struct trial *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned allowed;
	int dumps;

	if (t == MAP_FAILED)
		return 0;
	dumps = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	/* A child that dies has begun one call at least. */
	for (unsigned i = 0; i < CALLS && t->next < CALLS; i++)
		if (!try_in_child(t))
			break;
	(void)prctl(PR_SET_DUMPABLE, dumps, 0, 0, 0);
	allowed = t->allowed;
	(void)munmap(t, sizeof(*t));
	return allowed;
}

/* How many filters are in force; 0: none, or the kernel does not tell (before Linux 5.10). */
static unsigned count_filters(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned n = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Seccomp_filters: %u", &n) == 1)
			break;
	if (f)
		(void)fclose(f);
	return n;
}

int run_calls_hand_down(void)
{
	unsigned filters = count_filters();
	char text[64];

	if (!filters)
		return 0;
	snprintf(text, sizeof(text), CALLS_FORMAT, filters, find_allowed());
	return setenv(CALLS_VARIABLE, text, 1) != 0
		       ? complain("cannot set the environment: %s", strerror(errno))
		       : 0;
}
