/* SPDX-License-Identifier: MIT */
/*
 * Wait for the first of several objects.
 *
 *	struct ipcwait_waitable set[] = {
 *		{ .type = IPCWAIT_WAITABLE_SEM, .object = &jobs },
 *		{ .type = IPCWAIT_WAITABLE_EVENT, .object = &stop },
 *	};
 *
 *	switch (ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, NULL)) {
 *	case 0:
 *		take_job();      // the token is ours
 *		break;
 *	case 1:
 *		return;          // the event is set
 *	}
 *
 * What is taken, of one object, while all others stay as they were:
 *
 *   FUTEX       nothing; the word differs from .expected, or was woken
 *   SEM         a token
 *   EVENT       an auto-reset event's signal; nothing of a manual one, which is set, or was
 *               during the wait
 *   EVENTCOUNT  a notification that came after ipcwait_eventcount_prepare() gave .expected.
 *               The prepared wait is over, as by ipcwait_eventcount_commit(): nothing to
 *               cancel. Keys of event counts that were not taken remain good for another
 *               wait, or ipcwait_eventcount_cancel()
 *   QUEUE       nothing; there is an element, or it is closed. Another thread may be faster, so
 *               try, and wait again
 *   CHANNEL     the same; a select both waits and takes, ipcwait_channel_select()
 *   FD          nothing; poll(2) would report it, and .revents of its struct pollfd says what:
 *               POLLNVAL too, of what is no open descriptor. Another thread may be faster
 *
 * Cost: an object that is there takes the objects before it one load each. A sleep is one
 * system call, futex_waitv(2). Waking such a sleeper costs what waking any other does.
 *
 * Descriptors: a look at one is a call of ppoll(2), and in a set with descriptors the thread
 * yields between its looks, as in fd.h. No system call sleeps on descriptors and on anything
 * else. So at the first such sleep the library makes a thread, "ipcwait-fd", which takes no
 * signals, sleeps in epoll_wait(2), and wakes the sleepers: a wake by a descriptor goes by way
 * of it. It ends when nobody has slept so for 5 seconds, and is made anew. Its descriptors stay
 * as long as the process, one and one more for each thread that sleeps so at a time. Beside the
 * sleep each descriptor costs two calls of epoll_ctl(2), and the set one. Who waits for
 * descriptors only takes ipcwait_poll(), which needs none of that.
 *
 * Guarantees: exactly one object is taken, and none with an error. No wake is lost: one that
 * reached this thread while it took something else goes to another sleeper of that object.
 * Objects at the front are preferred: where that starves the others, rotate the set. No signal
 * handler ends the wait, whatever flags the objects have: the kernel goes on after those with
 * SA_RESTART, and says nothing of them.
 *
 * Limits: at most IPCWAIT_WAIT_ANY_MAX objects. Where the kernel has no futex_waitv(2) (Linux
 * before 5.16, or a filter) only the first object wakes the thread at once. The others are
 * looked at after 50 us, 100 us, ... and then every millisecond, which takes some 2 % of a
 * CPU; so the most urgent one goes first. Raw words: a wake of one thread may reach one
 * that waits for several and takes another object; it is passed on if the word has changed.
 * Of threads in sets with descriptors 64 at a time are woken by them. A thread beyond these checks
 * after 1 ms, and doubles that time after each check, up to 2n ms when n such threads sleep in the
 * process. All do so where no thread or descriptor is to be had for it, or the program has closed
 * the library's descriptors. The thread is of no real-time class.
 * The wait takes 1200 bytes of stack and 40 for each object; ipcwait_futex_wait_any() 64 for each;
 * the first sleep of the process with a descriptor 5 KiB more.
 *
 * Death: of a process that waits costs what it costs each of its objects. Sleepers look after
 * 1, 2, 4 and then every 8 seconds if there is a descriptor, or if an object other than a raw
 * word can be shared.
 * Fork: a child has neither that thread nor its descriptors, and makes its own when it needs them.
 */
#ifndef IPCWAIT_WAIT_ANY_H
#define IPCWAIT_WAIT_ANY_H

#include <ipcwait/base.h>
#include <ipcwait/policy.h>

/* The kernel's limit. */
#define IPCWAIT_WAIT_ANY_MAX 128

enum ipcwait_waitable_type {
	IPCWAIT_WAITABLE_FUTEX,      /* uint32_t, as in futex.h */
	IPCWAIT_WAITABLE_SEM,        /* struct ipcwait_sem */
	IPCWAIT_WAITABLE_EVENT,      /* struct ipcwait_event */
	IPCWAIT_WAITABLE_EVENTCOUNT, /* struct ipcwait_eventcount */
	IPCWAIT_WAITABLE_QUEUE,      /* struct ipcwait_queue, as create() has returned it */
	IPCWAIT_WAITABLE_CHANNEL,    /* struct ipcwait_channel, the same */
	IPCWAIT_WAITABLE_FD,         /* struct pollfd of <poll.h> */
};

/* One of the objects to wait for. */
struct ipcwait_waitable {
	enum ipcwait_waitable_type type;
	unsigned flags; /* FUTEX: 0 or IPCWAIT_PRIVATE; else 0, the object knows */
	void *object;   /* the same one twice is allowed, a descriptor too, but of no use */
	uint64_t expected; /* FUTEX: value to sleep on; EVENTCOUNT: key; else ignored */
};

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_wait_any() - take the first of several objects that is there
 * @set:         the objects, initialised or all-zero; the most urgent first
 * @n:           how many, 1 .. IPCWAIT_WAIT_ANY_MAX
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 * @w:           what is known about waits on this set: spins as it says and learns from
 *               this wait. NULL: what the calling thread has learned from its waits with NULL
 *
 * Looks at the objects in their order, spins for the learned window, then sleeps. An object
 * that is there is taken even if the deadline has passed.
 *
 * Return: the index in @set of the object that the caller has taken. At the first look that
 *         is the lowest. Any error: none was taken.
 *   -ETIMEDOUT  deadline reached
 *   -EINVAL     @set is NULL, @n is out of range, @w is misaligned; or an object is NULL,
 *               misaligned, finished, of unknown type, has unknown flags, an impossible
 *               .expected or a negative .fd
 *   -ENOMEM     the kernel had no memory for so many objects
 *   -ENOSYS     the kernel, or a filter, forbids futex(2)
 *
 * Ordering:     acquire on an object: as its own wait; none on a raw word or a descriptor
 * Threads:      any
 * Processes:    any that map an object, unless it is private; @w as its memory
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     all objects and @w must live until the call returns; the one that was taken
 *               only until then, as after its own wait. A descriptor that is closed meanwhile
 *               is seen to be within a second
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_wait_any(const struct ipcwait_waitable *set,
						    unsigned n, int64_t deadline_ns,
						    struct ipcwait_window *w);

IPCWAIT_END_DECLS

#endif
