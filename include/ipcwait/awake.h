/* SPDX-License-Identifier: MIT */
/*
 * Keep idle CPUs awake, while a program knows that its threads, or its processes, hand over to
 * each other all the time.
 *
 * An idle CPU of a guest halts, and to wake it takes an interrupt through the hypervisor, 15 to
 * 60 us. What waits on the library's objects spins before it sleeps and does without, and so does
 * what waits for sockets and pipes by <ipcwait/fd.h>. Other waits in the kernel, for disks or of
 * programs that nobody changes, do not spin; but the kernel's idle loop can poll instead of
 * halting. That is what a program asks for between these two calls, of all CPUs of the system:
 *
 *	int awake = ipcwait_awake_begin();       // -EACCES: only root may, by default
 *
 *	answer_requests();
 *	if (awake == 0)
 *		(void)ipcwait_awake_end();
 *
 * Cost: idle CPUs are busy, from the hypervisor's view: their power, and other guests, pay. Never
 * ask for longer than hand-offs last. A program that does not know leaves it to ipcwait-awake(1),
 * which watches how long CPUs are idle, and asks only while that pays.
 *
 * The request is made by holding /dev/cpu_dma_latency open, with 0 us written to it. Nothing is
 * changed that would have to be restored.
 *
 * Death: the kernel closes the descriptor, and with it the request ends, however the process dies.
 *
 * Fork: a child of fork(2) does not have the parent's request; its count is 0. What is executed has
 * none either. A child that was made by clone(2) past the C library, or by vfork(2), has the
 * descriptor until it executes a program or ends, and the request lasts as long.
 */
#ifndef IPCWAIT_AWAKE_H
#define IPCWAIT_AWAKE_H

#include <ipcwait/base.h>

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_awake_begin() - ask that idle CPUs poll
 *
 * Calls are counted: the request lasts until each call that returned 0 has been followed by one of
 * ipcwait_awake_end(), by whichever thread.
 *
 * Return: 0, the request is made.
 *   -EACCES      the process may not open /dev/cpu_dma_latency; ipcwait-awake(1) says how to let it
 *   -ENOENT      there is no such device: a container, or a kernel without it
 *   -EOPNOTSUPP  idle CPUs of this kernel cannot poll: it has no cpuidle driver with a POLL state
 *   -EMFILE, -ENFILE, -ENOMEM  no descriptor, or no memory
 *   -EOVERFLOW   INT_MAX calls were not followed by an end
 *   another value of open(2) or write(2), of a sandbox for instance
 *
 * Ordering:     none
 * Threads:      any; the process has one request and one count
 * Processes:    each has its own request; CPUs poll while any has one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     until as many calls of ipcwait_awake_end(), or the end of the process
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_MUST_CHECK IPCWAIT_API int ipcwait_awake_begin(void);

/**
 * ipcwait_awake_end() - take back one ipcwait_awake_begin()
 *
 * The last of them ends the request.
 *
 * Return: 0.
 *   -EINVAL  nothing was begun, or all has ended, or it was begun by the parent of this process
 *
 * Ordering:     none
 * Threads:      any, also another than the one that began
 * Processes:    of the calling process only
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends what ipcwait_awake_begin() began
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_awake_end(void);

IPCWAIT_END_DECLS

#endif
