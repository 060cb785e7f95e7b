/* SPDX-License-Identifier: MIT */
/*
 * Wait for descriptors: sockets, pipes, eventfds, and whatever else poll(2) knows.
 *
 *	long n = ipcwait_recv(socket, reply, sizeof(reply), 0, NULL);
 *
 *	if (n < 0)
 *		return (int)n;
 *
 * These are the system calls that they are named after. But before a call sleeps it looks,
 * without blocking, for as long as waits on this descriptor deserve: in a virtual machine a
 * sleep costs the reply 20 to 60 us, and a look 0.3. Whoever is waited for need not know of it,
 * and may be anything: another thread, process or machine.
 *
 * Between looks the thread offers its CPU to others, with sched_yield(2): where CPUs are short,
 * the one that is waited for may be ready to run on this very CPU. A spin in which the kernel
 * ran others for 100 us or more ends, and the call sleeps. Where a thread shares its CPU with
 * whoever it waits for, it finds out whether to yield or to sleep is cheaper.
 *
 * Cost: what is there already costs no more than the plain call. Where the kernel has no read
 * that does not wait for such a descriptor (pipes before Linux 6.4, sockets before 6.5),
 * ipcwait_read() asks poll(2) first. A wait on a descriptor whose waits are long costs the plain
 * call and some 0.1 us.
 * Guarantees: what the plain calls guarantee; nothing is read that is not returned.
 * Limits: a low water mark, SO_RCVLOWAT, is not heeded by looks, which take what is there. A
 * signal handler that runs while the call looks does not end it, as one that runs right before
 * the plain call does not: who waits for signals too takes signalfd(2) or a pipe.
 */
#ifndef IPCWAIT_FD_H
#define IPCWAIT_FD_H

#include <ipcwait/base.h>
#include <ipcwait/policy.h>

struct epoll_event; /* <sys/epoll.h> */
struct pollfd;      /* <poll.h>, whose nfds_t is an unsigned long */

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_read() - read(2) that looks before it sleeps
 * @fd:     what to read from
 * @buffer: where to
 * @bytes:  how many at most
 * @w:      what is known about waits on @fd: spins as it says and learns from this wait. NULL: one
 *          of the library's, by the number of the descriptor
 *
 * A descriptor with O_NONBLOCK is not waited for. Where several threads read one and the kernel
 * has only poll(2) to ask, a look may see what another takes; then the call sleeps, as read(2)
 * would.
 *
 * Return: what read(2) does, the number of bytes, 0 at the end; any failure as a negative errno:
 *   -EAGAIN  nothing is there, and @fd has O_NONBLOCK; or SO_RCVTIMEO of a socket has passed
 *   -EINTR   a signal handler ran while the call slept, and was installed without SA_RESTART
 *   -EINVAL  @w is misaligned; or read(2) says so
 *   others   as in read(2)
 *
 * Ordering:     what the kernel's copying gives: data that was written before is seen
 * Threads:      any
 * Processes:    any
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     @w must live until the call returns. Every look goes by the number @fd, also
 *               after the descriptor was closed
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK long ipcwait_read(int fd, void *buffer, size_t bytes,
						 struct ipcwait_window *w);

/**
 * ipcwait_recv() - recv(2) that looks before it sleeps
 * @fd:     a socket
 * @buffer: where to
 * @bytes:  how many at most
 * @flags:  as for recv(2); with MSG_DONTWAIT, MSG_WAITALL, MSG_OOB or MSG_ERRQUEUE it does not
 *          look but calls
 * @w:      as for ipcwait_read()
 *
 * A look is the call itself, with MSG_DONTWAIT. SO_RCVTIMEO counts from when the call sleeps.
 *
 * Return: what recv(2) does; any failure as a negative errno:
 *   -EAGAIN    nothing is there, and @fd has O_NONBLOCK or @flags MSG_DONTWAIT; or SO_RCVTIMEO
 *              has passed
 *   -EINTR     a signal handler ran while the call slept, see recv(2)
 *   -EINVAL    @w is misaligned; or recv(2) says so
 *   -ENOTSOCK  @fd is no socket
 *   others     as in recv(2)
 *
 * Ordering:     as of ipcwait_read()
 * Threads:      any
 * Processes:    any
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as of ipcwait_read()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK long ipcwait_recv(int fd, void *buffer, size_t bytes,
						 int flags, struct ipcwait_window *w);

/**
 * ipcwait_poll() - poll(2) that looks before it sleeps, with a deadline
 * @fds:         the descriptors, and what of them
 * @n:           how many
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires
 * @w:           as for ipcwait_read(); NULL: one of the library's, by the number of the first
 *               descriptor
 *
 * Looks once if the deadline has passed.
 *
 * Return: the number of descriptors with .revents, above 0. Any failure as a negative errno:
 *   -ETIMEDOUT  deadline reached, and none has
 *   -EINTR      a signal handler ran while the call slept, whatever its flags
 *   -EINVAL     @w is misaligned; or poll(2) says so
 *   others      as in poll(2)
 *
 * Ordering:     as of ipcwait_read(), with the read that follows
 * Threads:      any
 * Processes:    any
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as of ipcwait_read()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_poll(struct pollfd *fds, unsigned long n,
						int64_t deadline_ns,
						struct ipcwait_window *w);

/**
 * ipcwait_epoll_wait() - epoll_wait(2) that looks before it sleeps, with a deadline
 * @fd:          of epoll_create1(2)
 * @events:      where to
 * @most:        how many at most, above 0
 * @deadline_ns: absolute, CLOCK_MONOTONIC; IPCWAIT_FOREVER never expires. Before Linux 5.11 it is
 *               kept to the millisecond above it
 * @w:           as for ipcwait_read()
 *
 * Looks once if the deadline has passed. Edges are reported once, as by epoll_wait(2).
 *
 * Return: the number of events, above 0. Any failure as a negative errno:
 *   -ETIMEDOUT  deadline reached, and there is none
 *   -EINTR      a signal handler ran while the call slept, whatever its flags;
 *               or the process was stopped and went on (SIGSTOP, SIGCONT), see signal(7)
 *   -EINVAL     @w is misaligned; or epoll_wait(2) says so
 *   others      as in epoll_wait(2)
 *
 * Ordering:     as of ipcwait_read(), with the read that follows
 * Threads:      any
 * Processes:    any
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     as of ipcwait_read()
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_epoll_wait(int fd, struct epoll_event *events,
						      int most, int64_t deadline_ns,
						      struct ipcwait_window *w);

IPCWAIT_END_DECLS

#endif
