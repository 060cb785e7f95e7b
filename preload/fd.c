/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "env/config.h"
#include "fd.h"
#include "original.h"
#include "os/descriptor.h"
#include "os/seam.h"
#include "signals.h"

#define VARIABLE "IPCWAIT_FD"

/* The kernel is asked what a descriptor is once in so many calls: it may be another by now. */
#define CALLS_PER_QUESTION 64

/* And whether it has O_NONBLOCK in so many waits. */
#define WAITS_PER_QUESTION 16

/* Places for what is known: numbers so far apart share one. */
#define NUMBERS 65536

#define NS_PER_S  1000000000
#define NS_PER_MS 1000000
#define MS_PER_S  1000

/* User addresses are below, on all CPUs; the place needs what tells two waits apart. */
#define ADDRESS_BITS 48

bool iw_fd_wanted;

static __attribute__((constructor)) void read_variable(void)
{
	static struct ipcwait_word32 warnings;
	const char *text = iw_config_variable(VARIABLE);

	iw_fd_wanted = text && strcmp(text, "1") == 0;
	if (iw_fd_wanted)
		iw_find_preadv2();
	if (text && !iw_fd_wanted && strcmp(text, "0") != 0)
		iw_config_warn_once_of(&warnings, VARIABLE, text, "not 0 or 1");
	if (original()->race_detector)
		iw_fd_wanted = false;
}

static enum fd_kind ask_kind(int fd)
{
	int saved_errno = errno;
	enum fd_kind kind = FD_NEVER;
	struct stat st;

	if (iw_call_allowed(IW_CALL_KIND) && fstat(fd, &st) == 0) {
		if (S_ISSOCK(st.st_mode))
			kind = FD_SOCKET;
		else if (S_ISFIFO(st.st_mode) || !(st.st_mode & S_IFMT))
			kind = FD_OTHER;
	}
	errno = saved_errno;
	return kind != FD_NEVER && iw_fd_nonblocking(fd) ? FD_NONBLOCKING : kind;
}

/*
 * What the descriptors are: the kind, above it the calls until the next question, and above that
 * which of the numbers of this place it is about.
 */
static struct ipcwait_word32 known[NUMBERS];

#define SPAN (FD_KINDS * (CALLS_PER_QUESTION + 1))

static struct ipcwait_word32 *fd_word(int fd)
{
	return &known[(uint32_t)fd % NUMBERS];
}

/* The kind, and above it the calls that are left. 0: nothing is known of @fd. */
static uint32_t known_of(int fd)
{
	/* ORD fd.X1: relaxed, hint: a thread that has it wrong asks again soon. */
	uint32_t word = ipcwait_impl_load32_relaxed(fd_word(fd));
	uint32_t k = word - (uint32_t)fd / NUMBERS * SPAN;

	return k < SPAN ? k : 0;
}

static void note_known(int fd, uint32_t k)
{
	/* ORD fd.X2: relaxed, hint as fd.X1. */
	ipcwait_impl_store32_relaxed(fd_word(fd), (uint32_t)fd / NUMBERS * SPAN + k);
}

void iw_fd_note_kind(int fd, enum fd_kind kind)
{
	if (fd >= 0)
		note_known(fd, kind + FD_KINDS * CALLS_PER_QUESTION);
}

enum fd_kind iw_fd_kind(int fd)
{
	enum fd_kind kind;
	uint32_t k;

	if (fd < 0)
		return FD_NEVER;
	k = known_of(fd);
	if (k >= FD_KINDS) {
		note_known(fd, k - FD_KINDS);
		return (enum fd_kind)(k % FD_KINDS);
	}
	kind = ask_kind(fd);
	iw_fd_note_kind(fd, kind);
	return kind;
}

bool iw_fd_was_nonblocking(int fd)
{
	uint32_t k = fd < 0 ? 0 : known_of(fd);

	if (k % FD_KINDS != FD_NONBLOCKING || k < FD_KINDS)
		return false;
	note_known(fd, k - FD_KINDS);
	return true;
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

int iw_fd_left_ms(const struct fd_front *me)
{
	struct timespec left = iw_fd_left(me);

	if (left.tv_sec >= INT_MAX / MS_PER_S)
		return INT_MAX;
	return (int)(left.tv_sec * MS_PER_S + (left.tv_nsec + NS_PER_MS - 1) / NS_PER_MS);
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

	/* A filter of system calls has come while it spun. */
	if (!iw_call_allowed(IW_CALL_AGAIN))
		return iw_fd_block(base);
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

/* Of a socket with SO_RCVTIMEO the kernel begins no call anew after a handler with SA_RESTART. */
static bool is_timed(int fd)
{
	struct timeval most = { 0, 0 };
	socklen_t length = sizeof(most);

	return iw_call_allowed(IW_CALL_OPTION) &&
	       getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, &length) == 0 &&
	       (most.tv_sec || most.tv_usec);
}

/* True if a handler has run that ends the call. */
static bool fd_interrupted(struct fd_front *me)
{
	if (iw_front_interrupted(&me->base))
		return true;
	if (me->handled == iw_handled.any || me->fd < 0 || !is_timed(me->fd))
		return false;
	me->base.result = EINTR;
	return true;
}

/* The call looks itself; the word says nothing. */
struct iw_rest iw_fd_settle(struct iw_waiter *base)
{
	static const uint32_t none;
	struct iw_rest rest = iw_rest_on(&none, 0);

	rest.taken = fd_interrupted((struct fd_front *)base);
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
	me->handled = iw_handled.any;
	r = iw_front_wait(&me->base, &call->front, site);
	if (r == 0 || (r == ETIMEDOUT && me->value == 0))
		return me->value;
	errno = r;
	return -1;
}
