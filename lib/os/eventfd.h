/* SPDX-License-Identifier: MIT */
/*
 * eventfd(2), of which only matters whether it is readable. errno is preserved, and nothing here is
 * a cancellation point.
 *
 * A program may close descriptors that it does not know, and then the number is another file's.
 * What cannot be written into, read or closed by mistake is found out first: each eventfd is
 * watched by an epoll instance of its own, the witness. The kernel finds a descriptor in an epoll
 * instance by its number and its file, so it answers for both numbers in one call.
 *
 * A child of fork(2) has its parent's descriptors. When it first uses the eventfd it makes one of
 * its own, under the same number.
 */
#ifndef IW_OS_EVENTFD_H
#define IW_OS_EVENTFD_H

struct iw_eventfd;

/* Without a descriptor yet. NULL: no memory. */
struct iw_eventfd *iw_eventfd_new(void);

/*
 * Its number, never that of a standard stream. It is made if there is none, or if the program has
 * closed it: then it is readable, and closed by execve(2). Or a negative errno.
 */
int iw_eventfd_number(struct iw_eventfd *e);

/* It is readable now, and now it is not. Nothing is done if the program has closed it. */
void iw_eventfd_set(struct iw_eventfd *e);
void iw_eventfd_clear(struct iw_eventfd *e);

/* Nobody uses it any more. Frees it. */
void iw_eventfd_end(struct iw_eventfd *e);

#endif
