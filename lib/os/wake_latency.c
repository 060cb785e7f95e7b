/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/file.h"
#include "os/fork.h"
#include "os/own_fd.h"
#include "os/own_lock.h"
#include "os/syscall.h"
#include "os/wake_latency.h"

#define DEVICE "/dev/cpu_dma_latency"

/* Of the first CPU stands for all: they have one driver. */
#define FIRST_STATE "/sys/devices/system/cpu/cpu0/cpuidle/state0/name"

/*
 * Not atomic words: a child of fork(2) must not have a descriptor that only a caller in the middle
 * of open(2) or close(2) knows of. Held by fork itself meanwhile.
 */
static struct iw_own_lock lock;
static int users;                    /* protected by lock, and what follows too */
static int device;                   /* open if there are users, ... */
static dev_t device_is;              /* ... and what it was opened as */
static int64_t since;                /* the request's beginning */
static struct iw_wake_latency total; /* without the time since then */

/* Forks are told of: set before main(). */
static bool have_hooks;

/* Not libc's, which are cancellation points. */
static int open_device(void)
{
	return iw_own_open(AT_FDCWD, DEVICE, O_WRONLY, 0);
}

static int write_zero(int fd)
{
	const int32_t us = 0;

	return IW_SYS(SYS_write, fd, &us, sizeof(us)) == sizeof(us) ? 0 : -errno;
}

static void drop(int fd)
{
	(void)IW_SYS(SYS_close, fd);
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
	iw_own_lock(&lock);
}

static void in_parent(void)
{
	iw_own_unlock(&lock);
}

/* The request is of the open file, which parent and child share. The child has none of its own. */
static void in_child(void)
{
	if (users)
		drop_device();
	users = 0;
	total = (struct iw_wake_latency){ .requests = 0 };
	iw_own_unlock(&lock);
}

static const struct iw_fork_hooks fork_hooks = { before_fork, in_parent, in_child };

static IW_FORK_CONSTRUCTOR void hook(void)
{
	have_hooks = iw_fork_hook(IW_FORK_WAKE_LATENCY, &fork_hooks);
}

static int cpus_can_poll(void)
{
	char name[16];

	return iw_file_read(FIRST_STATE, name, sizeof(name)) > 0 && !strcmp(name, "POLL\n")
		       ? 0
		       : -EOPNOTSUPP;
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
	return iw_own_fd(fd);
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
	if (!have_hooks)
		return -ENOMEM;
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
	int64_t past_ns = users ? iw_clock_ns() - since : 0;

	return past_ns > 0 ? (uint64_t)past_ns : 0;
}

struct iw_wake_latency iw_wake_latency_total(void)
{
	struct iw_wake_latency t;

	iw_own_lock(&lock);
	t = total;
	t.held_ns += held_now_ns();
	iw_own_unlock(&lock);
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

	iw_own_lock(&lock);
	r = begin_locked();
	iw_own_unlock(&lock);
	errno = saved_errno;
	return r;
}

int iw_wake_latency_end(void)
{
	int saved_errno = errno, r = -EINVAL;

	iw_own_lock(&lock);
	if (users) {
		r = 0;
		end_locked();
	}
	iw_own_unlock(&lock);
	errno = saved_errno;
	return r;
}
