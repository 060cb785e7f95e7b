/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "env/config.h"
#include "fd.h"
#include "os/descriptor.h"
#include "os/seam.h"

#define VARIABLE "IPCWAIT_FD"

/* The kernel is asked what a descriptor is once in so many calls: it may be another by now. */
#define CALLS_PER_QUESTION 64

/* And whether it has O_NONBLOCK in so many waits. */
#define WAITS_PER_QUESTION 16

/* Those beyond are asked about each time. */
#define NUMBERS 4096

#define NS_PER_S 1000000000

/* User addresses are below, on all CPUs; the place needs what tells two waits apart. */
#define ADDRESS_BITS 48

bool iw_fd_is_on;

static __attribute__((constructor)) void read_variable(void)
{
	static struct ipcwait_word32 warnings;
	const char *text = iw_config_variable(VARIABLE);

	iw_fd_is_on = text && strcmp(text, "1") == 0;
	if (text && !iw_fd_is_on && strcmp(text, "0") != 0)
		iw_config_warn_once_of(&warnings, VARIABLE, text, "not 0 or 1");
}

static enum fd_kind ask_kind(int fd)
{
	int saved_errno = errno;
	enum fd_kind kind = FD_NEVER;
	struct stat st;

	if (fstat(fd, &st) == 0) {
		if (S_ISSOCK(st.st_mode))
			kind = FD_SOCKET;
		else if (S_ISFIFO(st.st_mode) || !(st.st_mode & S_IFMT))
			kind = FD_OTHER;
	}
	errno = saved_errno;
	return kind;
}

/* What the descriptors are, and above it the calls until the next question. */
static struct ipcwait_word32 known[NUMBERS];

static uint32_t just_known(enum fd_kind kind)
{
	return kind + FD_KINDS * CALLS_PER_QUESTION;
}

enum fd_kind iw_fd_kind(int fd)
{
	uint32_t k;

	if (fd < 0 || fd >= NUMBERS)
		return ask_kind(fd);
	/* ORD fd.X1: relaxed, hint: whoever has it wrong asks again soon. */
	k = ipcwait_impl_load32_relaxed(&known[fd]);
	k = k < FD_KINDS ? just_known(ask_kind(fd)) : k - FD_KINDS;
	/* ORD fd.X2: relaxed, hint as fd.X1. */
	ipcwait_impl_store32_relaxed(&known[fd], k);
	return (enum fd_kind)(k % FD_KINDS);
}

bool iw_fd_was_nonblocking(int fd)
{
	uint32_t k;

	if (fd < 0 || fd >= NUMBERS)
		return false;
	/* ORD fd.X4: relaxed, hint as fd.X1. */
	k = ipcwait_impl_load32_relaxed(&known[fd]);
	if (k % FD_KINDS != FD_NONBLOCKING || k < FD_KINDS)
		return false;
	/* ORD fd.X5: relaxed, hint as fd.X1. */
	ipcwait_impl_store32_relaxed(&known[fd], k - FD_KINDS);
	return true;
}

void iw_fd_note_kind(int fd, enum fd_kind kind)
{
	if (fd >= 0 && fd < NUMBERS)
		/* ORD fd.X3: relaxed, hint as fd.X1. */
		ipcwait_impl_store32_relaxed(&known[fd], just_known(kind));
}

void iw_fd_set_timeout(struct fd_front *me, int64_t ns)
{
	int64_t now;

	me->base.limit.clock = CLOCK_MONOTONIC;
	if (ns < 0)
		return;
	now = iw_clock_ns();
	if (ns >= IW_DEADLINE_MOST_NS - now)
		return;
	me->until = iw_futex_deadline(now + ns);
	me->base.limit.at = &me->until;
}

struct timespec iw_fd_left(const struct fd_front *me)
{
	int64_t ns = me->until.tv_sec * NS_PER_S + me->until.tv_nsec - iw_clock_ns();

	return iw_futex_deadline(ns < 0 ? 0 : ns);
}

static const struct fd_call *call_of(const struct front *base)
{
	return (const struct fd_call *)base->base.what;
}

/*
 * Of the descriptor that it is asked about most: what was true lately may be believed, as the call
 * itself has the last word.
 */
bool iw_fd_blocks(struct fd_front *me)
{
	static _Thread_local struct {
		int fd;
		unsigned left;
	} blocking __attribute__((tls_model("initial-exec")));

	unsigned left;

	if (me->asked || me->fd < 0)
		return true;
	me->asked = true;
	/* A handler may have it in between: it is read once. */
	left = blocking.left;
	if (left && blocking.fd == me->fd) {
		blocking.left = left - 1;
		return true;
	}
	if (iw_fd_nonblocking(me->fd)) {
		iw_fd_note_kind(me->fd, FD_NONBLOCKING);
		return false;
	}
	blocking.fd = me->fd;
	blocking.left = WAITS_PER_QUESTION;
	return true;
}

int iw_fd_take(const struct front *base)
{
	struct fd_front *me = (struct fd_front *)base;

	me->value = call_of(base)->look(me);
	if (me->value >= 0)
		return 0;
	if (errno != EAGAIN)
		return errno;
	/* What does not block answers itself: of a file, a look may find less than a read would. */
	return iw_fd_blocks(me) ? EBUSY : iw_fd_block(base);
}

int iw_fd_block(const struct front *base)
{
	struct fd_front *me = (struct fd_front *)base;

	me->value = call_of(base)->block(me);
	if (me->value < 0)
		return errno;
	return me->value || !base->limit.at ? 0 : ETIMEDOUT;
}

/* The call looks itself; the word says nothing. */
struct iw_rest iw_fd_settle(struct iw_waiter *base)
{
	static const uint32_t none;
	struct iw_rest rest = iw_rest_on(&none, 0);

	rest.taken = iw_front_interrupted((struct front *)base);
	rest.may_spin = false;
	return rest;
}

ssize_t iw_fd_wait(struct fd_front *me, const struct fd_call *call, unsigned what,
		   uintptr_t site)
{
	uintptr_t about = site ^ ((uintptr_t)what << ADDRESS_BITS);
	int r;

	me->base.object = (void *)about;
	me->base.point = true;
	r = iw_front_wait(&me->base, &call->front, site);
	if (r == 0 || (r == ETIMEDOUT && me->value == 0))
		return me->value;
	errno = r;
	return -1;
}
