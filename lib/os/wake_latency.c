/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/file.h"
#include "os/wake_latency.h"

#define DEVICE "/dev/cpu_dma_latency"

/* Of the first CPU stands for all: they have one driver. */
#define FIRST_STATE "/sys/devices/system/cpu/cpu0/cpuidle/state0/name"

/* A program that has closed its standard streams must not print into the device. */
#define LEAST_FD 3

/*
 * Not atomic words: a child of fork(2) must not have a descriptor that only a caller in the middle
 * of open(2) or close(2) knows of. Held by fork itself meanwhile.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;                    /* protected by lock, and what follows too */
static int device;                   /* open if there are users, ... */
static dev_t device_is;              /* ... and what it was opened as */
static bool have_hook;               /* in_child() is known to libc */
static int64_t since;                /* the request's beginning */
static struct iw_wake_latency total; /* without the time since then */

/* Not libc's, which are cancellation points. */
static int open_device(void)
{
	long fd = syscall(SYS_openat, AT_FDCWD, DEVICE, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int write_zero(int fd)
{
	const int32_t us = 0;

	return syscall(SYS_write, fd, &us, sizeof(us)) == sizeof(us) ? 0 : -errno;
}

static void drop(int fd)
{
	(void)syscall(SYS_close, fd);
}

/* Who closes all descriptors has closed this one too, and its number may be somebody else's. */
static void drop_device(void)
{
	struct stat st;

	if (fstat(device, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == device_is)
		drop(device);
}

static void before_fork(void)
{
	(void)pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	(void)pthread_mutex_unlock(&lock);
}

/* The request is of the open file, which parent and child share. The child has none of its own. */
static void in_child(void)
{
	if (users)
		drop_device();
	users = 0;
	total = (struct iw_wake_latency){ .requests = 0 };
	(void)pthread_mutex_unlock(&lock);
}

static int cpus_can_poll(void)
{
	char name[16];

	return iw_file_read(FIRST_STATE, name, sizeof(name)) > 0 && !strcmp(name, "POLL\n")
		       ? 0
		       : -EOPNOTSUPP;
}

static int above_streams(int fd)
{
	int higher = fcntl(fd, F_DUPFD_CLOEXEC, LEAST_FD);
	int r = higher < 0 ? -errno : higher;

	drop(fd);
	return r;
}

/* A descriptor of the request, or a negative errno. */
static int request(void)
{
	int fd = open_device(), r;

	if (fd < 0)
		return fd;
	r = cpus_can_poll();
	r = r ? r : write_zero(fd);
	if (r) {
		drop(fd);
		return r;
	}
	return fd < LEAST_FD ? above_streams(fd) : fd;
}

static dev_t kind_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_rdev : 0;
}

static int begin_locked(void)
{
	int r;

	if (users == INT_MAX)
		return -EOVERFLOW;
	if (!have_hook && pthread_atfork(before_fork, in_parent, in_child))
		return -ENOMEM;
	have_hook = true;
	if (!users) {
		r = request();
		if (r < 0)
			return r;
		device = r;
		device_is = kind_of(r);
		since = iw_clock_ns();
		total.requests++;
	}
	users++;
	return 0;
}

static uint64_t held_now_ns(void)
{
	return users ? (uint64_t)(iw_clock_ns() - since) : 0;
}

struct iw_wake_latency iw_wake_latency_total(void)
{
	struct iw_wake_latency t;

	(void)pthread_mutex_lock(&lock);
	t = total;
	t.held_ns += held_now_ns();
	(void)pthread_mutex_unlock(&lock);
	return t;
}

static void end_locked(void)
{
	if (users == 1) {
		total.held_ns += held_now_ns();
		drop_device();
	}
	users--;
}

int iw_wake_latency_begin(void)
{
	int saved_errno = errno, r;

	(void)pthread_mutex_lock(&lock);
	r = begin_locked();
	(void)pthread_mutex_unlock(&lock);
	errno = saved_errno;
	return r;
}

int iw_wake_latency_end(void)
{
	int saved_errno = errno, r = -EINVAL;

	(void)pthread_mutex_lock(&lock);
	if (users) {
		r = 0;
		end_locked();
	}
	(void)pthread_mutex_unlock(&lock);
	errno = saved_errno;
	return r;
}
