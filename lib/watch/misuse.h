/* SPDX-License-Identifier: MIT */
/*
 * What a caller has done wrong. The shipped library returns an error, and may not notice at all
 * where noticing would cost the fast path something. A build with -Dchecked=true looks
 * everywhere, prints one line and aborts: a program that unlocks another thread's mutex goes on
 * with broken data otherwise.
 *
 * What may happen to a correct program is no misuse: -EBUSY, -EOVERFLOW, -EAGAIN, a deadline.
 */
#ifndef IW_WATCH_MISUSE_H
#define IW_WATCH_MISUSE_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/stats.h>

/* The same words for the same mistakes with each kind of object. */
#define IW_NULL          "NULL"
#define IW_MISALIGNED    "misaligned"
#define IW_UNKNOWN_FLAGS "unknown flags"
#define IW_OUT_OF_RANGE  "value out of range"
#define IW_FINISHED      "finished"
#define IW_OTHER_LAYOUT  "unknown flags, or of another layout"
#define IW_MAPPED_TWICE  "private, and mapped twice"

#ifdef IW_CHECKED
#define IW_IS_CHECKED true

/*
 * Returns @error. A checked build prints kind, address and name of the object, @call, which is
 * the public function's name, and @what it did wrong, and aborts.
 */
int iw_misuse(int error, enum ipcwait_kind kind, const void *object, const char *call,
	      const char *what);

/*
 * What a private object remembers of the process that made it, or waited on it last, and of where
 * that was. Bit 22 is not used.
 */
#define IW_PRIVATE_PROCESS UINT32_C(0x3fffff)

uint32_t iw_private_owner(const void *object, unsigned flags);

/*
 * 0, or misuse if an object with this @owner, 0 if it is not known, lies in memory that
 * processes share and the caller is another of them, or uses it by another address than it was
 * made at and has it mapped at more than one: the kernel finds sleepers on a private object by
 * address. A child's own copy after fork() is fine, and so is a mapping that was moved.
 */
int iw_private_check(const uint32_t *owner, enum ipcwait_kind kind, const void *object,
		     const char *call);
#else
#define IW_IS_CHECKED      false
#define IW_PRIVATE_PROCESS 0u

static inline int iw_misuse(int error, enum ipcwait_kind kind, const void *object,
			    const char *call, const char *what)
{
	(void)kind;
	(void)object;
	(void)call;
	(void)what;
	return error;
}

static inline uint32_t iw_private_owner(const void *object, unsigned flags)
{
	(void)object;
	(void)flags;
	return 0;
}

static inline int iw_private_check(const uint32_t *owner, enum ipcwait_kind kind,
				   const void *object, const char *call)
{
	(void)owner;
	(void)kind;
	(void)object;
	(void)call;
	return 0;
}
#endif

#endif
